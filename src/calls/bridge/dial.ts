// One dial of a call: the targets ring, one of them is bridged with the caller, until either side or the application ends it.
import { AppError } from '../../lib/errors.ts'
import { createSid, randomHex } from '../../lib/ids.ts'
import { quoted } from '../../sip/message/list.ts'
import { headerOf } from '../../sip/message/message.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import { reasonPhraseOf } from '../../sip/message/reason-phrases.ts'
import type { Notes, Speaking } from '../abilities/abilities.ts'
import { toHeaderFields } from '../application/app-headers.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import type { CallContext } from '../call-context.ts'
import { calledPartyOf } from '../outbound/call-order.ts'
import type { CallOrder } from '../outbound/call-order.ts'
import { OutgoingLeg } from '../outbound/outgoing-leg.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import type { AccountFacts } from '../ports.ts'
import { followDialled, whyStopped } from './leg-story.ts'
import { passedOnHeaders } from './passed-on-headers.ts'
import type { DialOutcome, DialRequest, DialTarget } from './dial-request.ts'
import { talk } from './talk.ts'
import type { Successor } from './talk.ts'
import { transfer } from './transfer.ts'

export interface DialOptions {
  /** The leg that dials. */
  readonly parent: Leg
  readonly account: AccountFacts
  readonly context: CallContext
  readonly nested: NestedVerbs
  readonly voice: Speaking
  readonly notes: Notes
  /** Resolves when one more leg may be dialled, or the signal aborts. */
  readonly turn: (signal: AbortSignal) => Promise<void>
}

/** How long a far end that has answered may be asked whether it takes the call: the caller hears nothing of it. */
const maxConfirmMs = 120_000

/** The verbs that may ask the far end whether it takes the call. */
const confirming: ReadonlySet<string> = new Set(['config', 'gather', 'play', 'say', 'pause', 'tag'])

const dubbing: ReadonlySet<string> = new Set(['dub'])

/** Resolves when the two have parted or no target has answered; undefined when no target was called. */
export async function dial(request: DialRequest, options: DialOptions): Promise<DialOutcome | undefined> {
  return await new Dial(request, options).run()
}

class Dial {
  readonly #request: DialRequest
  readonly #options: DialOptions
  readonly #legs: Leg[] = []
  readonly #unfollow = new Map<Leg, () => void>()
  readonly #won = Promise.withResolvers<Leg | undefined>()
  readonly #music = new AbortController()
  #last: Leg | undefined
  #winner: Leg | undefined
  #isOver = false

  constructor(request: DialRequest, options: DialOptions) {
    this.#request = request
    this.#options = options
  }

  async run(): Promise<DialOutcome | undefined> {
    const { signal, answersOnBridge, targets } = this.#request
    const { parent } = this.#options
    if (!answersOnBridge) await parent.answer()
    if (parent.hasEnded || signal.aborted) return undefined
    const stop = (): void => this.#decide(undefined)
    signal.addEventListener('abort', stop, { once: true })
    try {
      const playing = this.#playMusic()
      void Promise.all(targets.map((target) => this.#call(target))).then(stop)
      const winner = await this.#won.promise
      this.#music.abort()
      await playing
      if (winner !== undefined) await this.#talk(winner)
      return winner === undefined ? toFailure(this.#last) : toSuccess(winner)
    } finally {
      signal.removeEventListener('abort', stop)
      this.#music.abort()
      this.#hangUpAll()
    }
  }

  /** The first decision counts: a leg that is bridged, or none. */
  #decide(winner: Leg | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#winner = winner
    this.#won.resolve(winner)
    this.#hangUpAll()
  }

  #hangUpAll(): void {
    const headers = this.#winner === undefined ? reasonOf(this.#options.parent) : elsewhere
    const losers = this.#legs.filter((leg) => leg !== this.#winner && !leg.hasEnded)
    for (const leg of losers) void leg.hangUp({ headers, because: this.#whyOver() })
  }

  /** Why those that are not bridged are given up. */
  #whyOver(): string {
    const because = whyStopped(this.#options.parent, this.#request.signal)
    return because ?? (this.#winner === undefined ? 'the dial is over' : 'another one has taken the call')
  }

  /** Resolves when the target has answered and been confirmed, or will not be bridged. Never rejects. */
  async #call(target: DialTarget): Promise<void> {
    const { context, parent, turn } = this.#options
    await turn(this.#request.signal)
    if (this.#isOver || parent.hasEnded) return
    const outgoing = new OutgoingLeg(this.#orderFor(target), context, parent)
    const { leg } = outgoing
    this.#legs.push(leg)
    leg.status.followParent()
    this.#unfollow.set(leg, followDialled(leg, parent, calledPartyOf(target.to)))
    const refused = context.admission.refusal()
    void leg.closed.finally(context.admission.enter())
    if (refused !== undefined) leg.refuse(refused)
    this.#followProgress(leg)
    try {
      await outgoing.dial(() => undefined)
      if (leg.isAnswered) await this.#confirm(leg, target)
    } catch (error) {
      leg.refuse(error)
    }
    if (leg.isAnswered && !this.#isOver) return this.#decide(leg)
    this.#last = leg
    if (!leg.hasEnded && leg !== this.#winner)
      void leg.hangUp({ headers: elsewhere, because: this.#whyOver() })
  }

  async #confirm(leg: Leg, target: DialTarget): Promise<void> {
    const hook = target.confirmHook ?? this.#request.confirmHook
    if (hook === undefined || this.#isOver) return
    const { nested, context } = this.#options
    const limited = new AbortController()
    const timer = context.services.clock.after(maxConfirmMs, () => limited.abort(tooLong))
    try {
      const signal = AbortSignal.any([leg.signal, limited.signal])
      await nested.run({ leg, hook, allowed: confirming, signal })
    } finally {
      timer.cancel()
    }
    limited.signal.throwIfAborted()
  }

  /** The caller hears that it rings, or what the one place that is called lets it hear. */
  #followProgress(leg: Leg): void {
    const { parent } = this.#options
    const isAlone = this.#request.targets.length === 1 && this.#request.music === undefined
    leg.events.watch((event) => {
      if (this.#isOver || parent.hasEnded) return
      if (event === 'ringing' && this.#request.music === undefined) parent.callerProgress.ring()
      if (event !== 'early-media') return
      if (isAlone) this.#hearEarly(leg).catch((error: unknown) => noteProblem(parent, error))
      else if (this.#request.music === undefined) parent.callerProgress.ring()
    })
  }

  async #hearEarly(leg: Leg): Promise<void> {
    const { parent } = this.#options
    if (!parent.isAnswered) await parent.startEarlyMedia()
    if (this.#isOver || parent.hasEnded || leg.hasEnded) return
    const stop = (): void => {
      if (leg !== this.#winner) this.#hearNoOne()
    }
    leg.signal.addEventListener('abort', stop, { once: true })
    await parent.media.sound.hear(leg.media)
  }

  /** What the caller heard before an answer is over without one. */
  #hearNoOne(): void {
    const { parent } = this.#options
    parent.media.sound.hear(undefined).catch((error: unknown) => noteProblem(parent, error))
  }

  async #playMusic(): Promise<void> {
    const { music } = this.#request
    const { parent, voice } = this.#options
    if (music === undefined) return
    try {
      if (!parent.isAnswered) await parent.startEarlyMedia()
      await voice.play({ urls: [music], rounds: Infinity, signal: this.#music.signal })
    } catch (error) {
      if (!this.#music.signal.aborted) noteProblem(parent, error)
    }
  }

  /** Resolves when the two have parted. */
  async #talk(child: Leg): Promise<void> {
    const { parent, context, nested, account } = this.#options
    const { signal, capture, captureHook, maxTalkMs, referHook } = this.#request
    if (!parent.isAnswered) await parent.answer()
    // Much may have happened while the caller was answered.
    if (parent.hasEnded || child.hasEnded || signal.aborted) {
      this.#hearNoOne()
      return void child.hangUp({ headers: reasonOf(parent), because: this.#whyOver() })
    }
    this.#adorn(child)
    try {
      const { clock } = context.services
      const { successor, because } = await talk(
        { parent, child, signal, capture, captureHook, maxTalkMs },
        {
          clock,
          nested,
          transfer: (asked) => void transfer({ ...asked, hook: referHook, account, context, nested }),
        },
      )
      if (successor === undefined || child.hasEnded)
        return void child.hangUp({ headers: reasonOf(parent), because })
      this.#unfollow.get(child)?.()
      goOn(child, successor, nested)
    } catch (error) {
      void child.hangUp({ headers: reasonOf(parent) })
      throw error
    }
  }

  /** What the called side hears besides. */
  #adorn(child: Leg): void {
    const { boostDb, dubs } = this.#request
    const { nested } = this.#options
    const fail = (error: unknown): void => noteProblem(child, error)
    if (boostDb !== undefined) child.media.sound.boost(boostDb).catch(fail)
    if (dubs.length > 0) nested.beside({ leg: child, verbs: dubs, allowed: dubbing })().catch(fail)
  }

  #orderFor(target: DialTarget): CallOrder {
    const { parent, account, notes } = this.#options
    const { callerId, callerName, headers, ringMs, tag, forwardsIdentity } = this.#request
    const { started, application_sid } = parent.journal.facts
    const { fields, refused } = toHeaderFields({ ...headers, ...target.headers })
    if (refused.length > 0)
      notes.note(`these headers may not be set and were left out: ${refused.join(', ')}`)
    const passedOn = passedOnHeaders(parent, { forwardsIdentity, given: fields })
    const { fromUser, fromHost, to } = target
    return {
      call_sid: createSid(),
      call_id: randomHex(16),
      account,
      application_sid,
      parent: started,
      to,
      from: callerId ?? started.from,
      callerName: callerName ?? started.caller_name,
      headers: [...passedOn, ...fields],
      maxForwards: hopsLeft(parent),
      ringMs,
      notes: [],
      ...(fromUser === undefined ? {} : { fromUser }),
      ...(fromHost === undefined ? {} : { fromHost }),
      ...(tag === undefined ? {} : { tag }),
    }
  }
}

const maxHops = 70

const tooLong = new AppError('hook_timeout', 'the confirm hook and its verbs took too long')

function goOn(leg: Leg, successor: Successor, nested: NestedVerbs): void {
  if ('url' in successor) nested.handOver(leg, successor)
  else nested.goOn(leg, successor)
}

/** RFC 3326, so that a phone that rang in vain lists no missed call. */
const elsewhere: readonly HeaderField[] = [
  { name: 'reason', value: `SIP;cause=200;text=${quoted('Call completed elsewhere')}` },
]

/** What is left for a leg that this one dials (RFC 7332), so that a call that comes back again and again ends. */
function hopsLeft({ received }: Leg): number {
  const hops = received === undefined ? undefined : headerOf(received, 'max-forwards')
  return Math.max(0, Math.min(maxHops, Number(hops ?? maxHops)) - 1)
}

/** The Reason that the far end of a leg gave for its end is given to the other side too. */
function reasonOf({ journal }: Leg): readonly HeaderField[] {
  const value = journal.facts.change?.sip_reason_header
  return value === undefined ? [] : [{ name: 'reason', value }]
}

function toSuccess({ journal }: Leg): DialOutcome {
  const { call_sid, sip_call_id } = journal.facts.started
  return { call_sid, sip_call_id, call_status: 'completed', sip_status: 200, sip_reason: 'OK' }
}

/** A leg that answered and was not confirmed has not taken the call. */
function toFailure(leg: Leg | undefined): DialOutcome | undefined {
  if (leg === undefined) return undefined
  const { call_status, sip_status, sip_reason, started, answered_at } = leg.journal.facts
  const { call_sid, sip_call_id } = started
  if (answered_at === undefined) return { call_sid, sip_call_id, call_status, sip_status, sip_reason }
  const sip = { sip_status: 480, sip_reason: reasonPhraseOf(480) }
  return { call_sid, sip_call_id, call_status: 'no-answer', ...sip }
}
