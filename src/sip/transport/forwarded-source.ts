// The source address of a request: behind one of our proxies, the address that the proxy names.
import { isIP } from 'node:net'
import { headersOf, type SipMessage } from '../message/message.ts'

/**
 * Returns the nearest address that is not a proxy's. Each proxy appends the address it received from, so addresses that
 * a caller wrote itself do not count.
 */
export function forwardedSource(
  message: SipMessage,
  address: string,
  isProxy: (address: string) => boolean,
): string {
  let source = address
  if (!isProxy(source)) return source
  const named = headersOf(message, 'x-forwarded-for').flatMap((value) => value.split(','))
  while (isProxy(source)) {
    const next = (named.pop() ?? '').trim()
    if (isIP(next) === 0) break
    source = next
  }
  return source
}
