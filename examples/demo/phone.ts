// The demo's phone: it places one call over SIP and UDP, proves its password, and handles the BYE that ends the call.
import { randomBytes } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import {
  addressed,
  dialogHeaders,
  uacDialogState,
  type DialogState,
} from '../../src/sip/dialog/dialog-state.ts'
import { digestResponse } from '../../src/sip/auth/digest.ts'
import { parseAuthHeader, serializeAuthHeader } from '../../src/sip/message/auth-header.ts'
import { ackFor, buildRequest, responseTo } from '../../src/sip/message/build.ts'
import {
  headerOf,
  type HeaderField,
  type SipMessage,
  type SipRequest,
  type SipResponse,
} from '../../src/sip/message/message.ts'
import { parseMessage } from '../../src/sip/message/parse-message.ts'
import { serializeMessage } from '../../src/sip/message/serialize-message.ts'
import { magicCookie } from '../../src/sip/message/via.ts'
import { catalogue, entryOf, type ErrorCode } from '../../src/lib/errors.ts'
import { openPhoneAudio, type PhoneAudio, type Sound } from './phone-audio.ts'

export interface PhoneOptions {
  /** The platform's SIP address. */
  readonly server: { readonly host: string; readonly port: number }
  readonly realm: string
  readonly username: string
  readonly password: string
}

/** The events of the phone, in order. */
export interface CallEvents {
  readonly onChallenge?: () => void
  readonly onAnswer?: () => void
  /** Runs at each change of the heard sound. The next sound of the same kind counts again after `forgetLastSound`. */
  readonly onSound?: (sound: Sound) => void
}

export interface PhoneCall {
  readonly callId: string
  /** Resolves when the platform has hung up; rejects with the reason when it refuses the call. */
  readonly ended: Promise<void>
  /** Presses keys of the keypad one after another, as RFC 4733 events. */
  press(keys: string): void
  /** Says samples of 16 bits, 8000 a second. Returns how long that takes, in milliseconds. */
  say(samples: Int16Array): number
  forgetLastSound(): void
  /** Hangs up if the call is still up, and releases the sockets. */
  close(): Promise<void>
}

// RFC 3261 §17.1.1.2: T1, and enough doublings for a lost datagram on one machine.
const firstResendMs = 500
const maxResends = 6

const token = (): string => randomBytes(8).toString('hex')

export async function placeCall(options: PhoneOptions, uri: string, events: CallEvents): Promise<PhoneCall> {
  const socket = createSocket('udp4')
  socket.connect(options.server.port, options.server.host)
  await once(socket, 'connect')
  const audio = await openPhoneAudio(socket.address().address, (sound) => events.onSound?.(sound))
  const call = new OutgoingCall(options, uri, events, socket, audio)
  call.begin()
  return call
}

class OutgoingCall implements PhoneCall {
  readonly callId = `${token()}@demo`
  readonly ended: Promise<void>
  readonly #options: PhoneOptions
  readonly #uri: string
  readonly #events: CallEvents
  readonly #socket: Socket
  readonly #audio: PhoneAudio
  readonly #settled = Promise.withResolvers<void>()
  readonly #tag = token()
  #invite: SipRequest
  #ack: SipRequest | undefined
  /** The state of the dialog since the answer: its Contact, and the proxies that added a Record-Route. */
  #dialog: DialogState | undefined
  #isOver = false
  #isClosed = false
  #resend: NodeJS.Timeout | undefined

  constructor(options: PhoneOptions, uri: string, events: CallEvents, socket: Socket, audio: PhoneAudio) {
    this.#options = options
    this.#uri = uri
    this.#events = events
    this.#socket = socket
    this.#audio = audio
    this.ended = this.#settled.promise
    // The caller may await this promise only after it has failed.
    this.ended.catch(() => undefined)
    this.#invite = this.#request('INVITE', uri, 1, `<${uri}>`, { body: audio.offer })
  }

  begin(): void {
    this.#socket.on('message', (bytes) => {
      try {
        this.#receive(parseMessage(bytes))
      } catch (error) {
        this.#fail(error instanceof Error ? error : new Error(String(error)))
      }
    })
    this.#socket.on('error', (cause) => {
      const { host, port } = this.#options.server
      this.#fail(
        new Error(
          `The platform does not accept SIP at ${host}:${port}: SWITCHHOOK_SIP_PORT names its port.`,
          { cause },
        ),
      )
    })
    this.#sendInvite()
  }

  press(keys: string): void {
    this.#audio.press(keys)
  }

  say(samples: Int16Array): number {
    return this.#audio.say(samples)
  }

  forgetLastSound(): void {
    this.#audio.forgetLastSound()
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#resend)
    if (this.#dialog !== undefined && !this.#isOver)
      await this.#send(this.#within(this.#dialog, 'BYE', this.#dialog.localSequence + 1))
    this.#isOver = true
    await this.#audio.close()
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()))
  }

  #receive(message: SipMessage): void {
    if (message.kind === 'request') return this.#serve(message)
    clearTimeout(this.#resend)
    if (headerOf(message, 'cseq') !== headerOf(this.#invite, 'cseq') || message.status < 200) return
    if (message.status < 300) return this.#answered(message)
    void this.#send(ackFor(this.#invite, message))
    if (message.status === 401 && headerOf(this.#invite, 'authorization') === undefined)
      return this.#prove(message)
    this.#fail(new RefusedCall(message, this.callId))
  }

  #serve(request: SipRequest): void {
    if (request.method === 'ACK') return
    void this.#send(responseTo(request, { status: 200 }, { toTag: this.#tag }))
    if (request.method !== 'BYE') return
    this.#isOver = true
    this.#settled.resolve()
  }

  /** Sends the credentials of RFC 7616 §3.4 for the first challenge, which is the one that the platform prefers. */
  #prove(challenge: SipResponse): void {
    this.#events.onChallenge?.()
    const { params } = parseAuthHeader(headerOf(challenge, 'www-authenticate') ?? '')
    const algorithm = params.get('algorithm') === 'SHA-256' ? 'SHA-256' : 'MD5'
    const { username, password } = this.#options
    const realm = params.get('realm') ?? ''
    const nonce = params.get('nonce') ?? ''
    const qop = { cnonce: token(), nc: '00000001' }
    const input = {
      algorithm,
      username,
      realm,
      password,
      method: 'INVITE',
      uri: this.#uri,
      nonce,
      qop,
    } as const
    const credentials = new Map([
      ['username', username],
      ['realm', realm],
      ['nonce', nonce],
      ['uri', this.#uri],
      ['response', digestResponse(input)],
      ['algorithm', algorithm],
      ['qop', 'auth'],
      ['cnonce', qop.cnonce],
      ['nc', qop.nc],
    ])
    const value = serializeAuthHeader({ scheme: 'digest', params: credentials }, 'credentials')
    this.#invite = this.#request('INVITE', this.#uri, 2, `<${this.#uri}>`, {
      headers: [{ name: 'authorization', value }],
      body: this.#audio.offer,
    })
    this.#sendInvite()
  }

  #answered(response: SipResponse): void {
    const isFirst = this.#dialog === undefined
    this.#dialog ??= uacDialogState(this.#invite, response)
    this.#ack ??= this.#within(this.#dialog, 'ACK', this.#dialog.localSequence)
    void this.#send(this.#ack)
    if (!isFirst) return
    this.#audio.hear(Buffer.from(response.body).toString('utf8'))
    this.#events.onAnswer?.()
  }

  /** Returns a request that goes through the proxies of the dialog: RFC 3261 §12.2.1.1. */
  #within(dialog: DialogState, method: string, sequence: number): SipRequest {
    const { uri } = addressed(dialog.remoteTarget, dialog.routeSet)
    const headers = [this.#via(), ...dialogHeaders(dialog, method, sequence), this.#contact()]
    return buildRequest({ method, uri, headers })
  }

  #request(
    method: string,
    uri: string,
    sequence: number,
    to: string,
    { headers = [], body }: { headers?: readonly HeaderField[]; body?: string } = {},
  ): SipRequest {
    const { username, realm } = this.#options
    return buildRequest({
      method,
      uri,
      headers: [
        this.#via(),
        { name: 'max-forwards', value: '70' },
        { name: 'from', value: `<sip:${username}@${realm}>;tag=${this.#tag}` },
        { name: 'to', value: to },
        { name: 'call-id', value: this.callId },
        { name: 'cseq', value: `${sequence} ${method}` },
        this.#contact(),
        ...headers,
      ],
      ...(body === undefined ? {} : { body: { type: 'application/sdp', content: body } }),
    })
  }

  #via(): HeaderField {
    const { address, port } = this.#socket.address()
    return { name: 'via', value: `SIP/2.0/UDP ${address}:${port};branch=${magicCookie}${token()};rport` }
  }

  #contact(): HeaderField {
    const { address, port } = this.#socket.address()
    return { name: 'contact', value: `<sip:${this.#options.username}@${address}:${port}>` }
  }

  #sendInvite(resends = 0): void {
    void this.#send(this.#invite)
    this.#resend = setTimeout(
      () => {
        if (resends < maxResends) return this.#sendInvite(resends + 1)
        const { host, port } = this.#options.server
        this.#fail(new Error(`The platform did not respond to SIP at ${host}:${port}.`))
      },
      firstResendMs * 2 ** resends,
    )
  }

  #send(message: SipMessage): Promise<void> {
    return new Promise((resolve) => this.#socket.send(serializeMessage(message), () => resolve()))
  }

  #fail(error: Error): void {
    clearTimeout(this.#resend)
    this.#isOver = true
    this.#settled.reject(error)
  }
}

/** The platform has refused the call. Its message is complete without the journal, whose cure is often a better one. */
export class RefusedCall extends Error {
  readonly callId: string
  readonly status: number

  constructor(response: SipResponse, callId: string) {
    super(`The platform refused the call: ${refusalText(response)}`)
    this.callId = callId
    this.status = response.status
  }
}

/** Returns the status, the sentence and, if the platform names a code of its catalogue, the cure and the code. */
function refusalText(response: SipResponse): string {
  const sentence = `${response.status} ${headerOf(response, 'x-reason') ?? response.reason}`
  const code = headerOf(response, 'x-reason-code')
  if (code === undefined || !Object.hasOwn(catalogue, code)) return sentence
  return `${sentence}. ${entryOf(code as ErrorCode).cure} (${code})`
}
