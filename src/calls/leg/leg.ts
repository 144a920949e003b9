// One leg: an INVITE, the dialog it becomes, its media, and its one and only end.
import type { Timer } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { MediaEvent, PlayOptions, PlayResult } from '../../media/media.ts'
import { sdpOf } from '../../sip/message/body.ts'
import type { SipRequest, SipResponse } from '../../sip/message/message.ts'
import { reasonPhraseOf } from '../../sip/message/reason-phrases.ts'
import type { Dialog, IncomingInvite, Remote, Reply } from '../../sip/sip.ts'
import { listenInDialog } from './in-dialog.ts'
import type { Hook } from '../../contracts/hook.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import { toDecision } from '../journal/decision.ts'
import { FarEndProgress } from './far-end-progress.ts'
import {
  cancelledByCaller,
  givenUpByUs,
  hungUpByUs,
  reasonInRecord,
  refusedByFarEnd,
  refusedByUs,
} from './leg-ends.ts'
import type { LegEnd } from './leg-ends.ts'
import { LegDigits } from './leg-digits.ts'
import { LegMedia } from './leg-media.ts'
import type { HangUpOptions, LegOptions } from './leg-options.ts'
import { reasonHeader, toAppError, toRefusal } from './refusals.ts'
import type { Refusal } from './refusals.ts'
import type { StatusReporter } from './status-reporter.ts'

/** The verbs that run a call, as a command from outside reaches them. */
export interface RunningScript {
  /** Failures are journalled, and the call goes on as it was. */
  takeOver(hook: Hook): Promise<void>
}

type State =
  | { readonly state: 'unanswered' }
  | { readonly state: 'answered'; readonly dialog: Dialog; readonly sinceMs: number }
  | { readonly state: 'ended' }

// One for all legs: an abort without a reason makes an error with a stack trace each time.
const callEnded = new DOMException('the call has ended', 'AbortError')

export class Leg {
  readonly journal: JournalWriter
  readonly status: StatusReporter
  readonly #closing = Promise.withResolvers<void>()
  /** Resolves when the leg has ended and its media port is free. */
  readonly closed: Promise<void> = this.#closing.promise
  /** Set once its verbs run. */
  script: RunningScript | undefined
  readonly #options: LegOptions
  readonly #media: LegMedia
  readonly #lifetime = new AbortController()
  readonly #digits: LegDigits
  readonly #progress: FarEndProgress
  #state: State = { state: 'unanswered' }
  #isEarly = false
  #cap: Timer
  #ringing: Timer | undefined

  constructor(options: LegOptions) {
    this.#options = options
    this.journal = options.journal
    this.status = options.status
    const { media, journal, log } = options
    this.#media = new LegMedia({ media, journal, log, onEvent: (event) => this.#onMedia(event) })
    this.#digits = new LegDigits(journal, options.clock)
    this.#progress = new FarEndProgress({ journal, status: this.status, media: this.#media, log })
    const { ms, reason } = options.unanswered.limit
    this.#cap = this.#hangUpAfter(ms, reason)
  }

  get call_sid(): string {
    return this.journal.facts.started.call_sid
  }

  get #direction(): 'inbound' | 'outbound' {
    return this.journal.facts.started.direction
  }

  get isAnswered(): boolean {
    return this.#state.state === 'answered'
  }

  get hasEnded(): boolean {
    return this.#state.state === 'ended'
  }

  /** Aborts when the leg ends. */
  get signal(): AbortSignal {
    return this.#lifetime.signal
  }

  /** Sends 200. An offer that media cannot serve ends the leg: look at `hasEnded` afterwards. */
  async answer(): Promise<void> {
    const { incoming } = this.#options.unanswered
    if (this.#state.state !== 'unanswered' || incoming === undefined) return
    const sdp = await this.#negotiate(incoming, sdpOf(incoming.request))
    if (sdp === undefined || this.#hasChanged()) return
    this.#answered(incoming.accept({ body: { type: 'application/sdp', content: sdp } }))
  }

  /** Sends 183 with SDP, once. */
  async startEarlyMedia(): Promise<void> {
    const { incoming } = this.#options.unanswered
    if (this.#state.state !== 'unanswered' || incoming === undefined || this.#isEarly) return
    const offer = sdpOf(incoming.request)
    if (offer === undefined) {
      // An offer may not travel in an unreliable provisional response (RFC 3261 §13.2.1).
      this.journal.note({ type: 'note', sentence: 'no early media for an INVITE without an offer: answered' })
      return this.answer()
    }
    const sdp = await this.#negotiate(incoming, offer)
    if (sdp === undefined || this.#hasChanged()) return
    this.#isEarly = true
    incoming.progress({ status: 183, body: { type: 'application/sdp', content: sdp } })
    this.status.report({ call_status: 'early-media', sip_status: 183, sip_reason: reasonPhraseOf(183) })
  }

  /**
   * Sends 180 when nothing else has been said to the caller by then; 0: never. A caller who hears nothing hangs up, and a
   * gateway that gets nothing tries another way.
   */
  ringAfter(ms: number): void {
    const { incoming } = this.#options.unanswered
    if (ms === 0 || incoming === undefined || this.#state.state !== 'unanswered') return
    this.#ringing = this.#options.clock.after(ms, () => {
      if (this.#state.state !== 'unanswered' || this.#isEarly) return
      this.journal.note(toDecision({ rule: 'ringing', outcome: `nothing was said within ${ms} ms` }))
      incoming.progress({ status: 180 })
      this.status.reportRinging()
    })
  }

  /** The offer for an INVITE to this place. Undefined when media has no room for it, which ends the leg. */
  offerTo({ address }: Remote): Promise<string | undefined> {
    return this.#mediaOrEnd(this.#media.offerTo(address))
  }

  /** A provisional response to the INVITE that was sent. */
  progressed(response: SipResponse, from: Remote): void {
    if (this.#state.state === 'unanswered') this.#progress.follow(response, from)
  }

  /** The far end has answered. Media that does not fit ends the leg: look at `hasEnded` afterwards. */
  async connected(dialog: Dialog, response: SipResponse, from: Remote): Promise<void> {
    if (this.#state.state !== 'unanswered') return void dialog.bye()
    this.#answered(dialog)
    await this.#confirmed(this.#progress.answerIn(response), from.address)
  }

  /** The far end has refused the INVITE. */
  refusedBy(response: SipResponse): void {
    this.#end(refusedByFarEnd(response))
  }

  play(options: PlayOptions): Promise<PlayResult> {
    return this.#media.play(options)
  }

  /** Returns the function that stops listening. */
  onDigit(listener: (digit: string) => void): () => void {
    return this.#digits.listen(listener)
  }

  /** The stack has answered the CANCEL and sent 487. */
  cancelled(cancel: SipRequest): void {
    if (!this.hasEnded) this.status.announceAbandoned()
    this.#end(cancelledByCaller(cancel))
  }

  /** Before the answer the call is refused or cancelled, after it there is a BYE with X-Reason. */
  refuse(error: unknown): void {
    this.refuseWith(toRefusal(toAppError(error, this.#options.log)))
  }

  refuseWith({ reply, fact }: Refusal): void {
    if (this.#state.state === 'ended') return
    this.journal.add(fact)
    const recorded = reasonInRecord(fact)
    if (this.#state.state === 'answered') return void this.hangUp({ reason: fact.sentence, recorded })
    void this.#options.unanswered.withdraw(reply)
    this.#end(refusedByUs(reply, recorded))
  }

  /** The application chooses the refusal: `sip:decline`. */
  decline(reply: Reply): void {
    if (this.#state.state !== 'unanswered') return
    void this.#options.unanswered.withdraw(reply)
    this.#end(refusedByUs(reply))
  }

  /** Ends the leg now. Resolves when the far end has responded to the BYE or to the CANCEL. */
  async hangUp({ headers = [], reason, recorded }: HangUpOptions = {}): Promise<void> {
    const state = this.#state
    if (state.state === 'ended') return
    const fields = reason === undefined ? headers : [...headers, reasonHeader(reason)]
    if (state.state === 'answered') {
      const bye = state.dialog.bye(fields)
      this.#end(hungUpByUs(this.#direction, recorded))
      return bye.catch((error: unknown) => this.#options.log.warn({ err: error }, 'BYE failed'))
    }
    const reply = { status: this.#options.unanswered.hangUpStatus, headers: fields }
    const withdrawn = this.#options.unanswered.withdraw(reply)
    this.#end(givenUpByUs(reply, this.#direction))
    return withdrawn
  }

  #answered(dialog: Dialog): void {
    const { clock, maxCallMs } = this.#options
    this.#state = { state: 'answered', dialog, sinceMs: clock.monotonic() }
    dialog.listen(
      listenInDialog({
        journal: this.journal,
        media: this.#media,
        log: this.#options.log,
        onConfirmed: (ack) => void this.#confirmed(sdpOf(ack)),
        onDigit: (digit, durationMs) => this.#digits.press({ digit, durationMs, source: 'info' }),
        onEnd: (end) => this.#end(end),
      }),
    )
    this.#cap.cancel()
    this.#ringing?.cancel()
    this.#cap = this.#hangUpAfter(maxCallMs, 'Max Call Duration')
    this.status.report({ call_status: 'in-progress', sip_status: 200, sip_reason: reasonPhraseOf(200) })
  }

  #hangUpAfter(ms: number, reason: string): Timer {
    return this.#options.clock.after(ms, () => this.#hangUpBecause(reason))
  }

  #hangUpBecause(reason: string, recorded?: string): void {
    this.journal.note(toDecision({ rule: 'time-limit', outcome: reason }))
    void this.hangUp({ reason, recorded })
  }

  /** Whether the leg has moved on while something was awaited. */
  #hasChanged(): boolean {
    return this.#state.state !== 'unanswered'
  }

  #negotiate({ remote }: IncomingInvite, offer: string | undefined): Promise<string | undefined> {
    return this.#mediaOrEnd(this.#media.negotiate(offer, remote.address))
  }

  async #mediaOrEnd(sdp: Promise<string | undefined>): Promise<string | undefined> {
    try {
      return await sdp
    } catch (error) {
      this.refuse(error)
      return undefined
    }
  }

  async #confirmed(answer: string | undefined, peer?: string): Promise<void> {
    try {
      await this.#media.acknowledge(answer, peer)
    } catch (error) {
      this.refuse(error)
    }
  }

  #onMedia(event: MediaEvent): void {
    if (this.hasEnded) return
    if (event.type === 'digit') this.#digits.press({ ...event, source: 'rtp' })
    if (event.type === 'lost') return this.refuse(new AppError('media_lost', 'media server failure'))
    if (event.type === 'timeout') this.#onSilence(event)
  }

  /** Before the answer a caller need not send: silence counts from there. */
  #onSilence(event: MediaEvent & { type: 'timeout' }): void {
    const state = this.#state
    if (state.state !== 'answered') return
    if (this.#options.clock.monotonic() - state.sinceMs < event.limitMs) return
    this.#media.noteSilence(event)
    const reason = event.cause === 'held' ? 'Hold Timeout' : 'Media Timeout'
    this.#hangUpBecause(reason, reason.toLowerCase())
  }

  /** The one place where a leg ends. The first end counts, later ones change nothing. */
  #end({ change, termination_reason, by }: LegEnd): void {
    const state = this.#state
    if (state.state === 'ended') return
    this.#state = { state: 'ended' }
    this.#cap.cancel()
    this.#ringing?.cancel()
    this.#digits.close()
    const duration =
      state.state === 'answered'
        ? { duration: Math.floor((this.#options.clock.monotonic() - state.sinceMs) / 1000) }
        : {}
    this.status.reportEnd({ ...change, call_termination_by: by, ...duration }, termination_reason)
    const { call_status, sip_status } = change
    this.#options.log.info({ call_status, sip_status, ...duration, termination_reason }, 'call ended')
    this.#lifetime.abort(callEnded)
    this.#closing.resolve(this.#media.close())
    this.#options.onEnded()
  }
}
