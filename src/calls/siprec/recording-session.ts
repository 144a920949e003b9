// One recording session of the platform as recording client (RFC 7866 §3.1): the dialog with a recording server, from its
// INVITE to its end. Whatever becomes of it, the call goes on.
import type { Clock, Timer } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import { contactAt } from '../../sip/contact.ts'
import { sdpOf } from '../../sip/message/body.ts'
import type { HeaderField, SipRequest } from '../../sip/message/message.ts'
import type { Dialog, OutgoingInvite, Remote, Reply, Sip } from '../../sip/sip.ts'
import { whileWanted } from '../abilities/while-wanted.ts'
import { toAppError, toRefusal } from '../leg/refusals.ts'
import type { RecordingMedia } from './recording-media.ts'
import { toRecordingBody } from './recording-body.ts'
import type { RecordingDirection } from './recording-sdp.ts'

/** Where the INVITE goes, and what stands in it. */
export interface RecordingInvite {
  readonly uri: string
  readonly remote: Remote
  /** In From and Contact. */
  readonly user: string
  /** Those of the application: none that the stack writes. */
  readonly headers: readonly HeaderField[]
  readonly metadata: string
  readonly boundary: string
  /** Chosen by the caller, which has the messages of the dialog kept with those of the call. */
  readonly callId: string
  /** It begins paused: nothing of the talk is sent. */
  readonly isPaused: boolean
  readonly mayReach: (place: Remote) => boolean
}

export interface RecordingSessionOptions {
  readonly sip: Pick<Sip, 'addressFor' | 'invite'>
  readonly media: RecordingMedia
  readonly clock: Clock
  readonly log: Logger
  /** No message is sent any more, beside a BYE or CANCEL. Called once. */
  readonly onOver: () => void
  /** The recording server has ended it, or is gone. Called once, after it began and not after `stop`. */
  readonly onLost: (because: string) => void
}

// A server that is silent for so long is passed over.
const answerLimitMs = 8000
// A server that dies says nothing: it is asked whether it is there.
const checkMs = 30_000

/** RFC 7866 §6.1.1: what makes it a recording session. */
const required: HeaderField = { name: 'require', value: 'siprec' }
const sdpType = 'application/sdp'

export class RecordingSession {
  readonly #options: RecordingSessionOptions
  #contact: HeaderField = { name: 'contact', value: '' }
  #dialog: Dialog | undefined
  #direction: RecordingDirection = 'sendonly'
  #check: Timer | undefined
  #hasBegun = false
  #isOver = false
  /** Aborts when it was lost before it began. */
  readonly #failed = new AbortController()

  constructor(options: RecordingSessionOptions) {
    this.#options = options
    options.media.onLost(() => this.#lost('the thread that carried its sound died'))
  }

  /** Resolves when the server takes both streams. Throws AppError when it does not, and the reason of the signal. */
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

  /** Nothing of the talk is sent from now on; a re-INVITE says so. Throws siprec_failed when it refuses. */
  async pause(): Promise<void> {
    await this.#options.media.run(false)
    await this.#reoffer('inactive')
  }

  async resume(): Promise<void> {
    await this.#reoffer('sendonly')
    if (!this.#isOver) await this.#options.media.run(true)
  }

  /** Who takes part has changed (RFC 7866 §7.1.2). Throws siprec_failed when the server refuses; it records on. */
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
    // RFC 7866 §6.1.1: the feature tag says who records whom.
    this.#contact = { name: 'contact', value: `${contactAt(place, remote.transport, { user })};+sip.src` }
    return sip.invite({
      uri,
      callId,
      to: uri,
      from: contactAt(place, 'udp', { user }),
      contactUser: user,
      mustLeave: true,
      destination: remote,
      mayReach,
      headers: [...headers, required, this.#contact],
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
      // An answer that crosses the CANCEL gets its BYE of the stack; this one had come already.
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
      confirmed: (ack) => void this.#takeAnswer(ack),
      offered: (offer) => this.#offered(offer),
      requested: async () => ({ status: 200 }),
    })
  }

  /** A re-INVITE of the server, or an UPDATE. */
  async #offered(offer: string | undefined): Promise<Reply> {
    const { media, log } = this.#options
    try {
      const content = await (offer === undefined
        ? media.offer(this.#direction)
        : media.answer(offer, this.#direction))
      return { status: 200, headers: [this.#contact], body: { type: sdpType, content } }
    } catch (error) {
      log.info({ err: error }, 'offer of a recording server refused')
      return toRefusal(toAppError(error, log)).reply
    }
  }

  /** The answer to an offer that the server has asked for. */
  async #takeAnswer(ack: SipRequest): Promise<void> {
    const answer = sdpOf(ack)
    if (answer === undefined) return
    await this.#options.media.accept(answer).catch((error: unknown) => {
      this.#lost(toAppError(error, this.#options.log).message)
    })
  }

  async #reoffer(direction: RecordingDirection): Promise<void> {
    const dialog = this.#dialog
    if (dialog === undefined || this.#isOver) return
    // What the server asks meanwhile is answered with the more private of the two.
    this.#direction = 'inactive'
    await this.#exchange(dialog, { type: sdpType, content: await this.#options.media.offer(direction) })
    this.#direction = direction
  }

  async #exchange(dialog: Dialog, body: NonNullable<Reply['body']>): Promise<void> {
    const response = await dialog.reoffer({ offer: () => body, headers: [required, this.#contact] })
    const answer = sdpOf(response)
    if (response.status >= 300 || answer === undefined)
      throw new AppError('siprec_failed', `the recording server has refused with ${response.status}`)
    if (!this.#isOver) await this.#options.media.accept(answer)
  }

  #checkLater(dialog: Dialog): void {
    if (this.#isOver) return
    this.#check = this.#options.clock.after(checkMs, () => {
      // No response, and 481, end the dialog, which the listener hears. Any other says that the server is there.
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
