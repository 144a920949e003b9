// One recording session with the platform as recording client (RFC 7866 §3.1): the dialog with a recording server, from
// the INVITE to its end. The call continues, whatever happens to the recording.
import type { Clock, Timer } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import { contactAt } from '../../sip/contact.ts'
import { sdpOf } from '../../sip/message/body.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import type { Dialog, OutgoingInvite, Remote, Reply, Sip } from '../../sip/sip.ts'
import { whileWanted } from '../session/while-wanted.ts'
import { toAppError, toRefusal } from '../journal/refusals.ts'
import type { RecordingMedia } from './recording-media.ts'
import { toRecordingBody } from './recording-body.ts'
import type { RecordingDirection } from './recording-sdp.ts'

/** The destination of the INVITE, and its content. */
export interface RecordingInvite {
  readonly uri: string
  readonly remote: Remote
  /** The user part in From and Contact. */
  readonly user: string
  /** The headers of the application, without those that the stack writes. */
  readonly headers: readonly HeaderField[]
  readonly metadata: string
  readonly boundary: string
  /** Chosen by the caller of this class, so that the messages of the dialog are kept with those of the call. */
  readonly callId: string
  /** True to begin paused: no audio is sent. */
  readonly isPaused: boolean
  readonly mayReach: (place: Remote) => boolean
}

export interface RecordingSessionOptions {
  readonly sip: Pick<Sip, 'addressFor' | 'invite'>
  readonly media: RecordingMedia
  readonly clock: Clock
  readonly log: Logger
  /** Called once, when no more messages are sent except a BYE or CANCEL. */
  readonly onOver: () => void
  /** Called once if the recording server ends the session or is gone, after the start and not after `stop`. */
  readonly onLost: (because: string) => void
}

// A server that does not answer within this time is skipped.
const answerLimitMs = 8000
// A server that dies sends nothing, so it is checked with OPTIONS.
const checkMs = 30_000

/** RFC 7866 §6.1.1: this makes it a recording session. */
const required: HeaderField = { name: 'require', value: 'siprec' }
const sdpType = 'application/sdp'

export class RecordingSession {
  readonly #options: RecordingSessionOptions
  #dialog: Dialog | undefined
  #direction: RecordingDirection = 'sendonly'
  #check: Timer | undefined
  #hasBegun = false
  #isOver = false
  /** Aborts if the session is lost before it has begun. */
  readonly #failed = new AbortController()

  constructor(options: RecordingSessionOptions) {
    this.#options = options
    options.media.onLost(() => this.#lost('the thread that carried its sound died'))
  }

  /** Resolves when the server accepts both streams. Throws AppError if it does not, or the reason of the signal. */
  async start(invite: RecordingInvite, signal: AbortSignal): Promise<void> {
    this.#direction = invite.isPaused ? 'inactive' : 'sendonly'
    try {
      const { dialog, answer } = await this.#answered(await this.#invite(invite), signal)
      this.#dialog = dialog
      this.#listen(dialog)
      if (answer === undefined)
        throw new AppError('media_not_acceptable', 'the recording server has answered without a description')
      await this.#options.media.accept(answer)
      if (!invite.isPaused) await this.#options.media.run(true)
      this.#failed.signal.throwIfAborted()
      this.#hasBegun = true
      this.#checkLater(dialog)
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  /** Stops the audio, and announces that in a re-INVITE. Throws siprec_failed if the server refuses. */
  async pause(): Promise<void> {
    await this.#options.media.run(false)
    await this.#reoffer('inactive')
  }

  async resume(): Promise<void> {
    await this.#reoffer('sendonly')
    if (!this.#isOver) await this.#options.media.run(true)
  }

  /**
   * Sends changed participants (RFC 7866 §7.1.2). Throws siprec_failed if the server refuses; it continues to record.
   */
  async update(metadata: string, boundary: string): Promise<void> {
    const dialog = this.#dialog
    if (dialog === undefined || this.#isOver) return
    const sdp = await this.#options.media.offer(this.#direction)
    await this.#exchange(dialog, toRecordingBody({ sdp, metadata, boundary }))
  }

  /** Resolves when the server has responded to the BYE, and the ports are free. Idempotent. */
  async stop(): Promise<void> {
    if (this.#isOver) return
    const dialog = this.#dialog
    await this.#close()
    await dialog?.bye().catch((error: unknown) => this.#options.log.warn({ err: error }, 'BYE failed'))
  }

  async #invite({
    uri,
    remote,
    user,
    headers,
    callId,
    mayReach,
    ...parts
  }: RecordingInvite): Promise<OutgoingInvite> {
    const { sip, media } = this.#options
    media.face(remote.address)
    const sdp = await media.offer(this.#direction)
    const place = sip.addressFor(remote)
    return sip.invite({
      uri,
      callId,
      to: uri,
      from: contactAt(place, 'udp', { user }),
      contactUser: user,
      // RFC 7866 §6.1.1: marks this side as the recording client.
      contactFeature: '+sip.src',
      mustLeave: true,
      destination: remote,
      mayReach,
      headers: [...headers, required],
      body: toRecordingBody({ sdp, ...parts }),
    })
  }

  async #answered(
    sent: OutgoingInvite,
    signal: AbortSignal,
  ): Promise<{ dialog: Dialog; answer: string | undefined }> {
    const limit = new AbortController()
    const timer = this.#options.clock.after(answerLimitMs, () =>
      limit.abort(new AppError('siprec_failed', 'the recording server does not answer')),
    )
    try {
      const outcome = await whileWanted(
        sent.outcome,
        AbortSignal.any([signal, limit.signal, this.#failed.signal]),
      )
      if (outcome.kind === 'answered') return { dialog: outcome.dialog, answer: sdpOf(outcome.response) }
      const { status, reason } = outcome.response
      throw new AppError('siprec_failed', `the recording server has refused with ${status} ${reason}`)
    } catch (error) {
      sent.cancel()
      // The stack sends a BYE for an answer that crosses the CANCEL. This covers an answer that came before it.
      void sent.outcome.then((outcome) => (outcome.kind === 'answered' ? outcome.dialog.bye() : undefined))
      throw error
    } finally {
      timer.cancel()
    }
  }

  #listen(dialog: Dialog): void {
    dialog.listen({
      ended: () => this.#lost('the recording server has hung up'),
      failed: (reason) => this.#lost(`the recording server is gone: ${reason}`),
      confirmed: (ack) => void this.#takeAnswer(sdpOf(ack)),
      offered: (offer) => this.#offered(offer),
      refreshed: (answer) => void this.#takeAnswer(answer),
      requested: async () => ({ status: 200 }),
    })
  }

  /** Responds to a re-INVITE or an UPDATE of the server. */
  async #offered(offer: string | undefined): Promise<Reply> {
    const { media, log } = this.#options
    try {
      const content = await (offer === undefined
        ? media.offer(this.#direction)
        : media.answer(offer, this.#direction))
      return { status: 200, body: { type: sdpType, content } }
    } catch (error) {
      log.info({ err: error }, 'offer of a recording server refused')
      return toRefusal(toAppError(error, log)).reply
    }
  }

  /** Applies the answer to an offer that the server asked for, or to our last one, which was sent again. */
  async #takeAnswer(answer: string | undefined): Promise<void> {
    if (answer === undefined) return
    await this.#options.media.accept(answer).catch((error: unknown) => {
      this.#lost(toAppError(error, this.#options.log).message)
    })
  }

  async #reoffer(direction: RecordingDirection): Promise<void> {
    const dialog = this.#dialog
    if (dialog === undefined || this.#isOver) return
    // Until the exchange is over, offers of the server are answered with the more private direction.
    this.#direction = 'inactive'
    await this.#exchange(dialog, { type: sdpType, content: await this.#options.media.offer(direction) })
    this.#direction = direction
  }

  async #exchange(dialog: Dialog, body: NonNullable<Reply['body']>): Promise<void> {
    const response = await dialog.reoffer({ offer: () => body, headers: [required] })
    const answer = sdpOf(response)
    if (response.status >= 300 || answer === undefined)
      throw new AppError('siprec_failed', `the recording server has refused with ${response.status}`)
    if (!this.#isOver) await this.#options.media.accept(answer)
  }

  #checkLater(dialog: Dialog): void {
    if (this.#isOver) return
    this.#check = this.#options.clock.after(checkMs, () => {
      // No response and 481 end the dialog, and the listener is called. Any other response shows that the server is
      // there.
      void dialog.request('OPTIONS').then(() => this.#checkLater(dialog))
    })
  }

  #lost(because: string): void {
    if (this.#isOver) return
    const dialog = this.#dialog
    void this.#close().catch((error: unknown) =>
      this.#options.log.error({ err: error }, 'media failed to close'),
    )
    void dialog?.bye().catch(() => undefined)
    if (this.#hasBegun) this.#options.onLost(because)
    else this.#failed.abort(new AppError('siprec_failed', because))
  }

  async #close(): Promise<void> {
    this.#isOver = true
    this.#check?.cancel()
    this.#options.onOver()
    await this.#options.media.close()
  }
}
