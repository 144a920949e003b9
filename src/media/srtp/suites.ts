// The supported SRTP protection suites: RFC 3711 §8.2, RFC 4568 §6.2, RFC 6188 for the longer key of counter mode, and
// RFC 7714 for AES-GCM.

interface Suite {
  /** `counter`: AES in counter mode, and an HMAC behind it. `gcm`: AES-GCM, which does both. */
  readonly form: 'counter' | 'gcm'
  readonly keyBytes: number
  readonly saltBytes: number
  /** The length of the tag of an RTP packet. */
  readonly tagBytes: number
}

export const suites = {
  AES_CM_128_HMAC_SHA1_80: { form: 'counter', keyBytes: 16, saltBytes: 14, tagBytes: 10 },
  AES_256_CM_HMAC_SHA1_80: { form: 'counter', keyBytes: 32, saltBytes: 14, tagBytes: 10 },
  AES_CM_128_HMAC_SHA1_32: { form: 'counter', keyBytes: 16, saltBytes: 14, tagBytes: 4 },
  AES_256_CM_HMAC_SHA1_32: { form: 'counter', keyBytes: 32, saltBytes: 14, tagBytes: 4 },
  AEAD_AES_256_GCM: { form: 'gcm', keyBytes: 32, saltBytes: 12, tagBytes: 16 },
  AEAD_AES_128_GCM: { form: 'gcm', keyBytes: 16, saltBytes: 12, tagBytes: 16 },
} as const satisfies Readonly<Record<string, Suite>>

export type SuiteName = keyof typeof suites

/**
 * The suites of our offers, in their order. AES-GCM is for phones that have nothing else, since it costs
 * five times as much. The longer key with the
 * short tag is left out, since a far end that has it has the long tag as well.
 */
export const offeredSuites: readonly SuiteName[] = [
  'AES_CM_128_HMAC_SHA1_80',
  'AES_256_CM_HMAC_SHA1_80',
  'AES_CM_128_HMAC_SHA1_32',
  'AEAD_AES_256_GCM',
  'AEAD_AES_128_GCM',
]

/** The names that drafts of RFC 6188 gave its suites, which phones and gateways still send. */
const draftNames: Readonly<Record<string, SuiteName>> = {
  AES_CM_256_HMAC_SHA1_80: 'AES_256_CM_HMAC_SHA1_80',
  AES_CM_256_HMAC_SHA1_32: 'AES_256_CM_HMAC_SHA1_32',
}

/** The key from which both sides derive the session keys of one direction. */
export interface MasterKey {
  readonly suite: SuiteName
  /** The master key, then the master salt. */
  readonly key: Uint8Array
  /** The master key identifier of each packet (RFC 3711 §3.1); left out if there is none. */
  readonly mki?: Uint8Array
}

const none = new Uint8Array()

export function isSameKey(a: MasterKey, b: MasterKey): boolean {
  const isSameMki = Buffer.compare(a.mki ?? none, b.mki ?? none) === 0
  return a.suite === b.suite && Buffer.compare(a.key, b.key) === 0 && isSameMki
}

/** Returns the suite of this name, or of its name in a draft; undefined if it is not supported. */
export function suiteNamed(name: string): SuiteName | undefined {
  if (Object.hasOwn(draftNames, name)) return draftNames[name]
  return Object.hasOwn(suites, name) ? (name as SuiteName) : undefined
}

/** Returns the number of octets that a key in SDP has: the master key and the master salt. */
export function keyAndSaltBytes(suite: SuiteName): number {
  const { keyBytes, saltBytes } = suites[suite]
  return keyBytes + saltBytes
}
