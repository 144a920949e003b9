// Signatures of DNS messages with a shared secret: RFC 8945, with hmac-sha256.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { encodeName, encodeRecord, readName, types, uint16, type Reply } from './message.ts'

export interface TsigKey {
  readonly name: string
  readonly secret: Buffer
}

const algorithm = 'hmac-sha256'
const macBytes = 32
const anyClass = 255
// Recommended by RFC 8945 §10.
const fudgeSeconds = 300

export interface Signed {
  readonly bytes: Buffer
  readonly mac: Buffer
}

/** Returns the message with its signature as the last record. */
export function sign(message: Buffer, key: TsigKey, nowMs: number): Signed {
  const time = timeSigned(Math.floor(nowMs / 1000))
  const mac = hmac(key, [message, variables(key.name, time, fudgeSeconds, 0, nothing)])
  const data = Buffer.concat([
    encodeName(algorithm),
    time,
    uint16(fudgeSeconds),
    uint16(mac.length),
    mac,
    message.subarray(0, 2),
    uint16(0),
    uint16(0),
  ])
  const bytes = Buffer.concat([message, encodeRecord(key.name, types.tsig, anyClass, 0, data)])
  bytes.writeUInt16BE(message.readUInt16BE(10) + 1, 10)
  return { bytes, mac }
}

/** Checks a response, whose signature covers that of the request: RFC 8945 §5.3. */
export function isAuthentic(
  bytes: Buffer,
  { signature }: Reply,
  request: Signed,
  key: TsigKey,
  nowMs: number,
): boolean {
  if (signature === undefined || signature.name !== key.name.toLowerCase()) return false
  const fields = parseSignature(signature.data)
  if (fields === undefined || fields.algorithm !== algorithm || fields.mac.length !== macBytes) return false
  const unsigned = Buffer.from(bytes.subarray(0, signature.at))
  unsigned.writeUInt16BE(unsigned.readUInt16BE(10) - 1, 10)
  fields.originalId.copy(unsigned, 0)
  const { time, fudge, error, other } = fields
  const expected = hmac(key, [
    uint16(request.mac.length),
    request.mac,
    unsigned,
    variables(key.name, time, fudge, error, other),
  ])
  const isOnTime = Math.abs(time.readUIntBE(0, 6) - nowMs / 1000) <= fudge
  return timingSafeEqual(expected, fields.mac) && isOnTime
}

/** Returns the reason why the server did not accept the signature, or undefined if there is none: RFC 8945 §3. */
export function signatureError({ signature }: Reply): 'key' | 'signature' | 'time' | undefined {
  const error = signature === undefined ? 0 : (parseSignature(signature.data)?.error ?? 0)
  return ({ 16: 'signature', 17: 'key', 18: 'time' } as const)[error]
}

interface SignatureFields {
  readonly algorithm: string
  readonly time: Buffer
  readonly fudge: number
  readonly mac: Buffer
  readonly originalId: Buffer
  readonly error: number
  readonly other: Buffer
}

function parseSignature(data: Buffer): SignatureFields | undefined {
  try {
    const { name, end } = readName(data, 0)
    const macEnd = end + 10 + data.readUInt16BE(end + 8)
    const otherLength = data.readUInt16BE(macEnd + 4)
    return {
      algorithm: name,
      time: data.subarray(end, end + 6),
      fudge: data.readUInt16BE(end + 6),
      mac: data.subarray(end + 10, macEnd),
      originalId: data.subarray(macEnd, macEnd + 2),
      error: data.readUInt16BE(macEnd + 2),
      other: data.subarray(macEnd + 6, macEnd + 6 + otherLength),
    }
  } catch {
    // The data is shorter than its lengths.
    return undefined
  }
}

const nothing = Buffer.alloc(0)

/** Returns the signed variables: RFC 8945 §4.3.3. */
function variables(name: string, time: Buffer, fudge: number, error: number, other: Buffer): Buffer {
  const ttl = Buffer.alloc(4)
  const head = [encodeName(name), uint16(anyClass), ttl, encodeName(algorithm), time]
  return Buffer.concat([...head, uint16(fudge), uint16(error), uint16(other.length), other])
}

function hmac({ secret }: TsigKey, parts: readonly Buffer[]): Buffer {
  return createHmac('sha256', secret).update(Buffer.concat(parts)).digest()
}

function timeSigned(seconds: number): Buffer {
  const bytes = Buffer.alloc(6)
  bytes.writeUIntBE(seconds, 0, 6)
  return bytes
}
