// Messages in the event stream encoding of AWS: named headers and a payload, with checksums around both.
import { crc32 } from 'node:zlib'

export interface EventMessage {
  readonly headers: Readonly<Record<string, string>>
  readonly payload: Buffer
}

const preludeBytes = 12
const checksumBytes = 4
const textType = 7

//  0        4          8           12                                     -4
//  +--------+----------+-----------+------------------------------+--------+----------+
//  | length | headers  | checksum  | headers: length of name, name,| payload| checksum |
//  |        | length   | of these  | type 7, length16, text ...    |        | of all   |
//  +--------+----------+-----------+------------------------------+--------+----------+
export function encodeEvent({ headers, payload }: EventMessage): Buffer<ArrayBuffer> {
  const head = Buffer.concat(Object.entries(headers).map(([name, text]) => encodeHeader(name, text)))
  const length = preludeBytes + head.length + payload.length + checksumBytes
  const message = Buffer.alloc(length)
  message.writeUInt32BE(length, 0)
  message.writeUInt32BE(head.length, 4)
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8)
  head.copy(message, preludeBytes)
  payload.copy(message, preludeBytes + head.length)
  message.writeUInt32BE(crc32(message.subarray(0, length - checksumBytes)), length - checksumBytes)
  return message
}

/** Returns undefined for bytes that are not one whole message. */
export function decodeEvent(message: Buffer): EventMessage | undefined {
  const { length } = message
  if (length < preludeBytes + checksumBytes || message.readUInt32BE(0) !== length) return undefined
  if (message.readUInt32BE(length - checksumBytes) !== crc32(message.subarray(0, length - checksumBytes)))
    return undefined
  const headersEnd = preludeBytes + message.readUInt32BE(4)
  if (headersEnd > length - checksumBytes) return undefined
  const headers: Record<string, string> = {}
  let at = preludeBytes
  while (at < headersEnd) {
    const nameEnd = at + 1 + message.readUInt8(at)
    // Refuses lengths that lead out of the headers, and types that AWS does not send here.
    if (nameEnd + 3 > headersEnd || message.readUInt8(nameEnd) !== textType) return undefined
    const textEnd = nameEnd + 3 + message.readUInt16BE(nameEnd + 1)
    if (textEnd > headersEnd) return undefined
    headers[message.toString('utf8', at + 1, nameEnd)] = message.toString('utf8', nameEnd + 3, textEnd)
    at = textEnd
  }
  return { headers, payload: message.subarray(headersEnd, length - checksumBytes) }
}

function encodeHeader(name: string, text: string): Buffer {
  const header = Buffer.alloc(1 + Buffer.byteLength(name) + 3 + Buffer.byteLength(text))
  const nameEnd = 1 + header.write(name, 1)
  header.writeUInt8(nameEnd - 1, 0)
  header.writeUInt8(textType, nameEnd)
  header.writeUInt16BE(Buffer.byteLength(text), nameEnd + 1)
  header.write(text, nameEnd + 3)
  return header
}
