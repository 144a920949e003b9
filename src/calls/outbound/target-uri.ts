// A SIP URI that a client names as target or proxy.
import { AppError } from '../../lib/errors.ts'
import { tryParseUri, type SipUri } from '../../sip/message/uri.ts'

/** Parses the URI. Throws AppError bad_request that names `field`, in which it was given. */
export function parseTargetUri(text: string, field: string): SipUri {
  const uri = tryParseUri(text)
  if (uri === undefined || uri.scheme === 'tel')
    throw new AppError('bad_request', `${field} must be a SIP URI`)
  return uri
}

/** Parses the URI of a proxy. Throws AppError bad_request if it has a user, which a carrier could read as a number. */
export function parseProxyUri(text: string, field: string): SipUri {
  const uri = parseTargetUri(text, field)
  if (uri.user !== undefined || uri.headers.size > 0)
    throw new AppError(
      'bad_request',
      `${field} must have no user and no headers, as in sip:proxy.example.com`,
    )
  return uri
}
