// An INVITE that the platform sends, until all of its responses are handled: the UAC side of RFC 3261 §13.2, with
// forks.
import type { Timer } from '../../lib/clock.ts'
import { randomHex } from '../../lib/ids.ts'
import { buildRequest, responseTo } from '../message/build.ts'
import { headerOf, type HeaderField, type SipRequest, type SipResponse } from '../message/message.ts'
import { sessionLimits } from '../limits.ts'
import { parseNameAddr, serializeNameAddr, tagOf } from '../message/name-addr.ts'
import { noParams } from '../message/params.ts'
import { redirectTargets } from '../message/redirect.ts'
import { minSeOf } from '../message/session-expires.ts'
import { parseUri, serializeUri } from '../message/uri.ts'
import type { InviteOutcome, OutgoingInvite, OutgoingInviteOptions } from '../invites.ts'
import { answeredElsewhere } from '../refusal.ts'
import { knownAs, type Remote } from '../transport/transports.ts'
import { transactionTimeoutMs } from '../timers.ts'
import type { ClientTransaction } from '../transaction/transaction.ts'
import { hasSips } from '../contact.ts'
import {
  asClient,
  capabilityHeaders,
  cleanHeaders,
  mergeHeaders,
  type ContactName,
  type Core,
} from './core.ts'
import { DialogGuard } from './dialog-guard.ts'
import { addressed, uacDialogState } from './dialog-state.ts'
import { EarlyDialogs } from './early-dialogs.ts'
import { EstablishedDialog } from './established-dialog.ts'
import { namesDatagrams } from './flow.ts'
import { sendRequest } from './send-request.ts'
import { askFor } from './session-timer.ts'
import { createOwnTag } from '../own-tags.ts'
import { passagesField } from '../passages.ts'

// A proxy forks to a handful of places. Answers with further tags make no dialogs, and get neither ACK nor BYE.
const maxForks = 16

export class SentInvite implements OutgoingInvite {
  readonly callId: string
  readonly outcome: Promise<InviteOutcome>
  readonly #core: Core
  readonly #options: OutgoingInviteOptions
  readonly #settled = Promise.withResolvers<InviteOutcome>()
  readonly #localTag: string
  readonly #contact: ContactName
  readonly #passages: readonly HeaderField[]
  // The early dialogs, and the dialogs that a 2xx made, by the tag of the fork.
  readonly #early: EarlyDialogs
  readonly #forks = new Map<string, EstablishedDialog>()
  #nextSequence = 1
  #session = { seconds: sessionLimits.seconds, minSeconds: sessionLimits.minSeconds }
  #raises = 0
  #remote: Remote | undefined
  #latest: SipRequest
  #transaction: ClientTransaction | undefined
  #wasSent = false
  #cancelHeaders: readonly HeaderField[] | undefined
  #isSettled = false
  #lingering: Timer | undefined
  readonly #onGone: () => void

  /** `onGone` is called when no answer can arrive any more, 64*T1 after the first final response (§13.2.2.4). */
  constructor(core: Core, options: OutgoingInviteOptions, onGone: () => void) {
    this.#core = core
    this.#options = options
    this.callId = options.callId ?? randomHex(16)
    this.#onGone = onGone
    const isOwn = options.mustLeave === true && core.seal !== undefined
    this.#localTag = isOwn ? createOwnTag(core.seal) : randomHex(8)
    const { passages } = options
    this.#passages =
      core.seal === undefined || passages === undefined ? [] : [passagesField(passages, core.seal)]
    this.outcome = this.#settled.promise
    const { uri, routes = [], contactUser: user, contactHost: host, contactFeature: feature } = options
    const isSips = hasSips(uri, addressed(uri, routes).nextHop)
    this.#contact = { user, host, feature, isSips }
    this.#early = new EarlyDialogs({
      core,
      call: this,
      contact: this.#contact,
      credentials: options.credentials,
      mayReach: options.mayReach,
      listener: options.early,
      user: options.user,
      keepsTransport: () => this.#keepsTransport(),
      // RFC 3261 §15: each place that rang has ended its dialog.
      ended: () => this.cancel(),
    })
    this.#latest = this.#build(undefined, [], 1)
    void this.#send()
  }

  get localTag(): string {
    return this.#localTag
  }

  get wasSent(): boolean {
    return this.#wasSent || this.#transaction?.hasLeft === true
  }

  cancel(headers: readonly HeaderField[] = []): void {
    if (this.#isSettled || this.#cancelHeaders !== undefined) return
    this.#cancelHeaders = cleanHeaders(headers)
    this.#transaction?.cancel(this.#cancelHeaders)
  }

  /** Reports whether a response from this place is accepted. */
  hears(from: Remote): boolean {
    return this.#transaction?.hears(from) === true
  }

  /** Handles a response to one of its INVITEs, also one that no transaction waits for any more. */
  respond(response: SipResponse, invite: SipRequest = this.#latest): void {
    this.#options.onHeard?.()
    if (response.status < 200) {
      if (response.status > 100 && !this.#isSettled && this.#isNews(response, invite))
        this.#options.onProvisional?.(response)
    } else if (response.status >= 300) this.#refused(response)
    else if (this.#isUntagged(response)) this.#refused(untagged(response))
    else this.#answered(response, invite)
  }

  /**
   * Reports whether a To tag is missing, as from peers of RFC 2543. A dialog with one that is not trusted needs the
   * tag, since its requests would begin other dialogs.
   */
  #isUntagged(response: SipResponse): boolean {
    const { mayReach, takesUntagged = mayReach === undefined } = this.#options
    return !takesUntagged && tagOf(headerOf(response, 'to')) === undefined
  }

  #refused(refusal: SipResponse): void {
    const response = this.#isCancelled() ? this.#terminated() : refusal
    const redirects = redirectTargets(response)
    this.#settle({ kind: 'refused', response, ...(redirects.length === 0 ? {} : { redirects }) })
  }

  stop(): void {
    this.#settle({ kind: 'refused', response: responseTo(this.#latest, { status: 503 }) })
    this.#lingering?.cancel()
  }

  async #send(): Promise<void> {
    const remote = await this.#destination()
    this.#remote = remote
    if (this.#isSettled) return
    if (this.#isCancelled()) return this.#settle({ kind: 'refused', response: this.#terminated() })
    if (remote === undefined) {
      return this.#settle({ kind: 'refused', response: responseTo(this.#latest, { status: 503 }) })
    }
    this.#transmit(remote)
  }

  #transmit(remote: Remote): void {
    sendRequest({
      transactions: this.#core.transactions,
      remote,
      keepsTransport: this.#keepsTransport(),
      credentials: this.#options.credentials,
      build: (authorization) => {
        // Each try is a separate INVITE; the early dialogs of the one before it are gone.
        this.#early.clear()
        if (this.#nextSequence > 1) this.#options.onHeard?.()
        return (this.#latest = this.#build(remote, authorization, this.#nextSequence++))
      },
      response: (response, invite) => {
        if (this.#raise(response)) this.#transmit(remote)
        else this.respond(response, invite)
      },
      sent: (transaction) => {
        this.#wasSent = this.wasSent
        this.#transaction = transaction
      },
      isOver: () => this.#isCancelled(),
    })
    if (this.#cancelHeaders !== undefined) this.#transaction?.cancel(this.#cancelHeaders)
  }

  /** Accepts the interval of a 422, and reports whether to send the INVITE again: RFC 4028 §7.3. */
  #raise(response: SipResponse): boolean {
    const minSeconds = response.status === 422 ? minSeOf(response) : undefined
    const isMet = minSeconds === undefined || minSeconds <= this.#session.seconds
    if (isMet || this.#raises === sessionLimits.maxRaises || this.#isCancelled() || this.#isSettled)
      return false
    this.#raises += 1
    this.#session = { seconds: minSeconds, minSeconds }
    return true
  }

  async #destination(): Promise<Remote | undefined> {
    const { uri, routes = [], destination, contactHost } = this.#options
    if (destination !== undefined) return knownAs(destination, contactHost)
    try {
      return knownAs(await this.#core.resolve(addressed(uri, routes).nextHop), contactHost)
    } catch (error) {
      this.#core.log.debug({ err: error, callId: this.callId }, 'destination of an INVITE cannot be resolved')
      return undefined
    }
  }

  /** Reports whether requests stay on UDP: a binding is reached only by the flow it registered over. */
  #keepsTransport(): boolean {
    const { uri, routes = [] } = this.#options
    const isFlow = this.#remote !== undefined && this.#core.phonesAt(this.#remote).length > 0
    return isFlow || namesDatagrams(addressed(uri, routes).nextHop)
  }

  #build(remote: Remote | undefined, authorization: readonly HeaderField[], sequence: number): SipRequest {
    const { from, to, routes = [], headers = [], body, maxForwards = 70 } = this.#options
    const target = addressed(this.#options.uri, routes)
    return buildRequest({
      method: 'INVITE',
      uri: target.uri,
      headers: [
        ...target.routes.map((value) => ({ name: 'route', value })),
        { name: 'max-forwards', value: String(maxForwards) },
        ...this.#passages,
        { name: 'from', value: `${toAddress(from)};tag=${this.#localTag}` },
        { name: 'to', value: toAddress(to) },
        { name: 'call-id', value: this.callId },
        { name: 'cseq', value: `${sequence} INVITE` },
        ...authorization,
        ...mergeHeaders(
          [
            ...(remote === undefined ? [] : capabilityHeaders(this.#core, remote, this.#contact)).map(
              asClient,
            ),
            ...askFor(this.#session),
          ],
          cleanHeaders(headers),
        ),
      ],
      ...(body === undefined ? {} : { body }),
    })
  }

  /** Opens an early dialog for a provisional response with a tag. Returns false for a copy, or one out of order. */
  #isNews(response: SipResponse, invite: SipRequest): boolean {
    return this.#remote === undefined || this.#early.provisional({ response, invite, source: this.#remote })
  }

  #answered(response: SipResponse, invite: SipRequest): void {
    const remoteTag = tagOf(headerOf(response, 'to')) ?? ''
    const known = this.#forks.get(remoteTag)
    if (known !== undefined) return known.acknowledge(invite)
    if (this.#forks.size >= maxForks) return
    const { credentials, mayReach, user } = this.#options
    // No answer arrives before a request was sent.
    const source = this.#remote
    if (source === undefined) return
    const state = this.#early.confirmed(response) ?? uacDialogState(invite, response)
    const dialog = new EstablishedDialog({
      core: this.#core,
      state,
      flow: { source, isDirect: true, isOurs: true },
      contact: this.#contact,
      keepsTransport: this.#keepsTransport(),
      credentials,
      mayReach,
      guard: user && new DialogGuard(user, response, source),
      description: this.#options.body,
    })
    dialog.established(response)
    this.#forks.set(remoteTag, dialog)
    dialog.acknowledge(invite)
    if (!this.#isSettled && !this.#isCancelled()) {
      return this.#settle({ kind: 'answered', response, dialog })
    }
    // Another fork answered too, or the 200 crossed our CANCEL: RFC 3261 §13.2.2.4 and §9.1.
    void dialog.bye(this.#cancelHeaders ?? [answeredElsewhere])
    this.#settle({ kind: 'refused', response: this.#terminated() })
  }

  #isCancelled(): boolean {
    return this.#cancelHeaders !== undefined
  }

  #terminated(): SipResponse {
    return responseTo(this.#latest, { status: 487 })
  }

  #settle(outcome: InviteOutcome): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#settled.resolve(outcome)
    if (outcome.kind === 'refused') this.#early.stop()
    this.#lingering = this.#core.clock.after(transactionTimeoutMs(this.#core.timers), () => {
      this.#early.clear()
      this.#onGone()
    })
  }
}

function untagged(response: SipResponse): SipResponse {
  return { ...response, status: 502, reason: 'The answer has no To tag', body: new Uint8Array() }
}

/**
 * Returns a URI or an address in <>, so that parameters after it belong to the header field (RFC 3261 §20), and
 * without the parts that route a request: RFC 3261 §19.1.1 table 1 allows no port, transport, maddr, ttl or headers in
 * From and To.
 */
function toAddress(text: string): string {
  const { displayName, uri } = text.includes('<') ? parseNameAddr(text) : { uri: text }
  return serializeNameAddr({ displayName, uri: withoutPlace(uri), params: noParams })
}

const placeParams = new Set(['transport', 'maddr', 'ttl', 'method', 'lr'])

function withoutPlace(text: string): string {
  const uri = parseUri(text)
  if (uri.scheme === 'tel') return text
  const { port: _port, ...rest } = uri
  const params = new Map([...uri.params].filter(([name]) => !placeParams.has(name)))
  return serializeUri({ ...rest, params, headers: new Map() })
}
