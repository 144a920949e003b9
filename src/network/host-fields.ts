// The number of Host fields of an HTTP request.

/**
 * Counts the fields, of which the parser keeps the first and a proxy in front may use another. RFC 9112 §3.2: a request
 * without one, or with more, is refused with 400.
 */
export function hostFieldsOf(rawHeaders: readonly string[]): number {
  return rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length
}
