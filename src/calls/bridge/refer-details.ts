// What a referHook is sent of a REFER.
import { headerOf } from '../../sip/message/message.ts'
import type { IncomingReferral } from '../../sip/sip.ts'
import type { Leg } from '../leg/leg.ts'

/** `other`: the leg that is to be sent elsewhere; undefined where the far end has no other side. */
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

/** The user part of a SIP address; the whole text where it has none. */
export function userOf(address: string): string {
  return /sips?:([^@;>?]+)@/i.exec(address)?.[1] ?? address
}
