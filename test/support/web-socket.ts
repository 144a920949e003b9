// A small WebSocket server on loopback for tests (RFC 6455 §5.2): unfragmented messages, no extensions.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { listenLocally, type LocalServer } from './local-http.ts'

export interface ServedSocket {
  readonly request: IncomingMessage
  send(message: string | Buffer): void
  close(code?: number): void
  /** Cuts the connection without a close frame. */
  cut(): void
}

export interface WebSocketHandlers {
  /** Returns the status that refuses the handshake, if any. */
  readonly refuse?: (request: IncomingMessage) => number | undefined
  readonly open?: (socket: ServedSocket) => void
  readonly message?: (message: string | Buffer, socket: ServedSocket) => void
}

const text = 1
const binary = 2
const closing = 8

export function serveWebSockets(handlers: WebSocketHandlers): Promise<LocalServer> {
  const server = createServer()
  server.on('upgrade', (request: IncomingMessage, stream: Duplex) => {
    const refusal = handlers.refuse?.(request)
    if (refusal !== undefined) return void stream.end(`HTTP/1.1 ${refusal} No\r\ncontent-length: 0\r\n\r\n`)
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64')
    stream.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
    )
    const socket: ServedSocket = {
      request,
      send: (message) =>
        void stream.write(frame(typeof message === 'string' ? text : binary, Buffer.from(message))),
      close(code = 1000) {
        const reason = Buffer.alloc(2)
        reason.writeUInt16BE(code)
        stream.end(frame(closing, reason))
      },
      cut: () => void stream.destroy(),
    }
    let pending = Buffer.alloc(0)
    stream.on('error', () => {})
    // Both sides of the connection end together, as in a server of HTTP they would not.
    stream.on('end', () => stream.end())
    stream.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk])
      for (;;) {
        const read = readFrame(pending)
        if (read === undefined) return
        pending = pending.subarray(read.bytes)
        if (read.opcode === closing) return void stream.end(frame(closing, read.payload))
        handlers.message?.(read.opcode === text ? read.payload.toString() : read.payload, socket)
      }
    })
    handlers.open?.(socket)
  })
  return listenLocally(server)
}

function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload
  if (length < 126) return Buffer.concat([Buffer.from([0x80 | opcode, length]), payload])
  const head = Buffer.alloc(length < 65_536 ? 4 : 10)
  head.writeUInt8(0x80 | opcode, 0)
  head.writeUInt8(length < 65_536 ? 126 : 127, 1)
  if (length < 65_536) head.writeUInt16BE(length, 2)
  else head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, payload])
}

/** Returns undefined until the whole frame has arrived. A client's frames are masked. */
function readFrame(bytes: Buffer) {
  if (bytes.length < 2) return undefined
  const short = bytes.readUInt8(1) & 0x7f
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
  const start = 2 + lengthBytes + 4
  if (bytes.length < start) return undefined
  const length =
    short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short
  if (bytes.length < start + length) return undefined
  const mask = bytes.subarray(start - 4, start)
  const payload = Buffer.from(bytes.subarray(start, start + length))
  for (let at = 0; at < length; at++) payload[at]! ^= mask[at % 4]!
  return { opcode: bytes.readUInt8(0) & 0x0f, payload, bytes: start + length }
}
