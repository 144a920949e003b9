// Requests that promise TLS on each hop and came without it: RFC 3261 §26.2.2, RFC 5630.
import { headersOf, type SipRequest } from '../message/message.ts'
import { parseNameAddr, splitAddresses } from '../message/name-addr.ts'
import type { Reply } from '../message/reply.ts'
import { schemeOf } from '../message/uri.ts'
import { refusal } from '../refusal.ts'
import { transports, type Remote } from '../transport/transports.ts'

const code = 'sips_insecure'

/**
 * Returns the refusal of a request whose Request-URI or Contact is a sips URI, and which came over a transport without
 * TLS. Not for ACK and CANCEL, which are never refused for it.
 */
export function refuseInsecureSips(
  request: SipRequest,
  { transport, isForwarded }: Remote,
): Reply | undefined {
  const { isSecure, viaName } = transports[transport]
  if (isSecure || isForwarded === true || request.method === 'CANCEL') return undefined
  if (schemeOf(request.uri) === 'sips')
    return refusal(code, `The Request-URI is a sips URI, and the request came over ${viaName} without TLS`)
  const isSips = headersOf(request, 'contact')
    .flatMap(splitAddresses)
    .some((contact) => contact.trim() !== '*' && schemeOf(parseNameAddr(contact).uri) === 'sips')
  if (!isSips) return undefined
  const sentence = `The Contact is a sips URI, and the request came over ${viaName} without TLS`
  return refusal(code, sentence, { status: 400 })
}
