// The talk of two legs, from the moment they hear each other until either side, an application or a transfer ends it.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import type { IncomingReferral } from '../../sip/sip.ts'
import type { HookForm } from '../verb/hook-form.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import type { Leg } from '../leg/leg.ts'
import type { LegBridge, Successor } from '../leg/leg-options.ts'
import { noteProblem } from '../leg/note-problem.ts'
import { failureReason, timerExpired, toAppError, toRefusal } from '../journal/refusals.ts'
import { stopped } from '../session/stop.ts'
import type { RunnableVerb } from '../verb/verb.ts'
import { Bridge } from './bridge.ts'
import { CapturedDigits } from './captured-digits.ts'
import type { DialRequest } from '../verb/dial-request.ts'
import { Hold, type HoldOptions } from './hold.ts'
import { KeyReports } from './key-reports.ts'
import { failureThrough, oneOfTwo, partyOf, reasonOf, whyGone } from '../leg/leg-story.ts'
import { MediaPath } from './media-path.ts'
import { Whispers } from './whispers.ts'
import type { Held } from '../leg/occupation.ts'

export interface TalkOptions {
  /** The two legs. The first one has called the other, or was there earlier. */
  readonly legs: readonly [Leg, Leg]
  /** The names of the two in journals; by default the caller and the called party. */
  readonly names?: readonly [string, string]
  readonly capture: DialRequest['capture']
  readonly captureHook: HookForm | undefined
  /** Whether the application wants the two to exchange media directly. */
  readonly exitsMediaPath: boolean
  /** The time after which they part if media has not connected them. */
  readonly maxSetUpMs?: number
}

export interface TalkServices {
  readonly clock: Clock
  readonly nested: NestedVerbs
  /** Handles a REFER of the far end of one of them. */
  readonly refer: (referral: IncomingReferral, by: Leg) => void
  /** The hook whose verbs one of them hears while the other has it on hold. */
  readonly holdHook: HookForm | undefined
  /** Whether media stays with the platform, regardless of later commands. */
  readonly anchorsMedia: boolean
  /** Fetches an audio file. */
  readonly borrow: HoldOptions['borrow']
}

export function talkOf({ occupation }: Leg): Talk | undefined {
  return occupation.kind === 'talk' && occupation.talk instanceof Talk ? occupation.talk : undefined
}

/** Resolves when this leg no longer talks with another, with the reason in words for the journal. */
export async function aloneAgain(leg: Leg): Promise<string> {
  let because = ''
  for (let talk = talkOf(leg); talk !== undefined; talk = talkOf(leg)) because = await talk.over
  return because
}

export class Talk {
  /** Resolves when the two have parted. */
  readonly over: Promise<string>
  readonly services: TalkServices
  readonly #options: TalkOptions
  readonly #bridge: Bridge
  readonly #hold: Hold
  readonly #whispers: Whispers
  readonly #path: MediaPath
  readonly #parted = Promise.withResolvers<string>()
  /** Aborts when the two have parted. Listeners use it, so that they do not pile up on the signal of a long call. */
  readonly #end = new AbortController()
  readonly #stops: (() => void)[] = []
  readonly #successors = new Map<Leg, Successor>()
  /** The occupation of each. */
  readonly #held = new Map<Leg, Held>()
  #hasFailed = false
  #staying: Leg | undefined
  #gone: string | undefined

  constructor(options: TalkOptions, services: TalkServices) {
    this.#options = options
    this.services = services
    this.#bridge = new Bridge(...options.legs)
    this.#hold = new Hold({ ...services, legs: options.legs, hook: services.holdHook })
    this.#whispers = new Whispers(services.nested, (leg, isBusy) => this.#hold.yield(leg, isBusy))
    this.#path = new MediaPath({
      legs: options.legs,
      clock: services.clock,
      staysBecause: whySoundStays(options, services),
    })
    this.over = this.#parted.promise
  }

  /** Lets the two hear each other. */
  start(): void {
    const [first, second] = this.#options.legs
    for (const leg of this.#options.legs) {
      const held = {
        kind: 'talk',
        talk: this,
        bridge: this.#faceOf(leg),
        end: this.leave.bind(this),
      } as const
      this.#held.set(leg, held)
      leg.occupy(held)
    }
    this.#captureKeys()
    this.#join(first)
    this.#hold.begin()
    if (this.#options.exitsMediaPath) this.#path.begin()
    const [nameOfFirst, nameOfSecond] = this.#options.names ?? ['the caller', 'the called party']
    this.#watch(second, nameOfSecond)
    this.#watch(first, nameOfFirst)
  }

  #join(first: Leg): void {
    const { maxSetUpMs } = this.#options
    const fail = (because: string, reason: HeaderField): void => {
      this.#hasFailed ||= !this.#end.signal.aborted
      this.end(because, [reason])
    }
    const late = (): void =>
      fail('the two could not be connected in time', timerExpired('Connection Timeout'))
    const timer = maxSetUpMs === undefined ? undefined : this.services.clock.after(maxSetUpMs, late)
    const cancel = (): void => timer?.cancel()
    this.#stops.push(cancel)
    this.#bridge.join().then(cancel, (error: unknown) => {
      noteProblem(first, error)
      fail('the two could not be connected', failureReason(toRefusal(toAppError(error, first.log)).fact))
    })
  }

  /** Aborts when the two have parted. */
  get signal(): AbortSignal {
    return this.#end.signal
  }

  /** Whether media failed to connect the two. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  otherOf(leg: Leg): Leg {
    const [first, second] = this.#options.legs
    return leg === first ? second : first
  }

  /**
   * Ends the talk. A leg that no verbs run continues with its successor, if it has one, or is hung up. `reasons`: the
   * Reason fields (RFC 3326) of the BYE to either, unless the end of the other has one. A leg that verbs run keeps them
   * for the case that it ends next.
   */
  end(because: string, reasons: readonly HeaderField[] = []): void {
    const isOver = this.#leave(because, () => {
      for (const leg of this.#options.legs) this.#goOn(leg)
    })
    if (isOver && reasons.length > 0)
      for (const leg of this.#options.legs) if (leg.script !== undefined) leg.lastOther.hasEnded(reasons)
    // Does not wait for media to part the two, but one turn, in which a BYE of the other leg may still arrive.
    if (isOver)
      queueMicrotask(() => {
        for (const leg of this.#options.legs) this.#dismiss(leg, because, reasons)
      })
  }

  /** Parts the two without ending either leg. The caller decides how they continue. */
  leave(because: string): void {
    this.#leave(because, () => undefined)
  }

  /** Parts the two. Returns false when they have parted before. */
  #leave(because: string, afterwards: () => void): boolean {
    if (this.#end.signal.aborted) return false
    this.#end.abort(stopped('parted'))
    for (const stop of this.#stops.splice(0)) stop()
    this.#whispers.stop()
    this.#hold.end()
    for (const [leg, held] of this.#held) leg.vacate(held)
    const parted = this.#bridge
      .part(because)
      .then(() => this.#path.close())
      .then(afterwards)
    this.#parted.resolve(parted.then(() => because))
    return true
  }

  get isBeingTransferred(): boolean {
    return this.#staying !== undefined
  }

  /** Marks this leg as being transferred: until the returned function is called, it stays even if the other ends. */
  keep(leg: Leg): () => void {
    this.#staying = leg
    return () => {
      this.#staying = undefined
      if (this.#gone !== undefined) this.end(this.#gone)
    }
  }

  /** Ends the talk and continues the leg with this. */
  send(leg: Leg, next: Successor, because: string): void {
    if (leg.script !== undefined && isVerbs(next)) return leg.script.interrupt(next, because)
    this.#successors.set(leg, next)
    this.end(because)
  }

  #faceOf(leg: Leg): LegBridge {
    const { nested, refer } = this.services
    return {
      mute: (isMuted) => this.#bridge.mute(leg, isMuted),
      whisper: (verbs) => this.#whisper(leg, verbs),
      readyPath: (path) => this.#path.ready(path, 'a command asks for it'),
      beside: (verbs, allowed) => nested.beside({ leg, verbs, allowed }),
      part: (next) => this.#release(leg, next),
      refer: (referral) => refer(referral, leg),
    }
  }

  #whisper(leg: Leg, verbs: unknown): () => Promise<void> {
    const start = this.#whispers.whisper(leg, verbs)
    return () => {
      for (const { journal, hasEnded } of this.#options.legs)
        if (!hasEnded) journal.note({ type: 'whispered', ...oneOfTwo(leg) })
      return start()
    }
  }

  /** Makes a leg that no verbs run a call of its own: preferably the other one. */
  #release(leg: Leg, next: Successor): () => Promise<void> {
    const free = [this.otherOf(leg), leg].find(({ script }) => script === undefined)
    if (free === undefined) throw new AppError('call_state', 'both sides are calls of their own already')
    return async () => {
      this.send(free, next, 'the called side became a call of its own')
      await this.over
    }
  }

  #watch(leg: Leg, party: string): void {
    const gone = (): void => this.#onGone(leg, whyGone(leg, `${party} ${partyOf(leg)}`))
    if (leg.hasEnded) gone()
    else leg.signal.addEventListener('abort', gone, { once: true, signal: this.#end.signal })
  }

  #onGone(leg: Leg, because: string): void {
    this.otherOf(leg).lastOther.hasEnded(reasonOf(leg), failureThrough(leg))
    if (this.#staying !== this.otherOf(leg) || this.#staying.hasEnded) return this.end(because)
    this.#gone = because
    this.#hold.end()
    void this.#bridge.part(because).then(() => this.#path.close())
  }

  /** Hangs up a leg without verbs or successor. If verbs run the leg, its dial ends and the next verb follows. */
  #dismiss(leg: Leg, because: string, reasons: readonly HeaderField[]): void {
    if (leg.hasEnded || leg.script !== undefined || this.#successors.has(leg)) return
    const other = this.otherOf(leg)
    const others = reasonOf(other)
    const headers = others.length > 0 ? others : reasons
    void leg.hangUp({ headers, failure: failureThrough(other), because })
  }

  #goOn(leg: Leg): void {
    const next = this.#successors.get(leg)
    if (next === undefined || leg.hasEnded || leg.script !== undefined) return
    const { nested } = this.services
    if (isVerbs(next)) nested.goOn(leg, next)
    else nested.handOver(leg, next)
  }

  #captureKeys(): void {
    const { legs, capture, captureHook: hook } = this.#options
    if (hook === undefined) return
    const { nested, clock } = this.services
    const reports = new KeyReports({ hook, nested, clock, signal: this.#end.signal })
    for (const [leg, sequences] of [
      [legs[0], capture.parent],
      [legs[1], capture.child],
    ] as const) {
      if (sequences.length === 0) continue
      const captured = new CapturedDigits(sequences)
      const stop = leg.onDigit((digit) => {
        const dtmf = captured.press(digit, clock.monotonic())
        if (dtmf !== undefined) reports.report(leg, dtmf)
      })
      this.#stops.push(stop)
    }
  }
}

function isVerbs(next: Successor): next is readonly RunnableVerb[] {
  return Array.isArray(next)
}

/** Returns why the two may not exchange media directly, in words. */
function whySoundStays(
  { capture, captureHook }: TalkOptions,
  { anchorsMedia }: Pick<TalkServices, 'anchorsMedia'>,
): string | undefined {
  if (anchorsMedia) return 'the dial anchors it (anchorMedia)'
  const captures = captureHook !== undefined && capture.parent.length + capture.child.length > 0
  return captures ? 'the dial waits for keys (dtmfCapture)' : undefined
}
