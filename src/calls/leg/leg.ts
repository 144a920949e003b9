// One leg: an INVITE, the dialog it becomes, its media, and its one and only end.
import { failureOf, protectionTowards } from './media-facts.ts'
import type { MediaEvent, OfferedProtection } from '../../media/media.ts'
import { sdpOf } from '../../sip/message/body.ts'
import type { SipRequest, SipResponse } from '../../sip/message/message.ts'
import { reasonPhraseOf } from '../../sip/message/reason-phrases.ts'
import type { Dialog, IncomingInvite, OutgoingInvite, Reply } from '../../sip/sip.ts'
import { CallerProgress } from './caller-progress.ts'
import { EarlyMedia } from './early-media.ts'
import { listenInDialog } from './in-dialog.ts'
import type { RefusalFact } from '../journal/journal.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import { FarEndProgress } from './far-end-progress.ts'
import {
  cancelledByCaller,
  givenUpByUs,
  hungUpByUs,
  neverHeard,
  reasonInRecord,
  refusedByFarEnd,
  refusedByUs,
  toEndLine,
  type LegEnd,
} from './leg-ends.ts'
import { LegDigits } from './leg-digits.ts'
import { LegEvents } from './leg-events.ts'
import { LegLimits } from './leg-limits.ts'
import { LegMedia, type SipPlace } from './leg-media.ts'
import { LegEars } from './leg-ears.ts'
import { LegStreams } from './leg-streams.ts'
import { LegKeys } from './leg-keys.ts'
import { LastOther } from './last-other.ts'
import type { HangUpOptions, LegBridge, LegMember, LegOptions, LegState } from './leg-options.ts'
import { nothing, type Held, type Occupation } from './occupation.ts'
import type { RunningScript } from '../session/running-script.ts'
import type { Session } from '../session/session.ts'
import type { Recorder } from './recorder.ts'
import { Stop, stopped } from '../session/stop.ts'
import { LegRecording } from './leg-recording.ts'
import { LegRequests } from './leg-requests.ts'
import {
  failureHeaders,
  failureReason,
  reasonHeader,
  toAppError,
  toRefusal,
  type Refusal,
} from '../journal/refusals.ts'
import type { StatusReporter } from './status-reporter.ts'

export class Leg {
  readonly journal: JournalWriter
  readonly log: LegOptions['log']
  readonly status: StatusReporter
  /** The media of the leg, with the sound that its far end hears. */
  readonly media: LegMedia
  readonly events = new LegEvents()
  readonly callerProgress: CallerProgress
  readonly earlyMedia: EarlyMedia
  readonly requests = new LegRequests(() =>
    this.#state.state === 'answered' ? this.#state.dialog : undefined,
  )
  readonly digits: LegDigits
  readonly keys: LegKeys
  readonly recording: LegRecording
  readonly streams = new LegStreams()
  readonly ears = new LegEars()
  readonly #closing = Promise.withResolvers<void>()
  /** Resolves when the leg has ended and its media port is free. */
  readonly closed: Promise<void> = this.#closing.promise
  /** How the leg that it talked with last has ended, for its own end. */
  readonly lastOther = new LastOther()
  #occupation: Occupation = nothing
  #siprec: Recorder | undefined
  #responded: SipResponse | undefined
  #user: string | undefined
  readonly #invites = new Set<OutgoingInvite>()
  #session: Session
  readonly #options: LegOptions
  readonly #lifetime = new AbortController()
  readonly #progress: FarEndProgress
  readonly #limits: LegLimits
  #state: LegState = { state: 'unanswered' }

  constructor(options: LegOptions) {
    const { journal, status, log } = options
    this.#options = options
    this.#session = options.session
    this.#session.enter(this)
    this.journal = journal
    this.status = status
    this.log = log
    this.media = new LegMedia({ ...options, events: this.events, onEvent: (event) => this.#onMedia(event) })
    this.digits = new LegDigits(journal, options.clock)
    this.keys = new LegKeys({ ...options, media: this.media, requests: this.requests, signal: this.signal })
    this.recording = new LegRecording(this, options.recordings)
    this.#progress = new FarEndProgress({ journal, status, media: this.media, log, events: this.events })
    const { incoming } = options.unanswered
    const isUnanswered = (): boolean => this.#state.state === 'unanswered'
    this.callerProgress = new CallerProgress({ ...options, incoming, isUnanswered })
    this.earlyMedia = new EarlyMedia({
      leg: this,
      incoming,
      isUnanswered,
      negotiate: async () => incoming && this.#negotiated(incoming),
      acknowledge: (answer) => this.#confirmed(answer),
    })
    this.#limits = new LegLimits({
      ...options,
      leg: this,
      media: this.media,
      limit: options.unanswered.limit,
    })
  }

  get call_sid(): string {
    return this.journal.facts.started.call_sid
  }

  /** The INVITE that came. Undefined for a leg that the platform makes. */
  get received(): SipRequest | undefined {
    return this.#options.unanswered.incoming?.request
  }

  /** How often the call has passed through the platform before this leg. */
  get passages(): number {
    return this.#options.unanswered.incoming?.passages ?? 0
  }

  /** The session of the leg. It changes when the leg continues as a call of its own. */
  get session(): Session {
    return this.#session
  }

  /** Moves the leg to another session, with the commands that wait for it. */
  moveTo(next: Session): void {
    const former = this.#session
    this.#session = next
    next.enter(this)
    former.mailbox.move(this, next.mailbox)
    former.leave(this)
  }

  get occupation(): Occupation {
    return this.#occupation
  }

  /** The bridge that it talks over. Undefined while it does not talk. */
  get bridge(): LegBridge | undefined {
    return this.#occupation.kind === 'talk' ? this.#occupation.bridge : undefined
  }

  /** Its place in a conference. Undefined while it is in none. */
  get member(): LegMember | undefined {
    return this.#occupation.kind === 'room' ? this.#occupation.member : undefined
  }

  /** Begins to do this with others, and ends what it did before. */
  occupy(held: Held): void {
    const former = this.#occupation
    this.#occupation = held
    if (former.kind !== 'none') former.end('the call does something else')
  }

  /** Does nothing with others, unless that is something else by now. */
  vacate(held: Held): void {
    if (this.#occupation === held) this.#occupation = nothing
  }

  /** The client that lets a recording server record the leg. Undefined before one was requested. */
  get siprec(): Recorder | undefined {
    return this.#siprec
  }

  /** Returns that client, and makes it at the first request. */
  siprecBy(make: () => Recorder): Recorder {
    this.#siprec ??= make()
    return this.#siprec
  }

  /** The last response of the far end to the INVITE that was sent. */
  get responded(): SipResponse | undefined {
    return this.#responded
  }

  /** The name of the user at the far end. Undefined if it is not one. */
  get user(): string | undefined {
    return this.#user
  }

  noteUser(name: string): void {
    this.#user = name
  }

  /** Notes that this INVITE was sent for the leg. */
  sent(invite: OutgoingInvite): void {
    this.#invites.add(invite)
  }

  hasSent(invite: OutgoingInvite): boolean {
    return this.#invites.has(invite)
  }

  /** The verbs that run the leg. Undefined before they run. */
  get script(): RunningScript | undefined {
    return this.session.scriptOf(this)
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

  /**
   * Sends 200, unless that is not wanted any more when media is ready. An offer that media cannot serve ends the leg:
   * check `hasEnded` afterwards.
   */
  async answer(isWanted: () => boolean = () => true): Promise<void> {
    const { incoming } = this.#options.unanswered
    if (this.#state.state !== 'unanswered' || incoming === undefined) return
    const sdp = await this.#negotiated(incoming)
    const { unkept } = this.journal
    if (unkept !== undefined && !this.#hasChanged()) this.refuse(unkept)
    // Another command may have answered it meanwhile.
    if (sdp === undefined || this.#hasChanged() || !isWanted()) return
    const headers = this.callerProgress.returned
    const body = { type: 'application/sdp', content: sdp } as const
    this.#answered(incoming.accept({ ...(headers.length === 0 ? {} : { headers }), body }))
  }

  /**
   * Takes the place in media that the answer needs. Where there is none, the INVITE is refused: check `hasEnded`
   * afterwards.
   */
  async reserveMedia(): Promise<void> {
    if (this.#state.state === 'unanswered')
      await this.media.reserve().catch((error: unknown) => this.refuse(error))
  }

  /** Returns the offer for an INVITE to this place. Undefined when media has no room for it, which ends the leg. */
  offerTo(remote: SipPlace, protection?: OfferedProtection): Promise<string | undefined> {
    return this.#mediaOrEnd(this.media.offerTo(remote, protection ?? protectionTowards(remote)))
  }

  /** Handles a provisional response to the INVITE that was sent. */
  progressed(response: SipResponse, from: SipPlace): void {
    if (this.#state.state !== 'unanswered') return
    this.#responded = response
    this.#progress.follow(response, from)
  }

  /** Handles the answer of the far end. Media that does not fit ends the leg: check `hasEnded` afterwards. */
  async connected(dialog: Dialog, response: SipResponse, from: SipPlace): Promise<void> {
    if (this.#state.state !== 'unanswered') return void dialog.bye()
    this.#responded = response
    this.#answered(dialog)
    await this.#confirmed(this.#progress.answerIn(response), from)
  }

  /** Ends the leg because the far end has refused the INVITE or, with `unheard` as the reason, has not responded. */
  refusedBy(response: SipResponse, unheard?: RefusalFact): void {
    if (unheard !== undefined && !this.hasEnded) this.journal.add(unheard)
    this.#end(unheard === undefined ? refusedByFarEnd(response) : neverHeard(response, unheard))
  }

  /** Calls the listener for each key press. Returns the function that stops listening. */
  readonly onDigit: LegDigits['listen'] = (listener) => this.digits.listen(listener)

  /** Ends the leg after a CANCEL. The stack has responded to it and sent 487. */
  cancelled(cancel: SipRequest): void {
    if (!this.hasEnded) this.status.announceAbandoned()
    this.#end(cancelledByCaller(cancel))
  }

  /** Refuses or cancels the call before the answer. After the answer it sends a BYE with X-Reason. */
  refuse(error: unknown): void {
    if (this.hasEnded && error instanceof Stop) return
    this.refuseWith(toRefusal(toAppError(error, this.#options.log)))
  }

  refuseWith({ reply, fact }: Refusal): void {
    if (this.#state.state === 'ended') return
    this.journal.add(fact)
    const recorded = reasonInRecord(fact)
    if (this.#state.state === 'answered')
      return void this.hangUp({ headers: failureHeaders(fact), reason: fact.sentence, recorded })
    const { incoming } = this.#options.unanswered
    // A response has the status itself. A CANCEL has none.
    const headers = [...(reply.headers ?? []), ...(incoming === undefined ? [failureReason(fact)] : [])]
    void this.#options.unanswered.withdraw({ ...reply, headers })
    this.#end({ ...refusedByUs(reply, recorded), because: fact.sentence })
  }

  /** Refuses the call with the response that the application chose with `sip:decline`. */
  decline(reply: Reply): void {
    if (this.#state.state !== 'unanswered') return
    void this.#options.unanswered.withdraw(reply)
    this.#end(refusedByUs(reply))
  }

  /** Ends the leg now. Resolves when the far end has responded to the BYE or to the CANCEL. */
  async hangUp(options: HangUpOptions = {}): Promise<void> {
    const { headers = [], reason, recorded, because = reason, failure, after } = options
    const state = this.#state
    if (state.state === 'ended') return
    if (failure !== undefined) this.journal.add(failure)
    const fields = reason === undefined ? headers : [reasonHeader(reason), ...headers]
    if (state.state === 'answered') {
      const say = (): Promise<void> => state.dialog.bye(fields)
      const bye = after === undefined ? say() : after.then(say)
      this.#end({ ...hungUpByUs(this.journal.facts.started.direction, recorded), because })
      return bye.catch((error: unknown) => this.#options.log.warn({ err: error }, 'BYE failed'))
    }
    const reply = { status: this.#options.unanswered.hangUpStatus, headers: fields }
    const withdrawn = this.#options.unanswered.withdraw(reply)
    this.#end({ ...givenUpByUs(reply, this.journal.facts.started.direction), because })
    return withdrawn
  }

  #answered(dialog: Dialog): void {
    this.#state = { state: 'answered', dialog }
    dialog.listen(
      listenInDialog({
        journal: this.journal,
        media: this.media,
        log: this.#options.log,
        onConfirmed: (ack) => void this.#confirmed(sdpOf(ack)),
        digits: this.digits,
        onEnd: (end) => this.#end(end),
        onLost: (error) => this.refuse(error),
        take: (request) => this.session.take(this, request),
        transfers: () => this.bridge ?? this.script,
      }),
    )
    this.#limits.answered()
    this.media.answered()
    this.callerProgress.close()
    void this.recording.answered()
    this.journal.keepDialog(dialog.left())
    this.status.report({ call_status: 'in-progress', sip_status: 200, sip_reason: reasonPhraseOf(200) })
    this.events.tell('answered')
  }

  /** Returns our half of the first offer/answer exchange. Undefined when media cannot serve it, which ends the leg. */
  #negotiated({ request, remote }: IncomingInvite): Promise<string | undefined> {
    const protection = this.#options.protection ?? protectionTowards(remote)
    return this.#mediaOrEnd(this.media.negotiate(sdpOf(request), remote, protection))
  }

  /** Whether the leg has moved on while something was awaited. */
  #hasChanged(): boolean {
    return this.#state.state !== 'unanswered'
  }

  #mediaOrEnd(sdp: Promise<string | undefined>): Promise<string | undefined> {
    return sdp.catch((error: unknown) => {
      this.refuse(error)
      return undefined
    })
  }

  #confirmed(answer: string | undefined, peer?: SipPlace): Promise<void> {
    return this.media.acknowledge(answer, peer).catch((error: unknown) => this.refuse(error))
  }

  #onMedia(event: MediaEvent): void {
    if (this.hasEnded) return
    if (event.type === 'digit')
      this.digits.press({ ...event, source: event.isTone === true ? 'tone' : 'rtp' })
    const failure = failureOf(event)
    if (failure !== undefined) return this.refuse(failure)
    if (event.type === 'timeout') this.#limits.silent(event)
  }

  /** Ends the leg. This is the only place where a leg ends: the first end counts, later ones change nothing. */
  #end({ change, by, ...ended }: LegEnd): void {
    if (this.hasEnded) return
    this.#state = { state: 'ended' }
    this.#limits.close()
    this.callerProgress.close()
    this.digits.close()
    this.events.close()
    const lasted = this.#limits.lasted
    this.status.reportEnd({ ...change, call_termination_by: by, ...lasted }, ended)
    this.session.leave(this)
    this.log.info({ ...toEndLine(change, this.journal.facts.refusal), ...lasted, ...ended }, 'call ended')
    this.#lifetime.abort(stopped('leg-ended'))
    if (this.#occupation.kind === 'ringing') this.vacate(this.#occupation)
    this.#closing.resolve(this.media.close())
    this.#options.onEnded()
  }
}
