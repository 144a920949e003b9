// The duration of a registration: RFC 3261 §10.2.1.1 and §10.3 step 7.

export interface ExpiresBounds {
  readonly minSeconds: number
  readonly maxSeconds: number
  readonly defaultSeconds: number
}

export const expiresBounds: ExpiresBounds = {
  // The time that user agents on UDP get; a request for less gets 423.
  minSeconds: 30,
  // A binding older than a day is no evidence of where a phone is.
  maxSeconds: 86_400,
  defaultSeconds: 3600,
}

/** Parses delta-seconds; undefined if the text is malformed. Values past 2**32-1 count as that: RFC 3261 §25.1. */
export function parseDeltaSeconds(text: string | undefined): number | undefined {
  if (text === undefined || !/^\s*\d+\s*$/.test(text)) return undefined
  return Math.min(Number(text), 2 ** 32 - 1)
}

export type GrantedExpires =
  | { readonly kind: 'granted'; readonly seconds: number }
  | { readonly kind: 'too-brief'; readonly minSeconds: number }

/**
 * Prefers the Contact parameter to the Expires header (RFC 3261 §10.2.1.1). A malformed one, such as -1, counts as an
 * hour (§20.10, §20.19), also beside a header: its sender wanted to be registered, and Expires is for other contacts.
 */
export function grantExpires(
  contactParam: string | undefined,
  header: string | undefined,
  bounds: ExpiresBounds = expiresBounds,
): GrantedExpires {
  const asked = parseDeltaSeconds(contactParam ?? header) ?? bounds.defaultSeconds
  if (asked === 0) return { kind: 'granted', seconds: 0 }
  if (asked < bounds.minSeconds) return { kind: 'too-brief', minSeconds: bounds.minSeconds }
  return { kind: 'granted', seconds: Math.min(asked, bounds.maxSeconds) }
}

/** Limits a lifetime that the phone did not request. */
export function withinBounds(seconds: number, bounds: ExpiresBounds = expiresBounds): number {
  return Math.min(Math.max(seconds, bounds.minSeconds), bounds.maxSeconds)
}
