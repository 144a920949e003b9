// Which header fields the stack writes alone: neither the engine above it nor an application sets them.

/** Routing, order and framing of a message (RFC 3261 §8.1.1, §18.3): with a second one, a message has two readings. */
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
 * What two stacks tell each other: those, where the peer sends its next request, what the body is, and credentials. An
 * application that reads the headers of a message is not shown these. The engine above sends challenges, so the stack takes
 * them from it.
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

/**
 * What no application may set: those, what both sides support, which would be a promise that the stack does not keep, and
 * what the operator alone says of a caller (RFC 8224 §4).
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
  // A node believes it of the operator's proxies: where a call came from, and so which carrier's it is.
  'x-forwarded-for',
])
