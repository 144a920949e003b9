// The source address of a call.
import { forwardedSource } from '../../sip/transport/forwarded-source.ts'
import type { IncomingInvite } from '../../sip/sip.ts'
import type { InboundNeeds } from './needs.ts'

/** Returns the address that the operator's proxy names, if there is one. */
export function sourceOf(
  { request, remote }: Pick<IncomingInvite, 'request' | 'remote'>,
  { isSipProxy }: Pick<InboundNeeds, 'isSipProxy'>,
): string {
  return forwardedSource(request, remote.address, isSipProxy)
}
