// Which URLs a hook may have, checked when it is stored. Where it leads is checked when it is called.

const protocols = new Set(['http:', 'https:'])

export function isWebSocketUrl(text: string): boolean {
  return /^wss?:/i.test(text)
}

/** The rule that is broken, or undefined. */
export function hookUrlFault(text: string): string | undefined {
  if (/[\s\p{Cc}]/u.test(text)) return 'must not contain white space or control characters'
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || url.hostname === '') return 'must be an absolute URL'
  if (!protocols.has(url.protocol)) return 'must be an http or https URL'
  if (url.username !== '' || url.password !== '')
    return 'must not carry a user name or password: they have fields of their own'
  return undefined
}
