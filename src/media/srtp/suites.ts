// The supported SRTP protection suites: RFC 3711 §8.2, RFC 4568 §6.2, for the longer key RFC 6188, and for AES-GCM
// RFC 7714.

export const suites = {
  AES_CM_128_HMAC_SHA1_80: { mode: 'counter', keyBytes: 16, saltBytes: 14, tagBytes: 10 },
  AES_256_CM_HMAC_SHA1_80: { mode: 'counter', keyBytes: 32, saltBytes: 14, tagBytes: 10 },
  AEAD_AES_256_GCM: { mode: 'gcm', keyBytes: 32, saltBytes: 12, tagBytes: 16 },
  AEAD_AES_128_GCM: { mode: 'gcm', keyBytes: 16, saltBytes: 12, tagBytes: 16 },
  AES_CM_128_HMAC_SHA1_32: { mode: 'counter', keyBytes: 16, saltBytes: 14, tagBytes: 4 },
  AES_256_CM_HMAC_SHA1_32: { mode: 'counter', keyBytes: 32, saltBytes: 14, tagBytes: 4 },
} as const

export type SuiteName = keyof typeof suites

/** In the order of our offers. The short tag with the long key is rare, and only accepted. */
export const offeredSuites: readonly SuiteName[] = [
  'AES_CM_128_HMAC_SHA1_80',
  'AES_256_CM_HMAC_SHA1_80',
  'AES_CM_128_HMAC_SHA1_32',
  'AEAD_AES_256_GCM',
  'AEAD_AES_128_GCM',
]

// The names in the drafts of RFC 6188, which many phones still use.
const draftNames: Readonly<Record<string, SuiteName>> = {
  AES_CM_256_HMAC_SHA1_80: 'AES_256_CM_HMAC_SHA1_80',
  AES_CM_256_HMAC_SHA1_32: 'AES_256_CM_HMAC_SHA1_32',
}

/** The key from which both sides derive the session keys of one direction. */
export interface MasterKey {
  readonly suite: SuiteName
  /** The master key, then the master salt. */
  readonly key: Uint8Array
  /** The master key identifier in each packet (RFC 3711 §3.1); left out if there is none. */
  readonly mki?: Uint8Array
}

const none = new Uint8Array()

export function isSameKey(a: MasterKey, b: MasterKey): boolean {
  const isSameMki = Buffer.compare(a.mki ?? none, b.mki ?? none) === 0
  return a.suite === b.suite && Buffer.compare(a.key, b.key) === 0 && isSameMki
}

/** Returns the suite of a name, which may be that of a draft. */
export function suiteNamed(name: string): SuiteName | undefined {
  if (Object.hasOwn(draftNames, name)) return draftNames[name]
  return Object.hasOwn(suites, name) ? (name as SuiteName) : undefined
}

/** Returns the length of the master key and the master salt. */
export function masterBytesOf(suite: SuiteName): number {
  return suites[suite].keyBytes + suites[suite].saltBytes
}
