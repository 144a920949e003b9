// A SIP URI that a client names as target or proxy.
import { AppError } from '../../lib/errors.ts'
import { tryParseUri } from '../../sip/message/uri.ts'
import type { SipUri } from '../../sip/message/uri.ts'

/** Throws AppError bad_request or not_served naming `field`, the one it came in. */
export function parseTargetUri(text: string, field: string): SipUri {
  const uri = tryParseUri(text)
  if (uri?.scheme === 'sips')
    throw new AppError('not_served', `the scheme sips of ${field} is not served yet`)
  if (uri?.scheme !== 'sip') throw new AppError('bad_request', `${field} must be a SIP URI`)
  return uri
}
