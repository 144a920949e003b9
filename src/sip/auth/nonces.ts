// Digest nonces that carry their own proof: memory is used per nonce in use, not per challenge (RFC 7616 §5.4).
import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { drawRandom } from '../../lib/ids.ts'
import { networkOf } from '../../network/network-of.ts'

export type NonceState = 'good' | 'stale' | 'replayed'

/**
 * The realm and source address of a nonce. The port is left out: NAT gives a phone another one at any time, and only a
 * host that receives at the address can have the nonce.
 */
export interface NonceScope {
  readonly realm: string
  readonly address: string
}

export interface Nonces {
  issue(scope: NonceScope): string
  /**
   * Returns the nonce if it was made here, for this realm and this source, and lately: then its sender receives at
   * that address. Does not mark it as used.
   */
  fresh(nonce: string, scope: NonceScope): FreshNonce | undefined
}

export interface FreshNonce {
  /** Marks the nonce as used with `count`, the nc of the credentials; undefined for an RFC 2069 client. */
  use(count: number | undefined): NonceState
}

export interface NoncesOptions {
  readonly clock: Clock
  /**
   * The time that a nonce may be used after its issue. Long enough for a user agent that prompts its owner for a
   * password.
   */
  readonly lifetimeMs?: number
  /** The most nonces whose counts are remembered. */
  readonly capacity?: number
}

interface Usage {
  readonly issuedAt: number
  highest: number
  /** Bit n is set if count `highest - n` was seen. */
  seen: number
}

// Layout: time (6 bytes) | random (10 bytes) | HMAC-SHA256 over both, the source and the realm, cut to 16 bytes
const timeBytes = 6
const plainBytes = 16
const macBytes = 16
// Requests of one user agent may arrive out of order by a few counts, never by more than this.
const windowCounts = 31
// The count of credentials without nc; nc is eight hexadecimal digits: RFC 7616 §3.4.
const noCount = 1

export function createNonces({ clock, lifetimeMs = 60_000, capacity = 50_000 }: NoncesOptions): Nonces {
  // A KeyObject: raw bytes would be converted to one at every use, at four times the price of the MAC.
  const key = createSecretKey(randomBytes(32))
  const usages = new Map<string, Usage>()
  // Nonces issued up to this time are stale, since their counts may have been forgotten.
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
    // The nonce may have expired since `fresh` returned it.
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

/** Notes a count as seen. Returns false if it was seen before or is too old to tell. */
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
