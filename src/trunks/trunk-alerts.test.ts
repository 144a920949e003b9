import { expect, it } from 'vitest'
import type { Alert } from '../contracts/alert.ts'
import { raiseGatewayTurned, raiseTurned } from './trunk-alerts.ts'
import type { Trunk, TrunkGateway } from './trunks.ts'

const trunk: Trunk = {
  voip_carrier_sid: 'c',
  name: 'Acme',
  owner: { account_sid: 'a' },
  login: undefined,
  gateways: [],
}
const gateway: TrunkGateway = {
  sip_gateway_sid: 'g',
  host: '2001:db8::1',
  port: 5080,
  protocol: 'udp',
  use_sips_scheme: false,
  isWatched: true,
}
const down = { at: 1, isAnswered: false, reason: 'no response' }

/** Returns the alerts of a carrier of this owner. */
function alertsOf(
  owner: Trunk['owner'],
  raise: (of: Trunk, alerts: { raise: (alert: Alert) => void }) => void,
): Alert[] {
  const raised: Alert[] = []
  raise({ ...trunk, owner }, { raise: (alert) => void raised.push(alert) })
  return raised
}

it.each<[string, Parameters<typeof alertsOf>[1], object]>([
  [
    'registration has failed',
    (of, alerts) => raiseTurned(of, { status: 'fail', reason: '403 Forbidden' } as never, alerts),
    {
      alert_type: 'carrier-registration-failure',
      message: 'the registration with carrier Acme failed: 403 Forbidden',
    },
  ],
  [
    'registration works again',
    (of, alerts) => raiseTurned(of, { status: 'ok', reason: '200 OK' } as never, alerts),
    { alert_type: 'carrier-registration-restored' },
  ],
  [
    'gateway is silent',
    (of, alerts) => raiseGatewayTurned(of, gateway, down, alerts),
    {
      alert_type: 'gateway-down',
      message: 'gateway [2001:db8::1]:5080 of carrier Acme does not answer OPTIONS: no response',
    },
  ],
  [
    'gateway answers again',
    (of, alerts) => raiseGatewayTurned(of, gateway, { ...down, isAnswered: true }, alerts),
    { alert_type: 'gateway-up' },
  ],
])(
  'the account or the provider hears that its %s, and of a carrier of the platform no one does',
  (_, raise, alert) => {
    expect(alertsOf({ account_sid: 'a' }, raise)).toMatchObject([{ account_sid: 'a', ...alert }])
    expect(alertsOf({ service_provider_sid: 'p' }, raise)).toMatchObject([
      { service_provider_sid: 'p', ...alert },
    ])
    expect(alertsOf(undefined, raise)).toEqual([])
  },
)
