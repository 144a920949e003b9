// The thread of `startEndlessServer`: the path of a request names what it sends, without end.
import { createHash } from 'node:crypto'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { parentPort } from 'node:worker_threads'
import type { EndlessKind } from './endless-server.ts'

interface Sent {
  /** The bytes before those that repeat. */
  readonly first: string | Buffer
  readonly again: string | Buffer
}

const ok = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`

/** Returns one frame of a server (RFC 6455 §5.2). */
function frame(firstByte: number, payload = Buffer.alloc(0)): Buffer {
  const { length } = payload
  const lengths = length < 126 ? [length] : [126, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([firstByte, ...lengths]), payload])
}

const texts = Buffer.concat(Array.from({ length: 30_000 }, () => frame(0x81)))

const kinds: Readonly<Record<EndlessKind, Sent>> = {
  trailers: { first: `${chunked}2\r\n[]\r\n0\r\n`, again: 't: x\r\n'.repeat(5000) },
  headers: { first: ok, again: 'x-1: y\r\n'.repeat(5000) },
  'a long header': { first: `${ok}x: `, again: 'a'.repeat(65_536) },
  'a long reason': { first: 'HTTP/1.1 200 ', again: 'a'.repeat(65_536) },
  'line ends': { first: '', again: '\r\n'.repeat(20_000) },
  'chunks of one byte': { first: chunked, again: '1\r\n \r\n'.repeat(10_000) },
  'a chunk extension': { first: `${chunked}1;`, again: 'a'.repeat(65_536) },
  'chunk extensions': { first: chunked, again: '1;abcd=efgh\r\n \r\n'.repeat(4000) },
  'a chunk size': { first: chunked, again: '0'.repeat(65_536) },
  'interim responses': { first: '', again: 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(1000) },
  'long interim responses': {
    first: '',
    again: `HTTP/1.1 103 Early Hints\r\n${'x-1: yyyyyyyyyyyyyyyyyyyy\r\n'.repeat(300)}\r\n`.repeat(20),
  },
  'a body': { first: `${ok}content-length: 99999999999\r\n\r\n`, again: ' '.repeat(65_536) },
  'fragments of a message': {
    first: frame(0x01, Buffer.from('{')),
    again: Buffer.concat(Array.from({ length: 30_000 }, () => frame(0x00))),
  },
  'a message that is too long': { first: frame(0x81, Buffer.alloc(30_000, 32)), again: texts },
  'a message of 2^63 bytes': {
    first: Buffer.from([0x81, 127, 127, 255, 255, 255, 255, 255, 255, 255]),
    again: texts,
  },
  'text that is not UTF-8': { first: frame(0x81, Buffer.from([0xff, 0xff])), again: texts },
  'frames with reserved bits': { first: frame(0xf1), again: texts },
  'frames of no known kind': { first: frame(0x83), again: texts },
  'a masked frame': { first: Buffer.from([0x81, 0x80, 0, 0, 0, 0]), again: texts },
  'frames after its close': { first: frame(0x88, Buffer.from([3, 232])), again: texts },
  'frames after our close': { first: '', again: texts },
}

/** Returns the code of the close frame that these masked bytes begin with; undefined if they begin with none. */
function closeCodeOf(bytes: Buffer): number | undefined {
  if (bytes[0] !== 0x88 || bytes.length < 8) return undefined
  return bytes.readUInt16BE(6) ^ bytes.readUInt16BE(2)
}

/** Sends the first bytes, and the others over and over, as fast as they are read. */
function sendEndlessly(socket: Socket, { first, again }: Sent): void {
  const bytes = Buffer.from(again)
  const send = (): void => {
    if (socket.destroyed) return
    if (socket.write(bytes)) setImmediate(send)
    else socket.once('drain', send)
  }
  if (first.length > 0) socket.write(first)
  send()
}

// A reader that has ended its side is still sent to.
const server = createServer({ allowHalfOpen: true }, (socket) => {
  socket.on('error', () => undefined)
  let request = ''
  let kind: EndlessKind | undefined
  let isWaiting = false
  socket.on('data', (bytes) => {
    const code = closeCodeOf(bytes)
    if (code !== undefined) parentPort?.postMessage({ kind, code })
    if (kind !== undefined && isWaiting && code !== undefined) {
      isWaiting = false
      sendEndlessly(socket, kinds[kind])
    }
    if (kind !== undefined) return
    request += bytes.toString('latin1')
    const [head] = request.split('\r\n\r\n', 1)
    if (head === undefined || head.length === request.length) return
    const [, path = ''] = /^\S+ \/(\S*)/.exec(head) ?? []
    kind = decodeURIComponent(path) as EndlessKind
    const [, key] = /^sec-websocket-key: (\S+)/im.exec(head) ?? []
    isWaiting = kind === 'frames after our close'
    if (key !== undefined && (isWaiting || kinds[kind].first instanceof Buffer)) accept(socket, key)
    if (!isWaiting) sendEndlessly(socket, kinds[kind])
  })
})

/** Accepts the handshake of a WebSocket (RFC 6455 §4.2.2). */
function accept(socket: Socket, key: string): void {
  const digest = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${digest}\r\n\r\n`,
  )
}

server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port))
