// Telephone numbers as they are signed and compared.

// RFC 3966 §3 has these for the eye alone.
const separators = /[-.() ]/g
// RFC 3966 allows more than E.164; what is signed for people is a number that may be dialled.
const digits = /^\d{3,15}$/

/** RFC 8224 §8.3: digits alone, without plus and separators; undefined for what is no telephone number. */
export function canonicalNumber(text: string): string | undefined {
  const bare = text.replace(separators, '').replace(/^\+/, '')
  return digits.test(bare) ? bare : undefined
}
