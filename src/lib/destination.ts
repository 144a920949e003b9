// The destination of a URL (scheme, host and port), within which a slow server holds up other requests.

/** Returns the text itself if it is not an absolute URL. */
export function destinationOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed === null || parsed.host === '' ? url : `${parsed.protocol}//${parsed.host}`
}
