// Identifiers and random tokens. All random values that the platform shows or sends are made here.
import { hash, randomBytes, randomFillSync, randomUUID } from 'node:crypto'

/**
 * Returns the id of a record, a call or a request: a lower-case UUID that begins with the time (epoch ms), so that new
 * rows lie beside each other in every index. It reveals too much for a secret. Why it reads as version 4:
 * docs/decisions/0012-ids-begin-with-the-time.md.
 */
export function createSid(): string {
  // Deviation from RFC 9562 §5.4: the first 48 bits are not random; the other 74 are.
  const time = Date.now().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}${randomUUID().slice(13)}`
}

/** Returns the same id for the same text on every node: for rows that several would write at the same time. */
export function sidOf(text: string): string {
  const hex = hash('sha256', text)
  // The bits of version 4 and its variant (RFC 9562 §5.4), as in all ids.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Returns a lower-case UUID v4 (RFC 9562 §5.4) that cannot be guessed, for API keys. */
export function randomUuid(): string {
  return randomUUID()
}

const sidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isSid(value: string): boolean {
  return sidPattern.test(value)
}

/**
 * Returns the trace that a call begins: its sid as 32 hex digits (W3C Trace Context §3.2.2.3), so that either finds the
 * other.
 */
export function traceIdOf(call_sid: string): string {
  return call_sid.replaceAll('-', '')
}

/**
 * Returns the B3 header of a message about a call, `<trace>-<span>-1`. Each message is a span of the trace of its leg,
 * named by the last 16 hex digits of its id.
 */
export function b3Of(call_sid: string, messageId: string): string {
  return `${traceIdOf(call_sid)}-${messageId.replaceAll(/[^\da-f]/g, '').slice(-16)}-1`
}

/** Returns the call that began a trace; undefined if the text is not a trace id. */
export function callSidOfTrace(trace_id: string): string | undefined {
  const parts = /^(\w{8})(\w{4})(\w{4})(\w{4})(\w{12})$/.exec(trace_id.toLowerCase())
  const call_sid = parts?.slice(1).join('-')
  return call_sid !== undefined && isSid(call_sid) ? call_sid : undefined
}

/** Returns `bytes` random bytes as lower-case hex, for tags, branches and nonces. */
export function randomHex(bytes: number): string {
  return drawRandom(bytes).toString('hex')
}

// Getting a few bytes from the system costs twenty times as much as cutting them off a larger piece.
const pooledBytes = 4096
let pool = Buffer.alloc(0)
let drawn = 0

/** Returns random bytes, never drawn twice. They are a view that changes later: copy or convert them immediately. */
export function drawRandom(bytes: number): Buffer {
  if (bytes > pooledBytes / 8) return randomBytes(bytes)
  if (drawn + bytes > pool.length) {
    pool = randomFillSync(Buffer.alloc(pooledBytes))
    drawn = 0
  }
  drawn += bytes
  return pool.subarray(drawn - bytes, drawn)
}

/** Returns a key that signs the requests to an account's hooks. */
export function createWebhookSecret(): string {
  return `wh_secret_${randomToken(16)}`
}

/**
 * Returns `bytes` random bytes as URL-safe text, for generated passwords and secrets. It begins with no hyphen: commands
 * would take it for an option.
 */
export function randomToken(bytes: number): string {
  for (;;) {
    const token = randomBytes(bytes).toString('base64url')
    if (!token.startsWith('-')) return token
  }
}
