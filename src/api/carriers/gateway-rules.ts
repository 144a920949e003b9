// Rules between the fields of a gateway, of either kind.
import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { AppError } from '../../lib/errors.ts'
import type { RecordContext } from '../define/request.ts'

export interface GatewayFacts {
  readonly ipv4: string
  readonly netmask: number
  readonly isInbound: boolean
  readonly isOutbound: boolean
}

// The smallest network that is routed by itself. An account cannot know whose calls come from a larger one.
const accountNetmask = 24

// No host has these (RFC 6890, RFC 5771).
const hostless: readonly string[] = ['unspecified', 'broadcast', 'multicast']

/** Throws bad_request. `present` is the gateway before the change: a wider network may stay. */
export function demandGateway(
  gateway: GatewayFacts,
  { caller, services }: Pick<RecordContext, 'caller' | 'services'>,
  present?: GatewayFacts,
): void {
  const { ipv4, netmask, isInbound, isOutbound } = gateway
  const { minNetmask } = services.rules
  // A gateway that was entered before may still be switched off.
  if (isIPv4(ipv4) && ipv4 !== present?.ipv4 && hostless.includes(ipaddr.parse(ipv4).range()))
    throw new AppError('bad_request', 'ipv4 must not be an unspecified, broadcast or multicast address')
  // Carriers are recognised by the source address of a call, and a name may resolve to any address.
  if (isInbound && !isIPv4(ipv4))
    throw new AppError('bad_request', 'ipv4 must be an IPv4 address where calls come from')
  if (isOutbound && !isInbound && netmask !== 32)
    throw new AppError('bad_request', 'netmask must be 32 where calls are only sent to')
  if (netmask < minNetmask)
    throw new AppError('bad_request', `netmask must be at least ${minNetmask} on this platform`)
  const isPresent = present?.isInbound === true && present.ipv4 === ipv4 && present.netmask === netmask
  if (caller.tenancy.level === 'account' && isInbound && netmask < accountNetmask && !isPresent)
    throw new AppError(
      'bad_request',
      `netmask must be at least ${accountNetmask}: only the service provider may enter a wider network`,
    )
}
