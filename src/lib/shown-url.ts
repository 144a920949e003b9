// URLs as logs, journals and alerts show them. Queries, user information and fragments may contain tokens.

const longest = 200
const parts = /^([a-z][a-z0-9+.-]*:\/\/)?(?:[^/?#@]*@)?([^?#]*)(\?)?/i

/** Returns the URL as it was written, without these parts; a query is only marked. */
export function shownUrl(text: string): string {
  const [, scheme = '', place = '', query] = parts.exec(text) ?? []
  return `${scheme}${place}`.slice(0, longest) + (query === undefined ? '' : '?[redacted]')
}
