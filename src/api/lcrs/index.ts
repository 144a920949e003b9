// The endpoints of least cost routing: tables, their routes, and the carriers of the routes.
import { lcrCarrierSetEntries } from './lcr-carrier-set-entries.ts'
import { lcrRoutes as routes } from './lcr-routes.ts'
import { lcrs } from './lcrs.ts'
import { createRoutesOfLcr, updateRoutesOfLcr } from './routes-of-lcr.ts'

export const lcrRoutes = [
  ...lcrs.routes,
  createRoutesOfLcr,
  updateRoutesOfLcr,
  ...routes.routes,
  ...lcrCarrierSetEntries.routes,
]
