// Digest nonces that prove themselves: no memory per challenge, only per nonce in use (RFC 7616 §5.4).
import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import { drawRandom } from '../lib/ids.ts'
import { networkOf } from '../network/network-of.ts'

export type NonceState = 'good' | 'stale' | 'replayed'

/**
 * What a nonce is good for. The port is left out: NAT gives a phone another one at any time, and an address only one that
 * receives there can have got the nonce at.
 */
export interface NonceScope {
  readonly realm: string
  readonly address: string
}

export interface Nonces {
  issue(scope: NonceScope): string
  /**
   * Returns the nonce when it was made here, for this realm and this source, and lately: its sender receives at that
   * address. Marks nothing.
   */
  fresh(nonce: string, scope: NonceScope): FreshNonce | undefined
}

export interface FreshNonce {
  /** `count` is the nc of the credentials, undefined for an RFC 2069 client. Marks the pair as used. */
  use(count: number | undefined): NonceState
}

export interface NoncesOptions {
  readonly clock: Clock
  /** How long after its issue a nonce may be used. Long enough for a user agent that asks its owner for a password. */
  readonly lifetimeMs?: number
  /** Most nonces whose counts are remembered. */
  readonly capacity?: number
}

interface Usage {
  readonly issuedAt: number
  highest: number
  /** Bit n is set when count `highest - n` was seen. */
  seen: number
}

// time (6 bytes) | random (10 bytes) | HMAC-SHA256 over both, the source and the realm, cut to 16 bytes
const timeBytes = 6
const plainBytes = 16
const macBytes = 16
// Requests of one user agent overtake each other by a few, never by more than this.
const windowCounts = 31
// nc is eight hexadecimal digits: RFC 7616 §3.4.
const noCount = 1

export function createNonces({ clock, lifetimeMs = 60_000, capacity = 50_000 }: NoncesOptions): Nonces {
  // As an object: a key of bytes is turned into one at every use, at four times the price of the MAC.
  const key = createSecretKey(randomBytes(32))
  const usages = new Map<string, Usage>()
  // Nonces up to this time of issue are stale, since the memory of their counts may be gone.
  let forgottenUntil = -1

  const macOf = (plain: Uint8Array, { realm, address }: NonceScope): Buffer =>
    createHmac('sha256', key)
      .update(plain)
      .update(`${networkOf(address)} ${realm}`)
      .digest()
      .subarray(0, macBytes)

  const issuedAtOf = (nonce: string, scope: NonceScope): number | undefined => {
    const bytes = Buffer.from(nonce, 'base64url')
    if (bytes.length !== plainBytes + macBytes || bytes.toString('base64url') !== nonce) return undefined
    const plain = bytes.subarray(0, plainBytes)
    if (!timingSafeEqual(macOf(plain, scope), bytes.subarray(plainBytes))) return undefined
    return plain.readUIntBE(0, timeBytes)
  }

  const isExpired = (issuedAt: number): boolean => clock.monotonic() - issuedAt > lifetimeMs

  const forgetOld = (): void => {
    for (const [nonce, usage] of usages) {
      const isOld = isExpired(usage.issuedAt)
      if (!isOld && usages.size <= capacity) return
      if (!isOld) forgottenUntil = Math.max(forgottenUntil, usage.issuedAt)
      usages.delete(nonce)
    }
  }

  const use = (nonce: string, issuedAt: number, count: number): NonceState => {
    // The time may have run out since it was found fresh.
    if (isExpired(issuedAt)) return 'stale'
    const usage = usages.get(nonce)
    if (usage !== undefined) return advance(usage, count) ? 'good' : 'replayed'
    if (issuedAt <= forgottenUntil) return 'stale'
    usages.set(nonce, { issuedAt, highest: count, seen: 1 })
    forgetOld()
    return 'good'
  }

  return {
    issue(scope) {
      const plain = Buffer.from(drawRandom(plainBytes))
      plain.writeUIntBE(Math.floor(clock.monotonic()), 0, timeBytes)
      return Buffer.concat([plain, macOf(plain, scope)]).toString('base64url')
    },
    fresh(nonce, scope) {
      const issuedAt = issuedAtOf(nonce, scope)
      if (issuedAt === undefined || isExpired(issuedAt)) return undefined
      return { use: (count = noCount) => use(nonce, issuedAt, count) }
    },
  }
}

/** Notes a count as seen; false when it was seen before or is too old to tell. */
function advance(usage: Usage, count: number): boolean {
  const ahead = count - usage.highest
  if (ahead > 0) {
    usage.seen = ahead > windowCounts ? 1 : (usage.seen << ahead) | 1
    usage.highest = count
    return true
  }
  if (-ahead > windowCounts) return false
  const bit = 1 << -ahead
  if ((usage.seen & bit) !== 0) return false
  usage.seen |= bit
  return true
}
