// The one form of a telephone number in which it is dialled, compared and signed: a plus and digits, or digits alone.

// RFC 3966 §3: separators are only for the eye. Spaces and invisible format characters come with a number that is pasted.
const onlyForTheEye = /[-.()\p{Zs}\p{Cf}]/gu
// ITU-T E.164 §6.2: at most 15 digits, and no country code begins with 0. Digits alone may have prefixes and codes.
const canonical = /^(?:\+[1-9]\d{0,14}|\d{1,32})$/
// RFC 3966 allows more than E.164. Only a number that can be dialled is signed.
const signable = /^\d{3,15}$/

/** Returns a plus and digits, or digits alone; undefined for a text that has anything but separators besides. */
export function canonicalNumber(text: string): string | undefined {
  const number = text.replaceAll(onlyForTheEye, '')
  return canonical.test(number) ? number : undefined
}

/** Returns digits alone, without plus and separators (RFC 8224 §8.3); undefined for anything else. */
export function signedNumber(text: string): string | undefined {
  const bare = canonicalNumber(text)?.replace(/^\+/, '') ?? ''
  return signable.test(bare) ? bare : undefined
}
