// The far end of one RTP stream on loopback: offers, records what it hears, sends packets of silence and keys.
import { randomBytes } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { createLaws, type Law } from '../../src/media/codecs/g711.ts'
import { parseRtp, type RtpPacket } from '../../src/media/rtp/packet.ts'
import type { Audio } from './audio.ts'
import { Inbox, within } from './wait.ts'

export interface Heard extends RtpPacket {
  readonly atMs: number
  readonly from: number
  readonly fromAddress: string
}

export interface OfferOptions {
  readonly payloads?: string
  readonly lines?: readonly string[]
  /** A wrong address for the SDP, as phones behind NAT send it. */
  readonly address?: string
}

const laws = createLaws()

async function bound(address: string): Promise<Socket> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.bind(0, address, resolve)
  })
  return socket
}

export class RtpPeer {
  readonly heard = new Inbox<Heard>()
  readonly reports = new Inbox<Buffer>()
  readonly #rtp: Socket
  readonly #rtcp: Socket
  readonly #address: string
  #sequence = 1000
  #timestamp = 160_000
  readonly ssrc = randomBytes(4).readUInt32BE()

  private constructor(address: string, rtp: Socket, rtcp: Socket) {
    this.#address = address
    this.#rtp = rtp
    this.#rtcp = rtcp
    rtp.on('message', (datagram: Buffer, from) => {
      const packet = parseRtp(datagram)
      if (packet !== undefined)
        this.heard.push({ ...packet, atMs: performance.now(), from: from.port, fromAddress: from.address })
    })
    rtcp.on('message', (datagram: Buffer) => this.reports.push(datagram))
  }

  /** Opens a peer at an address of this machine: a phone and a stranger have different ones. */
  static async open(address = '127.0.0.1'): Promise<RtpPeer> {
    return new RtpPeer(address, await bound(address), await bound(address))
  }

  get #loopback(): string {
    return this.#address.includes(':') ? '::1' : '127.0.0.1'
  }

  get port(): number {
    return this.#rtp.address().port
  }

  get rtcpPort(): number {
    return this.#rtcp.address().port
  }

  offer({ payloads = '0 8 101', lines = [], address = this.#address }: OfferOptions = {}): string {
    const version = address.includes(':') ? 'IP6' : 'IP4'
    return [
      'v=0',
      'o=peer 1 1 IN IP4 127.0.0.1',
      's=-',
      `c=IN ${version} ${address}`,
      't=0 0',
      `m=audio ${this.port} RTP/AVP ${payloads}`,
      'a=rtpmap:0 PCMU/8000',
      'a=rtpmap:8 PCMA/8000',
      'a=rtpmap:101 telephone-event/8000',
      'a=fmtp:101 0-15',
      `a=rtcp:${this.rtcpPort}`,
      ...lines,
      '',
    ].join('\r\n')
  }

  /** Sends one packet of 20 ms, silence by default. */
  send(to: number, { payloadType = 0, payload = Buffer.alloc(160, 0xff), ssrc = this.ssrc } = {}): void {
    this.#timestamp += 160
    this.#packet(to, { payloadType, payload, ssrc, marker: false, timestamp: this.#timestamp })
  }

  /** Sends one key of `ticks` packets, its end three times. */
  press(to: number, event: number, ticks: number, payloadType = 101): void {
    this.#timestamp += 1600
    for (let tick = 1; tick <= ticks + 2; tick += 1) {
      const payload = Buffer.from([event, tick >= ticks ? 0x8a : 0x0a, 0, 0])
      payload.writeUInt16BE(Math.min(tick, ticks) * 160, 2)
      const marker = tick === 1
      this.#packet(to, { payloadType, payload, ssrc: this.ssrc, marker, timestamp: this.#timestamp })
    }
    this.#timestamp += (ticks + 2) * 160
  }

  sendReport(to: number, packet: Buffer): void {
    this.#rtcp.send(packet, to, this.#loopback)
  }

  /** Returns what was heard, decoded, in the order of sending. Ticks that a busy machine skipped leave no gap. */
  audio(law: Law, payloadType: number): Audio {
    const packets = this.heard.items.filter((packet) => packet.payloadType === payloadType)
    const first = packets[0]?.sequence ?? 0
    const ordered = packets.sort((a, b) => ((a.sequence - first) & 0xffff) - ((b.sequence - first) & 0xffff))
    const octets = Buffer.concat(ordered.map(({ payload }) => payload))
    return {
      sampleRate: 8000,
      samples: Float64Array.from(octets, (octet) => (laws[law].decode[octet] ?? 0) / 32_768),
    }
  }

  /** Resolves when all packets that had reached the port by now have been read. */
  async caughtUp(): Promise<void> {
    // The mark is too short for RTP. Datagrams on one port are read in the order of their arrival.
    const mark = Buffer.from([0])
    const marked = new Promise<void>((resolve) => {
      const look = (datagram: Buffer): void => {
        if (!datagram.equals(mark)) return
        this.#rtp.off('message', look)
        resolve()
      }
      this.#rtp.on('message', look)
    })
    this.#rtp.send(mark, this.port, this.#address)
    await within('the peer to have caught up', 10_000, marked)
  }

  async close(): Promise<void> {
    const closed = [this.#rtp, this.#rtcp].map(
      (socket) => new Promise<void>((resolve) => socket.close(() => resolve())),
    )
    await Promise.all(closed)
  }

  #packet(
    to: number,
    fields: { payloadType: number; payload: Buffer; ssrc: number; marker: boolean; timestamp: number },
  ): void {
    const header = Buffer.alloc(12)
    header.writeUInt8(0x80, 0)
    header.writeUInt8((fields.marker ? 0x80 : 0) | fields.payloadType, 1)
    header.writeUInt16BE(this.#sequence & 0xffff, 2)
    header.writeUInt32BE(fields.timestamp, 4)
    header.writeUInt32BE(fields.ssrc, 8)
    this.#sequence += 1
    this.#rtp.send(Buffer.concat([header, fields.payload]), to, this.#loopback)
  }
}
