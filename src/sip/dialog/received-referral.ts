// A REFER that the far end sent within a dialog, and the NOTIFYs that report the progress of the requested call: RFC
// 3515.
import type { Clock, Timer } from '../../lib/clock.ts'
import type { Dialog, IncomingReferral, ReferSubscription } from '../dialogs.ts'
import { referralLimits } from '../limits.ts'
import { splitList } from '../message/list.ts'
import {
  headerOf,
  headersOf,
  type HeaderField,
  type SipRequest,
  type SipResponse,
} from '../message/message.ts'
import { notification } from '../message/refer-event.ts'
import type { ReferTo } from '../message/refer-to.ts'
import type { ReplacesId } from '../message/replaces.ts'
import type { Reply } from '../message/reply.ts'
import type { RequestOptions } from './dialog-client.ts'

export interface ReceivedReferralOptions {
  readonly request: SipRequest
  readonly referTo: ReferTo
  readonly replaced: Dialog | undefined
  /** The `id` of its NOTIFYs; undefined for the first REFER of a dialog: RFC 3515 §2.4.6. */
  readonly id: number | undefined
  readonly clock: Clock
  readonly respond: (reply: Reply) => void
  readonly notify: (options: RequestOptions) => Promise<SipResponse>
  /** Called when no further NOTIFY follows. */
  readonly over: () => void
}

type Line = { readonly status: number; readonly reason?: string | undefined }

export class ReceivedReferral implements IncomingReferral, ReferSubscription {
  readonly #options: ReceivedReferralOptions
  #phase: 'asked' | 'accepted' | 'over' = 'asked'
  /** The newest line that was not sent; it replaces an older one that waited. */
  #waiting: Line | undefined
  #last: Line = { status: 100 }
  #isSending = false
  #expiry: Timer | undefined
  #expiresAt = 0
  readonly #done = Promise.withResolvers<void>()

  constructor(options: ReceivedReferralOptions) {
    this.#options = options
  }

  get done(): Promise<void> {
    return this.#done.promise
  }

  get request(): SipRequest {
    return this.#options.request
  }

  get referTo(): string {
    return this.#options.referTo.uri
  }

  get displayName(): string | undefined {
    return this.#options.referTo.displayName
  }

  get replaces(): ReplacesId | undefined {
    return this.#options.referTo.replaces
  }

  get replaced(): Dialog | undefined {
    return this.#options.replaced
  }

  get headers(): readonly HeaderField[] {
    return this.#options.referTo.headers
  }

  get referredBy(): string | undefined {
    return headerOf(this.request, 'referred-by')
  }

  accept(): ReferSubscription {
    if (this.#phase !== 'asked') return this
    const isSilent = wantsNoSubscription(this.request)
    // Set first: over TCP and TLS the transaction ends with the response, and a REFER still in phase `asked` is then
    // refused.
    this.#phase = 'accepted'
    // RFC 4488 §4: sent only if the far end wants no subscription.
    this.#options.respond({ status: 202, headers: isSilent ? [{ name: 'refer-sub', value: 'false' }] : [] })
    if (isSilent) this.#end()
    else this.#subscribe()
    return this
  }

  reject(reply: Reply): void {
    if (this.#phase !== 'asked') return
    this.#options.respond(reply.status >= 300 ? reply : { ...reply, status: 500 })
    this.#end()
  }

  notify(status: number, reason?: string): void {
    if (this.#phase !== 'accepted' || this.#last.status >= 200) return
    this.#last = this.#waiting = { status, reason }
    void this.#send()
  }

  stop(): void {
    this.#end()
  }

  #subscribe(): void {
    const { clock } = this.#options
    this.#expiresAt = clock.monotonic() + referralLimits.subscriptionMs
    this.#expiry = clock.after(referralLimits.subscriptionMs, () => void this.#expire())
    // RFC 3515 §2.4.4: the first NOTIFY is sent immediately.
    this.notify(100)
  }

  /** Sends one NOTIFY after the other, so that they reach the far end in order. */
  async #send(): Promise<void> {
    const line = this.#waiting
    if (this.#isSending || line === undefined || this.#phase !== 'accepted') return
    this.#waiting = undefined
    this.#isSending = true
    const { id, clock, notify } = this.#options
    const isLast = line.status >= 200
    const leftSeconds = isLast ? undefined : Math.ceil((this.#expiresAt - clock.monotonic()) / 1_000)
    const { status } = await notify(notification({ line, leftSeconds, id }))
    this.#isSending = false
    // RFC 6665 §4.2.2: a refused NOTIFY ends the subscription.
    if (isLast || status >= 300) this.#end()
    else void this.#send()
  }

  async #expire(): Promise<void> {
    const { id, notify } = this.#options
    const line = this.#last
    this.#phase = 'over'
    await notify(notification({ line, leftSeconds: undefined, end: 'timeout', id }))
    this.#done.resolve()
    this.#options.over()
  }

  #end(): void {
    if (this.#phase === 'over') return
    this.#phase = 'over'
    this.#expiry?.cancel()
    this.#done.resolve()
    this.#options.over()
  }
}

/** Reports whether the REFER has `Refer-Sub: false`: RFC 4488 §4. */
function wantsNoSubscription(request: SipRequest): boolean {
  const values = headersOf(request, 'refer-sub').flatMap(splitList)
  return values.some((value) => /^false\s*(?:;|$)/i.test(value))
}
