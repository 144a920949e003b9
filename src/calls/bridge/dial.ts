// A dial: the targets ring, and one is bridged with the caller until either side or the application ends it.
import { AppError } from '../../lib/errors.ts'
import { createSid, randomHex } from '../../lib/ids.ts'
import { sdpOf } from '../../sip/message/body.ts'
import { answeredElsewhere } from '../../sip/refusal.ts'
import { toHeaderFields } from '../application/app-headers.ts'
import type { CallOrder } from '../outbound/call-order.ts'
import type { Leg } from '../leg/leg.ts'
import { openStream } from '../leg/open-stream.ts'
import { noteProblem } from '../leg/note-problem.ts'
import { toDialFailure } from './caller-refusal.ts'
import { reasonOf, whyStopped } from '../leg/leg-story.ts'
import { causeOf, stopped, type Stop } from '../session/stop.ts'
import { hopsLeft, passedOnHeaders, returnedHeaders } from './passed-on-headers.ts'
import { Ringing } from './ringing.ts'
import type { DialOptions, Watch } from './dial-options.ts'
import { toFailure, toSuccess } from './dial-outcome.ts'
import type { DialOutcome, DialRequest, DialTarget } from '../verb/dial-request.ts'
import { openSecondLeg } from './second-leg.ts'
import { Talk, type TalkServices } from './talk.ts'
import { talkToItsEnd } from './talk-to-its-end.ts'
import { referralsOf } from './transfer.ts'
import { PickUp } from './pick-up.ts'

/** The longest time for the confirmation of a far end that has answered. The caller does not hear it. */
const maxConfirmMs = 120_000

/** The verbs that a confirmHook may use. */
const confirming: ReadonlySet<string> = new Set(['config', 'gather', 'play', 'say', 'pause', 'tag'])

const dubbing: ReadonlySet<string> = new Set(['dub'])

/** Dials. Resolves when the two have parted or no target has answered; with undefined when no target was called. */
export async function dial(request: DialRequest, options: DialOptions): Promise<DialOutcome | undefined> {
  return await new Dial(request, options).run()
}

class Dial {
  readonly #request: DialRequest
  readonly #options: DialOptions
  readonly #legs: Leg[] = []
  readonly #unfollow = new Map<Leg, () => void>()
  readonly #pickUps: Promise<void>[] = []
  readonly #watches: Watch[] = []
  readonly #won = Promise.withResolvers<Leg | undefined>()
  readonly #ringing: Ringing
  /** Aborts when it is decided which leg talks with the caller, or that none does. */
  readonly #over = new AbortController()
  #last: Leg | undefined
  #winner: Leg | undefined

  constructor(request: DialRequest, options: DialOptions) {
    this.#request = request
    this.#options = options
    const { parent, voice } = options
    const { music, targets, forwardsIdentity } = request
    const isAlone = targets.length === 1
    this.#ringing = new Ringing({ parent, voice, music, isAlone, forwardsIdentity })
  }

  async run(): Promise<DialOutcome | undefined> {
    const { signal, answersOnBridge, targets } = this.#request
    const { parent } = this.#options
    if (answersOnBridge) {
      this.#demandServable()
      // A called party that answers would be hung up on if there were no place for the caller then.
      await parent.reserveMedia()
    } else await parent.answer()
    if (parent.hasEnded || signal.aborted) return undefined
    const stop = (): void => this.#decide(signal.reason as Stop)
    signal.addEventListener('abort', stop, { once: true })
    try {
      this.#ringing.begin()
      void this.#callAll(targets).then(() => this.#decide(stopped('done')))
      const winner = await this.#won.promise
      await this.#ringing.stopped
      if (winner !== undefined) await this.#talk(winner)
      // A winner that has gone before the caller was answered has failed as the others have.
      if (winner !== undefined && (parent.isAnswered || parent.hasEnded)) return toSuccess(winner)
      const failed = winner ?? this.#last
      if (failed === undefined) return undefined
      const outcome = toFailure(failed)
      parent.lastOther.hasFailed(toDialFailure(failed, outcome))
      return outcome
    } finally {
      signal.removeEventListener('abort', stop)
      this.#ringing.stop(this.#winner)
      this.#hangUpAll()
      for (const watch of this.#watches) watch.stop()
    }
  }

  /** Refuses a caller that media cannot serve before any target rings, because an answer would be useless. */
  #demandServable(): void {
    const { parent, needs } = this.#options
    const offer = parent.received && sdpOf(parent.received)
    if (parent.isAnswered || offer === undefined) return
    try {
      needs.media.demandServable(offer)
    } catch (error) {
      parent.refuse(error)
    }
  }

  /** Decides that a leg is bridged, or that none is. Only the first decision counts. */
  #decide(stop: Stop, winner?: Leg): void {
    if (this.#isOver) return
    this.#winner = winner
    this.#over.abort(stop)
    this.#ringing.stop(winner)
    this.#won.resolve(winner)
    this.#hangUpAll()
  }

  get #isOver(): boolean {
    return this.#over.signal.aborted
  }

  /** Hangs up all legs that are not bridged. */
  #hangUpAll(): void {
    for (const leg of this.#legs) if (leg !== this.#winner && !leg.hasEnded) this.#giveUp(leg)
  }

  #giveUp(leg: Leg): void {
    const { parent } = this.#options
    const isElsewhere = causeOf(this.#over.signal) === 'answered-elsewhere' && leg !== this.#winner
    const because = whyStopped(parent, this.#request.signal)
    void leg.hangUp({
      headers: isElsewhere ? [answeredElsewhere] : reasonOf(parent),
      because: because ?? (isElsewhere ? stopped('answered-elsewhere').message : 'the dial is over'),
    })
  }

  /** Calls the targets. Resolves when none of them will be bridged any more, or one is. Never rejects. */
  async #callAll(targets: readonly DialTarget[]): Promise<void> {
    await Promise.all(targets.map((target) => this.#call(target)))
    // A phone that picks up may be confirmed later than the one that rang refuses.
    await Promise.all(this.#pickUps)
  }

  /** Calls a target. Resolves when it has answered and been confirmed, or will not be bridged. Never rejects. */
  async #call(target: DialTarget): Promise<void> {
    const { needs, parent, turn } = this.#options
    await turn(this.#over.signal)
    if (this.#isOver || parent.hasEnded) return
    const { leg, dial: ring, unfollow } = openSecondLeg(this.#orderFor(target), needs, parent)
    this.#legs.push(leg)
    this.#unfollow.set(leg, unfollow)
    const answer = async (by: Leg): Promise<void> => {
      const pickUp = this.#pickUp(by, target)
      this.#pickUps.push(pickUp)
      await pickUp
    }
    leg.occupy(new PickUp(answer))
    this.#ringing.follow(leg)
    await ring()
    await this.#choose(leg, target)
    if (leg !== this.#winner) this.#last = leg
  }

  /** Lets another phone answer in place of the one that rings. Never rejects. */
  async #pickUp(by: Leg, target: DialTarget): Promise<void> {
    if (!this.#isOver) await by.answer()
    await this.#choose(by, target)
  }

  /** Bridges an answered leg if it is confirmed and is the first. Otherwise hangs it up. Never rejects. */
  async #choose(leg: Leg, target: DialTarget): Promise<void> {
    try {
      if (leg.isAnswered) this.#detect(leg)
      if (leg.isAnswered) await this.#confirm(leg, target)
    } catch (error) {
      // The end of the dial withdraws the hook, which is no failure.
      if (!this.#isOver) leg.refuse(error)
    }
    if (leg.isAnswered && !this.#isOver) this.#decide(stopped('answered-elsewhere'), leg)
    else if (!leg.hasEnded && leg !== this.#winner) this.#giveUp(leg)
  }

  /** Begins to detect whether a machine has answered this leg. */
  #detect(leg: Leg): void {
    const { machineDetection } = this.#request
    if (machineDetection === undefined || this.#isOver) return
    const fields = { dial_call_sid: leg.call_sid }
    this.#watches.push(this.#options.hearing.watch(machineDetection, { on: leg, fields }))
  }

  async #confirm(leg: Leg, target: DialTarget): Promise<void> {
    const hook = target.confirmHook ?? this.#request.confirmHook
    if (hook === undefined || this.#isOver) return
    const { nested, needs } = this.#options
    const limited = new AbortController()
    const timer = needs.clock.after(maxConfirmMs, () => limited.abort(stopped('timed-out')))
    try {
      const signal = AbortSignal.any([leg.signal, limited.signal, this.#over.signal])
      await nested.run({ leg, hook, allowed: confirming, signal })
    } catch (error) {
      if (!limited.signal.aborted) throw error
    } finally {
      timer.cancel()
    }
    if (limited.signal.aborted) throw tooLong
  }

  /** Bridges the caller with this leg. Resolves when the two have parted. */
  async #talk(child: Leg): Promise<void> {
    const { parent } = this.#options
    const { signal, forwardsIdentity } = this.#request
    if (forwardsIdentity) parent.callerProgress.return(returnedHeaders(child))
    const isWanted = (): boolean => !child.hasEnded && !signal.aborted
    if (isWanted()) await parent.answer(isWanted)
    // The state may have changed while the caller was answered.
    if (parent.hasEnded || !isWanted()) {
      this.#ringing.hearNoOne()
      return this.#giveUp(child)
    }
    this.#adorn(child)
    this.#stream(child)
    if (this.#request.transcription !== undefined)
      this.#options.hearing.hearTalk(this.#request.transcription, child)
    await this.#talkWith(child)
    parent.streams.close('dial')
    this.#options.hearing.endTalk()
    // If the dialled leg is still up, it has continued by itself, or with another leg.
    if (!child.hasEnded) this.#unfollow.get(child)?.()
  }

  /** Starts the talk. Resolves when the caller is alone again, even if it talked with another leg last. */
  async #talkWith(child: Leg): Promise<void> {
    const { parent, needs, nested, voice } = this.#options
    const { signal, capture, captureHook, maxTalkMs, referHook, holdHook, mediaPath } = this.#request
    const { clock } = needs
    const refer = referralsOf({
      hook: () => referHook ?? parent.session.settings.current.referHook,
      needs,
      nested,
    })
    const borrow: TalkServices['borrow'] = (url, until) => voice.borrow({ url }, until)
    const services = { clock, nested, refer, borrow, holdHook, anchorsMedia: mediaPath.isAnchored }
    const { exits: exitsMediaPath } = mediaPath
    new Talk({ legs: [parent, child], capture, captureHook, exitsMediaPath }, services).start()
    const limit = maxTalkMs && { ms: maxTalkMs, because: 'the time limit of the dial has passed' }
    await talkToItsEnd(parent, {
      signal,
      otherwise: 'the dial is over',
      clock,
      ...(limit ? { limit } : {}),
    })
  }

  /** Streams their audio to an audio server while they talk. */
  #stream(child: Leg): void {
    const { stream: asked } = this.#request
    const { parent, needs } = this.#options
    if (asked === undefined) return
    const { streams, node } = needs
    const on = asked.isOfCalled ? child : parent
    try {
      parent.streams.add('dial', openStream(asked.plan, { name: 'dial', leg: parent, on, streams, node }))
    } catch (error) {
      noteProblem(parent, error)
    }
  }

  /** Applies the boost and the dub verbs to the called side. */
  #adorn(child: Leg): void {
    const { boostDb, dubs } = this.#request
    const { nested } = this.#options
    const fail = (error: unknown): void => noteProblem(child, error)
    if (boostDb !== undefined) child.media.sound.boost(boostDb).catch(fail)
    if (dubs.length === 0) return
    // Verbs that cannot be read must not keep the two from talking.
    const dub = async (): Promise<void> => nested.beside({ leg: child, verbs: dubs, allowed: dubbing })()
    dub().catch(fail)
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
      passages: parent.passages + 1,
      ringMs,
      notes: [],
      fromUser,
      fromHost,
      tag,
    }
  }
}

const tooLong = new AppError('hook_timeout', 'the confirm hook and its verbs took too long')
