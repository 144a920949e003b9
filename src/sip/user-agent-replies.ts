// The user agent's capabilities, and its responses to requests for no dialog and no user (RFC 3261 §8.2, §11.2).
import type { ErrorCode } from '../lib/errors.ts'
import { supportedHeader, type Abilities } from './dialog/core.ts'
import { retryAfterSeconds } from './limits.ts'
import { headerOf, type SipRequest } from './message/message.ts'
import { allowHeader, type Capabilities } from './message/validate.ts'
import { refusal } from './refusal.ts'
import type { Owed, Reply } from './message/reply.ts'

// These methods need a dialog to act on; other methods are served only within dialogs or not at all.
const needDialog = new Set(['BYE', 'UPDATE', 'INFO', 'PRACK'])
const servedOutside = ['INVITE', 'BYE', 'OPTIONS', 'REGISTER']

export function capabilitiesOf({ allow, alsoTaken, supported, alsoSupported }: Abilities): Capabilities {
  return {
    allow: [...allow, 'REGISTER'],
    alsoTaken,
    supported: [...supported, ...alsoSupported],
    accept: ['application/sdp', 'multipart/mixed', 'multipart/alternative', 'multipart/related'],
  }
}

/** Returns the reply to a request outside a dialog that needs no state here; undefined for an INVITE or a REGISTER. */
export function withoutState(method: string, abilities: Abilities, isDraining: boolean): Reply | undefined {
  if (method === 'INVITE' || method === 'REGISTER') return undefined
  if (method === 'OPTIONS') return isDraining ? stopping() : optionsReply(abilities)
  if (needDialog.has(method)) return { status: 481 }
  return { status: 405, headers: [allowHeader(servedOutside)] }
}

function optionsReply(abilities: Abilities): Reply {
  return {
    status: 200,
    headers: [
      allowHeader(capabilitiesOf(abilities).allow),
      { name: 'accept', value: 'application/sdp' },
      supportedHeader(abilities),
    ],
  }
}

/** Returns the refusal of `validateRequest` with a code and a sentence of the catalogue. */
export function toOwed(request: SipRequest, reply: Reply): Owed {
  const said = (code: ErrorCode, sentence: string): Owed => {
    const headers = reply.headers ?? []
    return { code, reply: refusal(code, sentence, { status: reply.status, headers }) }
  }
  const code = reply.headers?.find(({ name }) => name === 'x-reason-code')?.value
  if (code !== undefined) return { code: code as ErrorCode, reply }
  if (reply.status === 415) {
    const type =
      headerOf(request, 'content-encoding') ?? headerOf(request, 'content-type') ?? 'without a type'
    return said('body_not_supported', `A body of ${type} is not read`)
  }
  if (reply.status === 416) return said('uri_not_supported', `The URI ${request.uri} is not served`)
  const tags = reply.headers?.find(({ name }) => name === 'unsupported')?.value ?? ''
  return said('extension_not_supported', `The extension ${tags} is not supported`)
}

function stopping(): Reply {
  const headers = [{ name: 'retry-after', value: String(retryAfterSeconds) }]
  return refusal('stopping', 'This node is shutting down', { headers })
}

/** Returns the refusal of an INVITE that this platform itself sent. */
export function returned(): Owed {
  const code = 'loop_detected'
  return { code, reply: refusal(code, 'the SIP URI leads back into this platform') }
}
