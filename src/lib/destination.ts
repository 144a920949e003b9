// Where a URL leads, as far as one who is slow there holds up others: scheme, host and port.

/** Of what is no absolute URL: its own text. */
export function destinationOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed === null || parsed.host === '' ? url : `${parsed.protocol}//${parsed.host}`
}
