// Telephone numbers in the form in which they are signed and compared.

// RFC 3966 §3: separators are only for the eye.
const separators = /[-.() ]/g
// RFC 3966 allows more than E.164. Only a number that can be dialled is signed.
const digits = /^\d{3,15}$/

/** Returns digits alone, without plus and separators (RFC 8224 §8.3); undefined for anything else. */
export function canonicalNumber(text: string): string | undefined {
  const bare = text.replace(separators, '').replace(/^\+/, '')
  return digits.test(bare) ? bare : undefined
}
