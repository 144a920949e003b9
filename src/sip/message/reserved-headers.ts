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
 * What no application may set: those, and where the peer sends its next request, what the body is, what both sides
 * support, and credentials. The engine above sends challenges, so the stack takes these from it.
 */
export const reservedHeaders: ReadonlySet<string> = new Set([
  ...structuralHeaders,
  'contact',
  'content-type',
  'content-encoding',
  'require',
  'proxy-require',
  'supported',
  'authorization',
  'proxy-authorization',
  'www-authenticate',
  'proxy-authenticate',
])
