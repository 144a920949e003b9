// The endpoints of carriers: carriers, what they are made from, and their gateways.
import { nestedVoipCarriers, voipCarriers } from './voip-carriers.ts'
import { predefinedCarrierRoutes } from './predefined-carriers.ts'
import { sipGateways } from './sip-gateways.ts'
import { smppGateways } from './smpp-gateways.ts'

export const carrierRoutes = [
  ...nestedVoipCarriers,
  ...predefinedCarrierRoutes,
  ...sipGateways.routes,
  ...smppGateways.routes,
  ...voipCarriers.routes,
]
