// The REFERs within one dialog, in both directions. Each is a subscription that may outlive the call: RFC 5057 §4.
import { AppError } from '../../lib/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Dialog, ReferWish } from '../dialogs.ts'
import { referralLimits } from '../limits.ts'
import { cseqOf } from '../message/cseq.ts'
import { splitList } from '../message/list.ts'
import { headersOf, type SipRequest, type SipResponse } from '../message/message.ts'
import { parseNameAddr } from '../message/name-addr.ts'
import { referEventOf } from '../message/refer-event.ts'
import { parseReferTo, serializeReferTo, type ReferTo } from '../message/refer-to.ts'
import type { ReplacesId } from '../message/replaces.ts'
import { parseUri } from '../message/uri.ts'
import { allowHeader } from '../message/validate.ts'
import { refusal } from '../refusal.ts'
import type { Reply } from '../message/reply.ts'
import type { ServerTransaction } from '../transaction/transaction.ts'
import type { RequestOptions } from './dialog-client.ts'
import type { Standing } from './dialog-table.ts'
import type { DialogOwner } from './dialog-owner.ts'
import { ReceivedReferral } from './received-referral.ts'
import { SentReferral } from './sent-referral.ts'

export interface ReferralsOptions {
  readonly clock: Clock
  readonly owner: Pick<DialogOwner, 'tell'>
  /** The methods that a dialog accepts; without REFER if the owner does not serve it. */
  readonly allow: readonly string[]
  readonly find: (id: ReplacesId) => Standing | undefined
  readonly respond: (transaction: ServerTransaction, reply: Reply) => void
  /** Sends a NOTIFY, also when the dialog is over. */
  readonly send: (method: string, options: RequestOptions) => Promise<SipResponse>
  /** Called when the last of them is over. */
  readonly idle: () => void
}

const tooMany = refusal(
  'transfer_refused',
  `No more than ${referralLimits.maxAtOnce} transfers of a call run at once`,
  { status: 491 },
)

interface Running {
  stop(): void
}

export class Referrals {
  readonly #options: ReferralsOptions
  readonly #running = new Set<Running>()
  readonly #sent: SentReferral[] = []
  #received = 0

  constructor(options: ReferralsOptions) {
    this.#options = options
  }

  get isIdle(): boolean {
    return this.#running.size === 0
  }

  receiveRefer(transaction: ServerTransaction): void {
    const { respond, owner, clock, send, find } = this.#options
    const { request } = transaction
    const referTo = readReferTo(request)
    if ('status' in referTo) return respond(transaction, referTo)
    if (this.#running.size >= referralLimits.maxAtOnce) return respond(transaction, tooMany)
    this.#received += 1
    const referral: ReceivedReferral = new ReceivedReferral({
      request,
      referTo,
      replaced: referTo.replaces && dialogOf(find(referTo.replaces)),
      id: this.#received === 1 ? undefined : cseqOf(request).sequence,
      clock,
      respond: (reply) => respond(transaction, reply),
      notify: (options) => send('NOTIFY', options),
      over: () => this.#over(referral),
    })
    this.#running.add(referral)
    transaction.onEnd(() => referral.reject({ status: 500 }))
    owner.tell((listener) => {
      if (listener.referred === undefined) referral.reject(this.#notServed())
      else listener.referred(referral)
    })
  }

  receiveNotify(transaction: ServerTransaction): void {
    const { respond } = this.#options
    const { request } = transaction
    if (!referEventOf(request).isRefer)
      return respond(transaction, { status: 489, headers: [{ name: 'allow-events', value: 'refer' }] })
    const referral = this.#sent.find((sent) => sent.isMeantBy(request))
    respond(transaction, { status: referral === undefined ? 481 : 200 })
    referral?.notified(request)
  }

  /** Sends a REFER. `send` differs from the one for NOTIFYs: some responses to it end the dialog. */
  async refer(
    wish: ReferWish,
    send: (method: string, options: RequestOptions) => Promise<SipResponse>,
  ): Promise<SipResponse> {
    const options = toRequest(wish)
    const { clock, owner } = this.#options
    const referral: SentReferral = new SentReferral({
      clock,
      report: (report) => owner.tell(() => wish.notified?.(report)),
      over: () => {
        this.#sent.splice(this.#sent.indexOf(referral), 1)
        this.#over(referral)
      },
    })
    this.#sent.push(referral)
    this.#running.add(referral)
    const response = await send('REFER', options)
    referral.answered(response)
    return response
  }

  stop(): void {
    for (const running of [...this.#running]) running.stop()
  }

  #over(referral: Running): void {
    this.#running.delete(referral)
    if (this.#running.size === 0) this.#options.idle()
  }

  #notServed(): Reply {
    const allow = this.#options.allow.filter((method) => method !== 'REFER')
    return { status: 405, headers: [allowHeader(allow)] }
  }
}

function dialogOf(standing: Standing | undefined): Dialog | undefined {
  return standing?.kind === 'confirmed' ? standing.dialog : undefined
}

/** Returns the one Refer-To, with a scheme that can be called, or a refusal: RFC 3515 §2.4.2. */
function readReferTo(request: SipRequest): ReferTo | Reply {
  const values = headersOf(request, 'refer-to').flatMap(splitList)
  const [value] = values
  if (value === undefined || values.length > 1) return { status: 400, reason: 'One Refer-To is needed' }
  try {
    return parseReferTo(value) ?? { status: 416 }
  } catch (error) {
    if (error instanceof AppError) return { status: 400, reason: error.message }
    throw error
  }
}

/** Throws AppError bad_request for a value that is not an address. */
function toRequest({ referTo, replaces, referredBy, headers = [] }: ReferWish): RequestOptions {
  const { displayName, uri } = referTo.includes('<') ? parseNameAddr(referTo) : { uri: referTo }
  parseUri(uri)
  const target = { uri, displayName, replaces }
  const by = referredBy === undefined ? [] : [{ name: 'referred-by', value: byLine(referredBy) }]
  return { headers: [...headers, { name: 'refer-to', value: serializeReferTo(target) }, ...by] }
}

function byLine(referredBy: string): string {
  parseUri(referredBy.includes('<') ? parseNameAddr(referredBy).uri : referredBy)
  return referredBy.includes('<') ? referredBy : `<${referredBy}>`
}
