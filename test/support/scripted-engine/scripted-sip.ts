// An INVITE and its dialog that a test controls, for races that cannot be repeated with real sockets.
import { AppError } from '../../../src/lib/errors.ts'
import { randomHex } from '../../../src/lib/ids.ts'
import { sdpOf } from '../../../src/sip/message/body.ts'
import type { HeaderField, SipRequest } from '../../../src/sip/message/message.ts'
import { redirectTargets } from '../../../src/sip/message/redirect.ts'
import { supports } from '../../../src/sip/message/session-expires.ts'
import type {
  CancelListener,
  Dialog,
  IncomingInvite,
  InviteOutcome,
  OutgoingInvite,
  OutgoingInviteOptions,
  Remote,
  Replaced,
  Reply,
  DialogUser,
  EarlyListener,
} from '../../../src/sip/sip.ts'
import { ScriptedDialog } from './scripted-dialog.ts'
import { offer, sipRequest, sipResponse } from './scripted-messages.ts'

// It follows the rules of the stack (one final response, one CANCEL, one BYE) and keeps what was sent.

export interface ScriptedInviteOptions {
  readonly to: string
  readonly callId: string
  /** The To field, if it is not the Request-URI. */
  readonly toField?: string
  readonly headers?: readonly HeaderField[]
  /** Undefined for an INVITE without SDP. */
  readonly body?: string | undefined
  /** The dialog that its Replaces names. */
  readonly replaces?: Replaced
  /** The transport; UDP by default. */
  readonly transport?: Remote['transport']
  /** The source address. */
  readonly address?: string
  readonly passages?: number
}

const remote: Remote = { transport: 'udp', address: '127.0.0.1', port: 26_060 }

/** Returns a UDP address, by default with port 5060. */
export function udpAt(address: string, port = 5060): Remote {
  return { transport: 'udp', address, port }
}

export class ScriptedInvite implements IncomingInvite {
  readonly request: SipRequest
  readonly raw: Uint8Array
  readonly remote: Remote
  readonly callId: string
  readonly localTag = randomHex(8)
  readonly provisionals: Reply[] = []
  readonly takesEarlyOffer: boolean
  readonly passages: number
  readonly replaces: Replaced | undefined
  final: Reply | undefined
  /** The 200 response, without its status. */
  accepted: Omit<Reply, 'status'> | undefined
  mayReach: ((place: Remote) => boolean) | undefined
  user: DialogUser | undefined
  contactHost: string | undefined
  contactFeature: string | undefined
  early: EarlyListener | undefined
  dialog: ScriptedDialog | undefined
  #isCancelled = false
  #cancelListener: CancelListener | undefined
  #waiters: (() => void)[] = []

  constructor(options: ScriptedInviteOptions) {
    const { to, toField, callId, headers = [], body = offer, replaces } = options
    const { transport = remote.transport, address = remote.address } = options
    this.remote = { ...remote, transport, address }
    this.replaces = replaces
    this.passages = options.passages ?? 0
    this.callId = callId
    const uri = `sip:${to}`
    const fields: HeaderField[] = [
      { name: 'via', value: 'SIP/2.0/UDP 127.0.0.1:26060;branch=z9hG4bK1' },
      { name: 'from', value: '"Alice Liddell" <sip:+4420@example.com>;tag=f1' },
      { name: 'to', value: toField ?? `<${uri}>` },
      { name: 'call-id', value: callId },
      { name: 'cseq', value: '1 INVITE' },
      ...headers,
    ]
    this.request = sipRequest('INVITE', { uri, headers: fields, type: 'application/sdp', body })
    this.takesEarlyOffer = sdpOf(this.request) === undefined && supports(this.request, '100rel')
    const lines = this.request.headers.map(({ name, value }) => `${name}: ${value}\r\n`)
    this.raw = Buffer.from(`INVITE ${uri} SIP/2.0\r\n${lines.join('')}\r\n${body}`)
  }

  get isOpen(): boolean {
    return this.final === undefined && this.dialog === undefined && !this.#isCancelled
  }

  progress(reply: Reply): void {
    if (this.isOpen) this.provisionals.push(reply)
  }

  reject(reply: Reply): void {
    if (!this.isOpen) return
    this.final = reply
    this.#settle()
  }

  restrict(mayReach: (place: Remote) => boolean): void {
    this.mayReach = mayReach
  }

  holdTo(user: DialogUser): void {
    this.user = user
  }

  nameContact(host: string): void {
    this.contactHost = host
  }

  tagContact(feature: string): void {
    this.contactFeature = feature
  }

  listen(listener: EarlyListener): void {
    this.early = listener
  }

  accept(reply: Omit<Reply, 'status'>): Dialog {
    if (!this.isOpen) throw new AppError('internal', 'a final response was sent before')
    this.accepted = reply
    this.dialog = new ScriptedDialog(this.callId)
    this.#settle()
    return this.dialog
  }

  onCancel(listener: CancelListener): void {
    this.#cancelListener = listener
  }

  /** Receives a CANCEL; it is too late after a final response (RFC 3261 §9.2). */
  cancel(headers: readonly HeaderField[] = []): void {
    if (!this.isOpen) return
    this.#isCancelled = true
    this.#settle()
    this.#cancelListener?.(sipRequest('CANCEL', { headers }))
  }

  /** Reports a provisional response for which no PRACK came: the stack has refused the INVITE. */
  unconfirmed(reply: Reply): void {
    if (!this.isOpen) return
    this.#isCancelled = true
    this.#settle()
    this.#cancelListener?.(sipRequest('INVITE'), reply)
  }

  /** Resolves when the INVITE has its final response. */
  settled(): Promise<void> {
    return this.isOpen ? new Promise((resolve) => this.#waiters.push(resolve)) : Promise.resolve()
  }

  #settle(): void {
    for (const resolve of this.#waiters.splice(0)) resolve()
  }
}

function toOf(tag: string): HeaderField[] {
  return [{ name: 'to', value: `<sip:far@192.0.2.7>;tag=${tag}` }]
}

/** An INVITE of the platform that the test answers. When cancelled it ends with 487, unless the far end is silent. */
export class ScriptedOutgoing implements OutgoingInvite {
  readonly callId: string
  readonly outcome: Promise<InviteOutcome>
  readonly options: OutgoingInviteOptions
  readonly dialog: ScriptedDialog
  /** The headers of our CANCEL; undefined before it. */
  cancelled: readonly HeaderField[] | undefined
  /** Whether it does not respond to a CANCEL. */
  isSilent = false
  wasSent = true
  /** The outcome; undefined while it rings. */
  result: InviteOutcome['kind'] | undefined
  readonly #resolve: (outcome: InviteOutcome) => void

  constructor(options: OutgoingInviteOptions) {
    this.options = options
    this.callId = options.callId ?? 'none'
    this.dialog = new ScriptedDialog(this.callId)
    const { promise, resolve } = Promise.withResolvers<InviteOutcome>()
    this.outcome = promise
    this.#resolve = resolve
  }

  #settle(outcome: InviteOutcome): void {
    this.result ??= outcome.kind
    this.#resolve(outcome)
  }

  /** Receives a provisional response; `tag` is that of the fork. */
  progress(status: number, body?: string, tag = 'one', more: readonly HeaderField[] = []): void {
    if (this.result !== undefined) return
    this.options.onHeard?.()
    if (status > 100)
      this.options.onProvisional?.(sipResponse(status, { body, headers: [...toOf(tag), ...more] }))
  }

  answer(body: string | undefined = offer, tag = 'one', more: readonly HeaderField[] = []): void {
    const response = sipResponse(200, { body, headers: [...toOf(tag), ...more] })
    this.#settle({ kind: 'answered', response, dialog: this.dialog })
  }

  refuse(status: number, headers: readonly HeaderField[] = []): void {
    const response = sipResponse(status, { headers })
    const redirects = redirectTargets(response)
    this.#settle({ kind: 'refused', response, ...(redirects.length === 0 ? {} : { redirects }) })
  }

  cancel(headers: readonly HeaderField[] = []): void {
    if (this.cancelled !== undefined) return
    this.cancelled = headers
    if (!this.isSilent) this.refuse(487)
  }
}
