// The requests to the far end within the dialog of an answered leg: those of an application, REFER, and new offers.
import { AppError } from '../../lib/errors.ts'
import { sdpOf } from '../../sip/message/body.ts'
import type { SipResponse } from '../../sip/message/message.ts'
import type { Dialog, ReferWish } from '../../sip/sip.ts'
import type { OwnRequest, OwnRequestOutcome } from '../verb/own-request.ts'

/** The most requests without a response. Each waits half a minute for a far end that does not respond. */
const maxWaiting = 8

/** `answer`: the SDP in the 200. `retryMs`: the time after which a refused offer may be repeated; undefined: never. */
export interface ReofferOutcome extends OwnRequestOutcome {
  readonly answer?: string | undefined
  readonly retryMs?: number | undefined
}

export class LegRequests {
  readonly #dialog: () => Dialog | undefined
  #waiting = 0

  constructor(dialog: () => Dialog | undefined) {
    this.#dialog = dialog
  }

  isWithin(dialog: Dialog): boolean {
    return this.#dialog() === dialog
  }

  /** Throws AppError overloaded when no more requests may be sent now. */
  demandRoom(): void {
    if (this.#waiting >= maxWaiting)
      throw new AppError('overloaded', `${maxWaiting} requests wait for a response of the far end`)
  }

  /** Sends a request. Throws AppError call_state or overloaded, and then nothing was sent. */
  send({ method, headers, body }: OwnRequest): Promise<OwnRequestOutcome> {
    const options = body === undefined ? { headers } : { headers, body }
    return this.#ask((dialog) => dialog.request(method, options))
  }

  /** Sends a REFER. Throws as `send` does, and bad_request when the wish names no address. */
  refer(wish: ReferWish): Promise<OwnRequestOutcome> {
    return this.#ask((dialog) => dialog.refer(wish))
  }

  async #ask(send: (dialog: Dialog) => Promise<SipResponse>): Promise<OwnRequestOutcome> {
    const dialog = this.#dialog()
    if (dialog === undefined) throw new AppError('call_state', 'the call has not been answered')
    this.demandRoom()
    this.#waiting += 1
    try {
      const { status, reason } = await send(dialog)
      return { status, reason }
    } finally {
      this.#waiting -= 1
    }
  }

  /**
   * Sends a re-INVITE with a new offer: once or, if `isUrgent`, as soon as no other offer is open, and again after a
   * collision. `offer` is called just before sending, and must not throw.
   */
  async reoffer(offer: () => string, { isUrgent }: { readonly isUrgent: boolean }): Promise<ReofferOutcome> {
    const dialog = this.#dialog()
    if (dialog === undefined) throw new AppError('call_state', 'the call has not been answered')
    const description = () => ({ type: 'application/sdp', content: offer() })
    const response = isUrgent
      ? await dialog.reoffer({ offer: description })
      : await dialog.request('INVITE', { body: description() })
    const { status, reason } = response
    if (status < 300) return { status, reason, answer: sdpOf(response) }
    return { status, reason, retryMs: isUrgent ? undefined : dialog.retryDelayMs(response) }
  }
}
