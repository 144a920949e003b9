// A URL as logs, journals and alerts show it: tokens stand in queries, in user information and in fragments.

const longest = 200
const parts = /^([a-z][a-z0-9+.-]*:\/\/)?(?:[^/?#@]*@)?([^?#]*)(\?)?/i

/** Returns the URL as it was written, without them; a query is only said to be there. */
export function shownUrl(text: string): string {
  const [, scheme = '', place = '', query] = parts.exec(text) ?? []
  return `${scheme}${place}`.slice(0, longest) + (query === undefined ? '' : '?[redacted]')
}
