// The tenant on whose behalf code runs, for the bounds that are kept per tenant. It is ambient because the bounds lie where
// nothing can hand the tenant down: in pools that tenants share, and below a SIP stack that knows none. Only bounds read it;
// who may see what never rests on it.
import { AsyncLocalStorage } from 'node:async_hooks'

const tenants = new AsyncLocalStorage<string>()

/** Runs `work`, and all that it begins, on behalf of the tenant. */
export function actingFor<T>(tenant: string, work: () => T): T {
  return tenants.run(tenant, work)
}

/** Undefined for what the platform does by itself. */
export function actingTenant(): string | undefined {
  return tenants.getStore()
}
