// What holds between the fields of a gateway, of either kind.
import { isIPv4 } from 'node:net'
import { AppError } from '../../lib/errors.ts'
import type { OperatorRules } from '../define/operator-rules.ts'

export interface GatewayFacts {
  readonly ipv4: string
  readonly netmask: number
  readonly isInbound: boolean
  readonly isOutbound: boolean
}

export function demandGateway(gateway: GatewayFacts, { minNetmask }: OperatorRules): void {
  const { ipv4, netmask, isInbound, isOutbound } = gateway
  // Calls are told apart by the address they come from, and a name may stand for any.
  if (isInbound && !isIPv4(ipv4))
    throw new AppError('bad_request', 'ipv4 must be an IPv4 address where calls come from')
  if (isOutbound && !isInbound && netmask !== 32)
    throw new AppError('bad_request', 'netmask must be 32 where calls are only sent to')
  if (netmask < minNetmask)
    throw new AppError('bad_request', `netmask must be at least ${minNetmask} on this platform`)
}
