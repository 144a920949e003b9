// A far end that is called by its SIP URI: it responds to every request with 200, and to an INVITE with the SDP of an
// RTP peer. It sends no packet by itself.
import { createSocket } from 'node:dgram'
import { RtpPeer, type OfferOptions } from './rtp-peer.ts'
import { Inbox } from './wait.ts'

export interface SipCallee {
  readonly uri: string
  readonly port: number
  readonly requests: Inbox<string>
  readonly rtp: RtpPeer
  close(): Promise<void>
}

/** Returns the value of a header field; empty if there is none. */
export const fieldOf = (message: string, name: string): string =>
  new RegExp(`^${name}:[ \\t]*(.*?)\\r?$`, 'im').exec(message)?.[1] ?? ''

export async function startCallee(address: string, sdp: OfferOptions = {}): Promise<SipCallee> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  await new Promise<void>((resolve) => socket.bind(0, address, resolve))
  const rtp = await RtpPeer.open(address)
  const requests = new Inbox<string>()
  const { port } = socket.address()
  const host = `${address.includes(':') ? `[${address}]` : address}:${port}`
  socket.on('message', (datagram, from) => {
    const request = datagram.toString('utf8')
    requests.push(request)
    if (request.startsWith('ACK')) return
    const body = request.startsWith('INVITE') ? rtp.offer({ payloads: '0 101', ...sdp }) : ''
    const answer = [
      'SIP/2.0 200 OK',
      ...['Via', 'From', 'Call-ID', 'CSeq'].map((name) => `${name}: ${fieldOf(request, name)}`),
      `To: ${fieldOf(request, 'To')}${fieldOf(request, 'To').includes('tag=') ? '' : ';tag=callee'}`,
      `Contact: <sip:bob@${host}>`,
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n')
    socket.send(answer, from.port, from.address)
  })
  return {
    uri: `sip:bob@${host}`,
    port,
    requests,
    rtp,
    async close() {
      socket.close()
      await rtp.close()
    },
  }
}
