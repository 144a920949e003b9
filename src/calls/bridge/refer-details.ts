// The fields of a REFER that a referHook is sent.
import { headerOf } from '../../sip/message/message.ts'
import type { IncomingReferral } from '../../sip/sip.ts'
import type { Leg } from '../leg/leg.ts'

/** Returns the fields. `other` is the leg to be transferred, undefined where the far end has no other side. */
export function referDetails(
  { referTo, referredBy, request }: IncomingReferral,
  by: Leg,
  other: Leg | undefined,
): object {
  const agent = headerOf(request, 'user-agent')
  const extensions = request.headers.filter(({ name }) => name.startsWith('x-'))
  return {
    sip_refer_to: headerOf(request, 'refer-to') ?? referTo,
    refer_to_user: userOf(referTo),
    ...(referredBy === undefined
      ? {}
      : { sip_referred_by: referredBy, referred_by_user: userOf(referredBy) }),
    ...(agent === undefined ? {} : { sip_user_agent: agent }),
    referring_call_sid: by.call_sid,
    ...(other === undefined ? {} : { referred_call_sid: other.call_sid }),
    ...Object.fromEntries(extensions.map(({ name, value }) => [name.replaceAll('-', '_'), value])),
  }
}

/** Returns the user part of a SIP address, or the whole text if it has none. */
export function userOf(address: string): string {
  return /sips?:([^@;>?]+)@/i.exec(address)?.[1] ?? address
}
