// The endpoints of carriers, their templates, and their gateways.
import { nestedVoipCarriers, voipCarriers } from './voip-carriers.ts'
import { predefinedCarrierRoutes } from './predefined-carriers.ts'
import { readHealth } from './carrier-health.ts'
import { sipGateways } from './sip-gateways.ts'
import { smppGateways } from './smpp-gateways.ts'
import { testCarrier } from './test-carrier.ts'

export const carrierRoutes = [
  ...nestedVoipCarriers,
  ...predefinedCarrierRoutes,
  ...sipGateways.routes,
  ...smppGateways.routes,
  ...voipCarriers.routes,
  readHealth,
  testCarrier,
]
