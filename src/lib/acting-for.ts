// On which tenant's behalf running code was called. Bounds that are kept per tenant ask here where nothing can hand the
// tenant down: a pool of connections, a stack of protocols that knows no tenants.
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
