// DTLS without ICE (RFC 5763 §6.7.1), by a library that requires ICE: a socket of this machine stands in for the far
// end. It takes that end's part in ICE checks (RFC 8445, RFC 8489), which go no further, and passes on the packets of
// the handshake and those after it.
import { createHmac, randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { crc32 } from 'node:zlib'
import ipaddr from 'ipaddr.js'
import type { FarIce, OwnSide } from './messages.ts'

/** The library's place. */
export interface OwnPort {
  readonly address: string
  readonly port: number
}

export interface StandInOptions {
  readonly own: OwnPort
  readonly onBound: (candidate: string) => void
  /** Called with each packet that the library sends to the far end. */
  readonly onPacket: (packet: Buffer) => void
}

const magicCookie = 0x2112_a442
const headerBytes = 20
const [request, success] = [0x0001, 0x0101]
const [username, integrity, priority, mappedAddress, fingerprint, controlled] = [
  0x0006, 0x0008, 0x0024, 0x0020, 0x8028, 0x8029,
]
// The packets kept before the library has its path: the start of a handshake, which the far end would repeat only
// after a second.
const maxWaiting = 8

export class IceStandIn {
  readonly ice: FarIce = {
    ufrag: randomBytes(6).toString('hex'),
    pwd: randomBytes(16).toString('hex'),
    candidates: [],
  }
  readonly #options: StandInOptions
  readonly #socket
  #library: OwnSide | undefined
  #waiting: Buffer[] | undefined = []

  constructor(options: StandInOptions) {
    const { own, onBound } = options
    this.#options = options
    const socket = createSocket(own.address.includes(':') ? 'udp6' : 'udp4')
    this.#socket = socket
    socket.on('error', () => undefined)
    socket.on('message', (packet, from) => {
      if (from.port === own.port && from.address === own.address) this.#take(packet)
    })
    socket.bind({ address: own.address, port: 0, exclusive: true }, () =>
      onBound(`candidate:1 1 UDP 2122260223 ${own.address} ${socket.address().port} typ host`),
    )
  }

  /** Sets the credentials for checks of the library. */
  greet(library: OwnSide): void {
    this.#library = library
  }

  /** Notes that the library has its path and accepts packets. */
  connected(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const packet of waiting) this.#send(packet)
  }

  /** Passes on a packet of the far end. */
  receive(packet: Buffer): void {
    if (this.#waiting === undefined) this.#send(packet)
    else if (this.#waiting.length < maxWaiting) this.#waiting.push(Buffer.from(packet))
  }

  close(): void {
    this.#socket.close()
  }

  #take(packet: Buffer): void {
    if (packet.length > 0 && packet.readUInt8(0) > 3) return this.#options.onPacket(packet)
    if (packet.length < headerBytes || packet.readUInt16BE(0) !== request) return
    this.#send(this.#toSuccess(packet))
    // The library accepts packets only from a far end that has sent a check of its own.
    if (this.#library !== undefined) this.#send(this.#toRequest(this.#library))
  }

  #toSuccess(asked: Buffer): Buffer {
    const { address, port } = this.#options.own
    const octets = ipaddr.parse(address).toByteArray()
    const head = Buffer.from([0, octets.length === 4 ? 1 : 2, 0, 0])
    head.writeUInt16BE(port ^ (magicCookie >>> 16), 2)
    // XORed, so that a NAT that rewrites addresses does not find it: RFC 8489 §14.2.
    const mask = asked.subarray(4, headerBytes)
    const masked = Buffer.from(octets.map((octet, index) => octet ^ (mask[index] ?? 0)))
    const value = Buffer.concat([head, masked])
    return toMessage(success, asked.subarray(8, headerBytes), [[mappedAddress, value]], this.ice.pwd)
  }

  #toRequest({ ufrag, pwd }: OwnSide): Buffer {
    const rank = Buffer.alloc(4)
    rank.writeUInt32BE(1_845_501_695, 0)
    const attributes: Attribute[] = [
      [username, Buffer.from(`${ufrag}:${this.ice.ufrag}`)],
      [priority, rank],
      [controlled, randomBytes(8)],
    ]
    return toMessage(request, randomBytes(12), attributes, pwd)
  }

  #send(packet: Buffer): void {
    const { address, port } = this.#options.own
    this.#socket.send(packet, port, address, () => undefined)
  }
}

type Attribute = readonly [type: number, value: Buffer]

/**
 * Returns a message with integrity and fingerprint. Each covers what precedes it, under a length that includes the
 * attribute itself: RFC 8489 §14.5 and §14.7.
 */
function toMessage(type: number, id: Buffer, attributes: readonly Attribute[], key: string): Buffer {
  const body = Buffer.concat(attributes.map(toAttribute))
  const header = (bytes: number): Buffer => {
    const head = Buffer.alloc(8)
    head.writeUInt16BE(type, 0)
    head.writeUInt16BE(bytes, 2)
    head.writeUInt32BE(magicCookie, 4)
    return Buffer.concat([head, id])
  }
  const mac = createHmac('sha1', key)
    .update(header(body.length + 24))
    .update(body)
    .digest()
  const authentic = Buffer.concat([body, toAttribute([integrity, mac])])
  const whole = Buffer.concat([header(authentic.length + 8), authentic])
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE((crc32(whole) ^ 0x5354_554e) >>> 0, 0)
  return Buffer.concat([whole, toAttribute([fingerprint, sum])])
}

function toAttribute([type, value]: Attribute): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt16BE(type, 0)
  head.writeUInt16BE(value.length, 2)
  return Buffer.concat([head, value, Buffer.alloc((4 - (value.length % 4)) % 4)])
}
