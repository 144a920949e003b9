// From which address a request comes: behind one of our proxies it is the one that the proxy names.
import { isIP } from 'node:net'
import { headersOf } from './message/message.ts'
import type { SipMessage } from './message/message.ts'

/** The nearest address that is no proxy's. Each proxy adds the one before it behind the others, so that what a caller writes counts for nothing. */
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
