// The forms of header field names: compact, canonical (lower case), and as sent on the wire.

// RFC 3261 §20 and the registry of compact forms: RFC 3515 (r), RFC 3892 (b), RFC 3841 (a, j, d), RFC 6665 (o, u),
// RFC 4028 (x), RFC 8224 (y).
const compactForms: Readonly<Record<string, string>> = {
  a: 'accept-contact',
  b: 'referred-by',
  c: 'content-type',
  d: 'request-disposition',
  e: 'content-encoding',
  f: 'from',
  i: 'call-id',
  j: 'reject-contact',
  k: 'supported',
  l: 'content-length',
  m: 'contact',
  o: 'event',
  r: 'refer-to',
  s: 'subject',
  t: 'to',
  u: 'allow-events',
  v: 'via',
  x: 'session-expires',
  y: 'identity',
}

const wireNames = [
  'Accept',
  'Accept-Contact',
  'Accept-Encoding',
  'Accept-Language',
  'Alert-Info',
  'Allow',
  'Allow-Events',
  'Authentication-Info',
  'Authorization',
  'Call-ID',
  'Call-Info',
  'Contact',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Language',
  'Content-Length',
  'Content-Type',
  'CSeq',
  'Date',
  'Error-Info',
  'Event',
  'Expires',
  'From',
  'Identity',
  'In-Reply-To',
  'Max-Forwards',
  'MIME-Version',
  'Min-Expires',
  'Min-SE',
  'Organization',
  'P-Asserted-Identity',
  'P-Preferred-Identity',
  'Path',
  'Priority',
  'Privacy',
  'Proxy-Authenticate',
  'Proxy-Authorization',
  'Proxy-Require',
  'RAck',
  'Reason',
  'Record-Route',
  'Refer-Sub',
  'Refer-To',
  'Referred-By',
  'Reject-Contact',
  'Remote-Party-ID',
  'Replaces',
  'Reply-To',
  'Request-Disposition',
  'Require',
  'Retry-After',
  'Route',
  'RSeq',
  'Server',
  'Service-Route',
  'Session-Expires',
  'SIP-ETag',
  'SIP-If-Match',
  'Subject',
  'Subscription-State',
  'Supported',
  'Timestamp',
  'To',
  'Unsupported',
  'User-Agent',
  'Via',
  'Warning',
  'WWW-Authenticate',
  'X-Reason',
] as const

const toWire = new Map(wireNames.map((name) => [name.toLowerCase(), name as string]))

// Keyed by the spelling received, so that the usual spellings need no lower-casing.
const toCanonical = new Map<string, string>([
  ...wireNames.map((name) => [name, name.toLowerCase()] as const),
  ...wireNames.map((name) => [name.toLowerCase(), name.toLowerCase()] as const),
  ...Object.entries(compactForms),
  ...Object.entries(compactForms).map(([short, name]) => [short.toUpperCase(), name] as const),
])

// token of RFC 3261 §25.1
const token = /^[A-Za-z0-9\-.!%*_+`'~]+$/

export function isToken(text: string): boolean {
  return token.test(text)
}

/** Returns the canonical form of a received name, or undefined if it is not a token. */
export function canonicalName(received: string): string | undefined {
  const known = toCanonical.get(received)
  if (known !== undefined) return known
  if (!isToken(received)) return undefined
  const lower = received.toLowerCase()
  return toCanonical.get(lower) ?? lower
}

/** Returns the spelling on the wire: `call-id` becomes `Call-ID`, an unknown `x-some-name` becomes `X-Some-Name`. */
export function wireName(canonical: string): string {
  return (
    toWire.get(canonical) ??
    canonical.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase())
  )
}

/** Reports whether the stack has the field in its list of names; any other is an extension. */
export function isKnownName(canonical: string): boolean {
  return toWire.has(canonical)
}
