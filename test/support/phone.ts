// A scripted UDP peer that sends exactly the bytes a test gives it, however wrong, and keeps what it receives.
import dgram from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Inbox } from './wait.ts'

export interface RawMessage {
  readonly text: string
  /** The status line or request line. */
  readonly start: string
}

export interface RawPhone {
  readonly port: number
  readonly received: Inbox<RawMessage>
  send(datagram: string | Uint8Array): Promise<void>
  close(): Promise<void>
}

export async function openRawPhone(
  target: { readonly address: string; readonly port: number },
  /** The source address: any 127.x.y.z belongs to this machine. */
  address = '127.0.0.1',
): Promise<RawPhone> {
  const socket = dgram.createSocket('udp4')
  const received = new Inbox<RawMessage>()
  socket.on('message', (bytes) => {
    const text = bytes.toString('utf8')
    received.push({ text, start: text.split('\r\n', 1)[0] ?? '' })
  })
  socket.bind(0, address)
  await once(socket, 'listening')
  const { port } = socket.address() as AddressInfo
  return {
    port,
    received,
    send: (datagram) =>
      new Promise((resolve, reject) => {
        socket.send(datagram, target.port, target.address, (error) => (error ? reject(error) : resolve()))
      }),
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}

let serial = 0

/** Returns a well-formed request to start from; `lines` replace or add header fields. */
export function rawRequest(
  method: string,
  uri: string,
  phone: RawPhone,
  lines: readonly string[] = [],
  body = '',
): string {
  serial += 1
  const defaults = [
    `Via: SIP/2.0/UDP 127.0.0.1:${phone.port};branch=z9hG4bKraw${process.pid}x${serial};rport`,
    `From: <sip:raw@127.0.0.1>;tag=raw${serial}`,
    `To: <${uri}>`,
    `Call-ID: raw-${process.pid}-${serial}`,
    `CSeq: 1 ${method}`,
    'Max-Forwards: 70',
    `Contact: <sip:raw@127.0.0.1:${phone.port}>`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  const nameOf = (line: string): string => line.split(':', 1)[0]?.toLowerCase() ?? ''
  const replaced = new Set(lines.map(nameOf))
  const fields = [...defaults.filter((line) => !replaced.has(nameOf(line))), ...lines]
  return [`${method} ${uri} SIP/2.0`, ...fields, '', body].join('\r\n')
}
