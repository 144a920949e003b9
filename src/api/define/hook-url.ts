// The URLs that a hook may have, checked when it is stored. The address is checked when the hook is called.

/**
 * The transports over which a hook may be reached: HTTP, or also WebSocket; a path, if an application determines the
 * host.
 */
export type HookWays = 'http' | 'http or ws' | 'http, ws or path'

const protocols: Readonly<Record<HookWays, ReadonlySet<string>>> = {
  http: new Set(['http:', 'https:']),
  'http or ws': new Set(['http:', 'https:', 'ws:', 'wss:']),
  'http, ws or path': new Set(['http:', 'https:', 'ws:', 'wss:']),
}

/** The texts of the reference. */
export const hookUrlTexts: Readonly<Record<HookWays, string>> = {
  http: 'An absolute http or https URL.',
  'http or ws': 'An absolute http, https, ws or wss URL.',
  'http, ws or path':
    'An absolute http, https, ws or wss URL, or a path that begins with `/`, on the host that the verbs of the call came from.',
}

/** Returns the rule that is broken, or undefined. */
export function hookUrlFault(text: string, ways: HookWays): string | undefined {
  if (/[\s\p{Cc}]/u.test(text)) return 'must not contain white space or control characters'
  const takesPath = ways === 'http, ws or path'
  if (takesPath && text.startsWith('/')) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || url.hostname === '')
    return takesPath ? 'must be an absolute URL, or a path that begins with /' : 'must be an absolute URL'
  if (!protocols[ways].has(url.protocol))
    return ways === 'http' ? 'must be an http or https URL' : 'must be an http, https, ws or wss URL'
  if (url.username !== '' || url.password !== '')
    return 'must not carry a user name or password: they have fields of their own'
  return undefined
}
