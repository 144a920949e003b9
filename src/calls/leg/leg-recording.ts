// The recording of one leg: everything that its far end says and hears, from the answer on, across holds, bridges and
// rooms. A leg has at most one recording, in one file. Audio between a stop and the next start is not in it.
import type { Hook } from '../../contracts/hook.ts'
import type {
  Recorder,
  RecordingEnd,
  RecordingOrder,
  RecordingWish,
  RunningRecording,
} from '../../contracts/recording.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import { toCommonPayload, toNodePayload, type NodeFacts } from '../journal/hook-payloads.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { Directory } from '../ports.ts'
import type { LegMedia } from './leg-media.ts'
import { toAppError, toProblem } from '../journal/refusals.ts'

export interface RecordingServices {
  readonly recorder: Recorder
  readonly directory: Pick<Directory, 'account' | 'application'>
  readonly node: () => NodeFacts
  readonly clock: Clock
  readonly log: Logger
}

/** The part of a leg that its recording needs. */
export interface RecordedLeg {
  readonly isAnswered: boolean
  readonly signal: AbortSignal
  readonly journal: JournalWriter
  readonly media: Pick<LegMedia, 'sound'>
  readonly session: { readonly status: { readonly hook: Hook | null } }
}

const name = 'recording'

export class LegRecording {
  readonly #leg: RecordedLeg
  readonly #services: RecordingServices
  #running: RunningRecording | undefined
  #state: 'none' | 'begins' | 'on' | 'stopped' | 'over' = 'none'
  #isWanted = false
  #isMasked = false
  /** Whether the call is always recorded. Looked up at the answer. */
  #always = Promise.resolve(false)
  #isLookedUp = false

  constructor(leg: RecordedLeg, services: RecordingServices) {
    this.#leg = leg
    this.#services = services
  }

  get isWanted(): boolean {
    return this.#isWanted
  }

  /** Resolves with whether the call is being recorded, after the look-up at the answer if that is under way. */
  async isRunning(): Promise<boolean> {
    if (!this.#isWanted) await this.#always.catch(() => false)
    return this.#isWanted && this.#state !== 'over'
  }

  /**
   * Starts or continues the recording; before the answer, remembers to. `wish` counts only at the first start of the
   * leg. Throws AppError call_state, recording_refused or overloaded.
   */
  async start(wish?: RecordingWish): Promise<void> {
    this.#isWanted = true
    if (!this.#leg.isAnswered || this.#state === 'on' || this.#state === 'begins') return
    if (this.#state === 'over')
      throw new AppError('call_state', 'the recording of the call has ended', {
        cure: 'The journal of the call says why; another call can be recorded.',
      })
    if (this.#running === undefined) await this.#begin(wish)
    else await this.#goOn(this.#running)
  }

  /** Throws AppError call_state if nothing is recorded. During the look-up at the answer it does not throw yet. */
  demand(): void {
    if (this.#isLookedUp || (this.#isWanted && this.#state !== 'over')) return
    throw new AppError('call_state', 'the call is not being recorded', {
      cure: 'Start its recording with startCallRecording.',
    })
  }

  stop(): void {
    this.#isWanted = false
    if (this.#state !== 'on') return
    this.#state = 'stopped'
    this.#leg.media.sound.part(name)
    this.#leg.journal.note({ type: 'recording-stopped' })
    // A later start records audibly; until then the last frames stay masked.
    this.#isMasked = false
  }

  /** Masks or unmasks the recording. It is silent while masked, so that later audio keeps its position in time. */
  mask(isMasked: boolean): void {
    if (isMasked === this.#isMasked) return
    this.#isMasked = isMasked
    this.#running?.mask(isMasked)
    this.#leg.journal.note({ type: isMasked ? 'recording-paused' : 'recording-resumed' })
  }

  /** Called at the answer of either side. Begins a recording that was remembered, or that is always made. */
  async answered(): Promise<void> {
    try {
      if (this.#isWanted || (await this.#lookUp())) await this.start()
    } catch (error) {
      this.#leg.journal.note(toProblem(toAppError(error, this.#services.log)))
    }
  }

  async #lookUp(): Promise<boolean> {
    this.#isLookedUp = true
    this.#always = this.#isAlways()
    try {
      return await this.#always
    } finally {
      this.#isLookedUp = false
    }
  }

  /** Returns whether the call is always recorded. A dialled leg is not: it is heard in the recording of the call. */
  async #isAlways(): Promise<boolean> {
    const { started, application_sid } = this.#leg.journal.facts
    const { account_sid, parent_call_sid } = started
    if (parent_call_sid !== undefined) return false
    const { directory } = this.#services
    const account = await directory.account(account_sid)
    if (account?.record_all_calls === true) return true
    if (application_sid === undefined) return false
    return (await directory.application(account_sid, application_sid))?.record_all_calls === true
  }

  async #begin(wish: RecordingWish | undefined): Promise<void> {
    this.#state = 'begins'
    const { signal, journal } = this.#leg
    const { call_sid, account_sid, attempted_at } = journal.facts.started
    const { recorder, directory, clock } = this.#services
    try {
      const format = wish?.format ?? (await directory.account(account_sid))?.record_format ?? 'mp3'
      const prefix = wish === undefined ? {} : { prefix: wish.prefix }
      const order = { call_sid, account_sid, attempted_at, format, ...prefix }
      const running = await recorder.begin(order, {
        ended: (reason) => void this.#over(reason),
        gap: (missing_ms) => journal.note({ type: 'recording-gap', missing_ms }),
      })
      const { key, spool } = running
      const recording_url = urlOf(order)
      const notice = this.#notice(recording_url)
      this.#running = running
      journal.add({ type: 'recording-started', recording_url })
      journal.commit({ recordings: [{ change: 'begun', key, spool, format, at: clock.now(), notice }] })
      if (signal.aborted) return await this.#over(undefined)
      signal.addEventListener('abort', () => void this.#over(undefined), { once: true })
      await this.#goOn(running)
    } finally {
      if (this.#running === undefined) {
        this.#state = 'none'
        this.#isWanted = false
      }
    }
  }

  async #goOn(running: RunningRecording): Promise<void> {
    const wasStopped = this.#state === 'stopped'
    // It was stopped while the recorder began.
    if (!this.#isWanted) {
      this.#state = 'stopped'
      return
    }
    this.#state = 'on'
    if (wasStopped || this.#isMasked) running.mask(this.#isMasked)
    if (wasStopped) this.#leg.journal.note({ type: 'recording-resumed' })
    await this.#leg.media.sound.join(name, { taps: [{ of: 'recording', ring: running.ring }] })
  }

  /** Ends the recording with the leg, or for the reason of the recorder. The call then continues without it. */
  async #over(reason: string | undefined): Promise<void> {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#leg.media.sound.part(name)
    const { journal } = this.#leg
    const ended = await this.#running?.end()
    const because = reason ?? ended?.reason
    if (because !== undefined)
      journal.note(
        toProblem(new AppError('recording_failed', `the recording ended before the call: ${because}`)),
      )
    if (ended !== undefined) this.#write(ended, because)
  }

  #write({ bytes, durationMs }: RecordingEnd, because: string | undefined): void {
    const { journal } = this.#leg
    journal.note({
      type: 'recording-ended',
      duration_ms: durationMs,
      bytes,
      ...(because === undefined ? {} : { because }),
    })
    const at = this.#services.clock.now()
    journal.commit({ recordings: [{ change: 'ended', bytes, durationMs, reason: because, at }] })
  }

  /** Returns the notification that is sent when the recording is stored, which is after the call. */
  #notice(recording_url: string) {
    const { session, journal } = this.#leg
    const { hook } = session.status
    if (hook === null) return undefined
    const { facts } = journal
    const node = toNodePayload(facts, this.#services.node())
    const payload = { ...toCommonPayload(facts), ...node, call_status: 'completed', recording_url }
    return { hook, payload }
  }
}

/** Returns the path in the API. It has the day of the call, whatever the key in the bucket is. */
function urlOf({ account_sid, call_sid, attempted_at, format }: RecordingOrder): string {
  const day = new Date(attempted_at).toISOString().slice(0, 10).replaceAll('-', '/')
  return `/Accounts/${account_sid}/RecentCalls/${call_sid}/record/${day}/${format}`
}
