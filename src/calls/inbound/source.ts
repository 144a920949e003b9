// From which address a call comes: behind one of our proxies it is the one that the proxy names.
import { isIP } from 'node:net'
import { headersOf } from '../../sip/message/message.ts'
import type { IncomingInvite } from '../../sip/sip.ts'
import type { CallServices } from '../call-services.ts'

/** The nearest address that is no proxy's. Each proxy adds the one before it behind the others, so that what a caller writes counts for nothing. */
export function sourceOf(
  { request, remote }: Pick<IncomingInvite, 'request' | 'remote'>,
  { isSipProxy }: Pick<CallServices, 'isSipProxy'>,
): string {
  const named = headersOf(request, 'x-forwarded-for').flatMap((value) => value.split(','))
  let source = remote.address
  while (isSipProxy(source)) {
    const next = (named.pop() ?? '').trim()
    if (isIP(next) === 0) break
    source = next
  }
  return source
}
