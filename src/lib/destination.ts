// The destination within which a slow server delays requests: scheme, host and port.

/** Returns the text itself if it is not an absolute URL. */
export function destinationOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed === null || parsed.host === '' ? url : `${parsed.protocol}//${parsed.host}`
}
