// The alerts about the carriers of an account: when one stops working, and when it works again.
import type { Alerts } from '../contracts/alert.ts'
import type { RegisterStatus } from '../contracts/carrier-registration.ts'
import { placeOf } from './gateway-uri.ts'
import type { Ping, Trunk, TrunkGateway } from './trunks.ts'

export function raiseTurned(
  { name, owner }: Trunk,
  { status, reason }: RegisterStatus,
  alerts: Alerts,
): void {
  if (owner === undefined) return
  if (status === 'ok')
    return alerts.raise({
      ...owner,
      alert_type: 'carrier-registration-restored',
      message: `the platform is registered with carrier ${name} again`,
    })
  alerts.raise({
    ...owner,
    alert_type: 'carrier-registration-failure',
    message: `the registration with carrier ${name} failed: ${reason}`,
    detail:
      'Calls from the carrier may not arrive. Its Health shows what is tried, and when it is tried again.',
  })
}

export function raiseGatewayTurned(
  { name, owner }: Trunk,
  gateway: TrunkGateway,
  { isAnswered, reason }: Ping,
  alerts: Alerts,
): void {
  if (owner === undefined) return
  const place = `gateway ${placeOf(gateway)} of carrier ${name}`
  if (isAnswered)
    return alerts.raise({ ...owner, alert_type: 'gateway-up', message: `${place} answers again` })
  alerts.raise({
    ...owner,
    alert_type: 'gateway-down',
    message: `${place} does not answer OPTIONS: ${reason}`,
    detail: 'Calls go to other gateways meanwhile. If no other gateway answers, it is tried nevertheless.',
  })
}
