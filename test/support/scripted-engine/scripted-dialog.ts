// A dialog of the scripted stack.
import type { HeaderField, SipResponse } from '../../../src/sip/message/message.ts'
import type {
  LeftDialog,
  Dialog,
  DialogFailure,
  DialogListener,
  OfferWish,
  ReferWish,
} from '../../../src/sip/sip.ts'
import { sipRequest, sipResponse } from './scripted-messages.ts'

export interface SentRequest {
  readonly method: string
  readonly options: NonNullable<Parameters<Dialog['request']>[1]>
}

export class ScriptedDialog implements Dialog {
  readonly callId: string
  readonly localTag = 'l1'
  readonly remoteTag = 'f1'
  /** The headers of the BYE we sent; undefined before it. */
  sentBye: readonly HeaderField[] | undefined
  readonly requests: SentRequest[] = []
  /** The targets of our REFERs. */
  readonly referred: ReferWish[] = []
  /** Returns the far end's response to our request. */
  responds: (request: SentRequest) => SipResponse | Promise<SipResponse> = () => sipResponse(200)
  /** The descriptions that were offered during the call. */
  readonly offers: string[] = []
  /** Returns the far end's response to an offer. */
  answers: (offer: string) => SipResponse | Promise<SipResponse> = (offer) =>
    sipResponse(200, { body: `v=0 answer to ${offer.slice(4)}` })
  #listener: DialogListener | undefined
  #isOver = false

  constructor(callId: string) {
    this.callId = callId
  }

  get listener(): DialogListener {
    if (this.#listener === undefined) throw new Error('the dialog has no listener')
    return this.#listener
  }

  left(): LeftDialog {
    const { callId } = this
    const to = { transport: 'udp', address: '127.0.0.1', port: 5060 } as const
    return {
      callId,
      local: '',
      remote: '',
      routeSet: [],
      remoteTarget: 'sip:far@127.0.0.1',
      localSequence: 1,
      to,
    }
  }

  listen(listener: DialogListener): void {
    this.#listener = listener
  }

  async request(method: string, options: SentRequest['options'] = {}): Promise<SipResponse> {
    const { body } = options
    if (method === 'INVITE' && body !== undefined) return this.reoffer({ offer: () => body })
    this.requests.push({ method, options })
    return this.responds({ method, options })
  }

  refer(wish: ReferWish): Promise<SipResponse> {
    this.referred.push(wish)
    return this.request('REFER', { headers: wish.headers ?? [] })
  }

  async reoffer({ offer }: OfferWish): Promise<SipResponse> {
    const { content } = offer()
    this.offers.push(String(content))
    return this.answers(String(content))
  }

  retryDelayMs({ status }: SipResponse): number | undefined {
    return status === 491 ? 1000 : undefined
  }

  async bye(headers: readonly HeaderField[] = []): Promise<void> {
    if (this.sentBye !== undefined) return
    this.sentBye = headers
    await Promise.resolve()
  }

  get isListenedTo(): boolean {
    return this.#listener !== undefined
  }

  /** Whether either side has sent a BYE, or the dialog was lost. */
  get isOver(): boolean {
    return this.#isOver || this.sentBye !== undefined
  }

  /** Receives a BYE from the far end, which may cross ours on the wire. */
  hangUp(headers: readonly HeaderField[] = []): void {
    if (this.#isOver || this.#listener === undefined) return
    this.#isOver = true
    this.listener.ended(sipRequest('BYE', { headers }))
  }

  fail(reason: DialogFailure): void {
    if (this.#isOver || this.#listener === undefined) return
    this.#isOver = true
    this.listener.failed(reason, '<sip:app@203.0.113.1:5060>')
  }
}
