// A SIP phone over a WebSocket, as in a browser: sends exactly the frames a test gives it, and keeps what it receives.
import { once } from 'node:events'
import { WebSocket, type ClientOptions } from 'ws'
import { digestResponse } from '../../src/sip/auth/digest.ts'
import type { RawMessage } from './phone.ts'
import type { Tenant } from './platform-process.ts'
import { Inbox } from './wait.ts'

export interface WebSocketPhone {
  readonly socket: WebSocket
  readonly received: Inbox<RawMessage>
  /** The code with which it was closed. */
  readonly closed: Promise<number>
  send(frame: string | Uint8Array): void
  close(): void
}

/** Rejects with the text of the refusal if the WebSocket is refused. */
export async function openWebSocketPhone(
  url: string,
  { protocols = ['sip'], ...options }: ClientOptions & { readonly protocols?: readonly string[] } = {},
): Promise<WebSocketPhone> {
  const socket = new WebSocket(url, [...protocols], { perMessageDeflate: false, ...options })
  const received = new Inbox<RawMessage>()
  socket.on('message', (data: Buffer) => {
    const text = data.toString('utf8')
    received.push({ text, start: text.split('\r\n', 1)[0] ?? '' })
  })
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  const refused = new Promise<never>((_resolve, reject) => {
    socket.once('unexpected-response', (_request, response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        reject(new Error(`${response.statusCode} ${Buffer.concat(chunks).toString()}`))
      })
    })
    socket.once('error', reject)
  })
  refused.catch(() => undefined)
  await Promise.race([once(socket, 'open'), refused])
  socket.on('error', () => undefined)
  return { socket, received, closed, send: (frame) => socket.send(frame), close: () => socket.terminate() }
}

let serial = 0

/** Returns a request as a browser sends it (RFC 7118 §5): its Via and Contact name no real host. */
export function browserRequest(
  method: string,
  uri: string,
  more: Readonly<Record<string, string>> = {},
  body = '',
): string {
  serial += 1
  const fields = {
    Via: `SIP/2.0/WSS browser${serial}.invalid;branch=z9hG4bKws${serial}`,
    From: `<${uri}>;tag=ws${serial}`,
    To: `<${uri}>`,
    'Call-ID': `ws-${process.pid}-${serial}`,
    CSeq: `1 ${method}`,
    'Max-Forwards': '70',
    Contact: `<sip:me${serial}@browser${serial}.invalid;transport=ws>`,
    ...more,
    'Content-Length': String(Buffer.byteLength(body)),
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${uri} SIP/2.0`, ...lines, '', body].join('\r\n')
}

export interface CallWithoutOffer {
  /** The SDP of the 200 response. */
  readonly offer: string
  acknowledge(answer: string): Promise<void>
  /** Closes its WebSocket; the call continues. */
  close(): void
}

/** Calls the application of a tenant with an INVITE without SDP. */
export async function callWithoutOffer(
  url: string,
  { username, realm, password, target }: Tenant,
): Promise<CallWithoutOffer> {
  const phone = await openWebSocketPhone(url)
  const uri = `sip:${target}`
  const common = { From: `<sip:${username}@${realm}>;tag=late`, 'Call-ID': `late-${process.pid}-${serial}` }
  phone.send(browserRequest('INVITE', uri, common))
  const challenge = await phone.received.next('the challenge', ({ start }) => / 40[17] /.test(start))
  const nonce = /nonce="([^"]+)"/.exec(challenge.text)?.[1] ?? ''
  const facts = { username, realm, nonce, uri }
  const input = { ...facts, algorithm: 'MD5', qop: undefined, method: 'INVITE', password } as const
  const said = Object.entries({ ...facts, response: digestResponse(input) })
  const authorization = `Digest ${said.map(([name, value]) => `${name}="${value}"`).join(', ')}`
  phone.send(browserRequest('INVITE', uri, { ...common, CSeq: '2 INVITE', Authorization: authorization }))
  const { text } = await phone.received.next('the answer', ({ start }) => start.includes(' 200 '))
  const [, to = ''] = /^To: *(.*)$/im.exec(text) ?? []
  const [, contact = ''] = /^Contact: *<(.*)>/im.exec(text) ?? []
  return {
    offer: text.slice(text.indexOf('\r\n\r\n') + 4),
    acknowledge: async (answer) => {
      const more = { ...common, To: to, CSeq: '2 ACK', 'Content-Type': 'application/sdp' }
      phone.send(browserRequest('ACK', contact, more, answer))
    },
    close: () => phone.close(),
  }
}
