// The bounds of the SIP stack, each with its reason.

/** Of every 503: long enough for a dispatcher to try another node, short enough for a phone to come back to this one. */
export const retryAfterSeconds = 5
