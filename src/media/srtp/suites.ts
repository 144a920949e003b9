// The supported SRTP protection suites: RFC 3711 §8.2, RFC 4568 §6.2 and, for the longer key, RFC 6188.

/** In the order of our offers. */
export const suites = {
  AES_CM_128_HMAC_SHA1_80: { keyBytes: 16, tagBytes: 10 },
  AES_256_CM_HMAC_SHA1_80: { keyBytes: 32, tagBytes: 10 },
  AES_CM_128_HMAC_SHA1_32: { keyBytes: 16, tagBytes: 4 },
} as const

export type SuiteName = keyof typeof suites

export const saltBytes = 14

/** The key from which both sides derive the session keys of one direction. */
export interface MasterKey {
  readonly suite: SuiteName
  /** The master key, then the master salt. */
  readonly key: Uint8Array
  /** The master key identifier before the tag of each packet (RFC 3711 §3.1); left out if there is none. */
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
