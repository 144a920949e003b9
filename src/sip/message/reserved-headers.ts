// The header fields that only the stack writes: neither the engine above it nor an application sets them.

/**
 * The routing, order and framing of a message (RFC 3261 §8.1.1, §18.3): with a duplicate, a message has two readings.
 */
export const structuralHeaders: ReadonlySet<string> = new Set([
  'via',
  'from',
  'to',
  'call-id',
  'cseq',
  'max-forwards',
  'route',
  'record-route',
  'content-length',
])

/**
 * Fields between two stacks: the structural ones, the target of the peer's next request, the body type, and
 * credentials. They are hidden from an application that reads the headers of a message. The engine above sends
 * challenges, so the stack accepts those from it.
 */
export const plumbingHeaders: ReadonlySet<string> = new Set([
  ...structuralHeaders,
  'contact',
  'content-type',
  'authorization',
  'proxy-authorization',
  'www-authenticate',
  'proxy-authenticate',
])

/** The sealed count of the passages of a call through this platform. */
export const passagesHeader = 'x-switchhook-passages'

/**
 * Fields that no application may set: those above, the features that both sides support, which would be promises that
 * the stack does not keep, and the operator's statements about a caller (RFC 8224 §4).
 */
export const reservedHeaders: ReadonlySet<string> = new Set([
  ...plumbingHeaders,
  'content-encoding',
  'require',
  'proxy-require',
  'supported',
  'session-expires',
  'min-se',
  'identity',
  'identity-info',
  // A node trusts it from the operator's proxies: it names the source of a call, and so the carrier.
  'x-forwarded-for',
  passagesHeader,
])
