// The protections that SRTP is spoken with here: RFC 3711 §8.2, RFC 4568 §6.2 and, for the longer key, RFC 6188.

/** In the order in which they are offered. */
export const suites = {
  AES_CM_128_HMAC_SHA1_80: { keyBytes: 16, tagBytes: 10 },
  AES_256_CM_HMAC_SHA1_80: { keyBytes: 32, tagBytes: 10 },
  AES_CM_128_HMAC_SHA1_32: { keyBytes: 16, tagBytes: 4 },
} as const

export type SuiteName = keyof typeof suites

export const saltBytes = 14

/** What both sides derive their keys of one direction from. */
export interface MasterKey {
  readonly suite: SuiteName
  /** The master key, then the master salt. */
  readonly key: Uint8Array
  /** What each packet under the key has before its tag (RFC 3711 §3.1). Left out, there is nothing. */
  readonly mki?: Uint8Array
}

const none = new Uint8Array()

export function isSameKey(a: MasterKey, b: MasterKey): boolean {
  const isSameMki = Buffer.compare(a.mki ?? none, b.mki ?? none) === 0
  return a.suite === b.suite && Buffer.compare(a.key, b.key) === 0 && isSameMki
}

export function suiteNamed(name: string): SuiteName | undefined {
  return Object.hasOwn(suites, name) ? (name as SuiteName) : undefined
}
