// The tenant on whose behalf code runs, for the limits that are kept per tenant. It is ambient because these limits lie
// where it cannot be passed down: in pools that tenants share, and below a SIP stack without tenants. Only limits read
// it; access never depends on it.
import { AsyncLocalStorage } from 'node:async_hooks'

const tenants = new AsyncLocalStorage<string>()

/** Runs `work`, and everything that it starts, on behalf of the tenant. */
export function actingFor<T>(tenant: string, work: () => T): T {
  return tenants.run(tenant, work)
}

/** Returns undefined for work of the platform itself. */
export function actingTenant(): string | undefined {
  return tenants.getStore()
}
