// The owner of a new record: that in the body, checked against the caller.
import { insufficientPermissions } from '../../http/scopes.ts'
import { AppError } from '../../lib/errors.ts'
import type { RecordContext } from './request.ts'

/**
 * The owner of a resource's records. `tenant`: an account, or a provider itself. `any`: also the platform. `partOf`:
 * the owner of the record that this field names. `caller`: the caller that makes them.
 */
export type Owner =
  'admin' | 'service_provider' | 'account' | 'tenant' | 'any' | 'caller' | { readonly partOf: string }

/** The account and the provider above it; both null for the platform's own records. */
export interface OwnerSids {
  readonly account_sid: string | null
  readonly service_provider_sid: string | null
}

export function ownerOfRow(row: object): OwnerSids {
  const { account_sid = null, service_provider_sid = null }: Partial<OwnerSids> = row
  return { account_sid, service_provider_sid }
}

type Given = Readonly<Record<string, unknown>>

/** Returns the body's field that names the owner, which a caller of that level may leave out. */
export function ownerFieldOf(owner: Owner): 'account_sid' | 'service_provider_sid' | undefined {
  if (owner === 'account') return 'account_sid'
  return owner === 'service_provider' || owner === 'tenant' ? 'service_provider_sid' : undefined
}

/** Reports whether an update may give a record to another account of its provider, or to the provider itself. */
export function isMovable(owner: Owner): boolean {
  return owner === 'tenant' || owner === 'any'
}

export async function resolveOwner(
  owner: Exclude<Owner, object>,
  given: Given,
  context: RecordContext,
): Promise<OwnerSids> {
  switch (owner) {
    case 'account':
      return accountOwner(given['account_sid'], context)
    case 'service_provider':
      return providerOwner(given['service_provider_sid'], context)
    case 'tenant':
    case 'any':
      return tenantOwner(given, owner === 'any', context)
    case 'caller': {
      const { tenancy } = context.caller
      return {
        account_sid: tenancy.level === 'account' ? tenancy.account_sid : null,
        service_provider_sid: tenancy.level === 'admin' ? null : tenancy.service_provider_sid,
      }
    }
    case 'admin':
      return { account_sid: null, service_provider_sid: null }
  }
}

async function accountOwner(given: unknown, { caller, rows }: RecordContext): Promise<OwnerSids> {
  const { tenancy } = caller
  if (tenancy.level === 'account') {
    if (given !== undefined && given !== tenancy.account_sid) throw insufficientPermissions()
    return { account_sid: tenancy.account_sid, service_provider_sid: tenancy.service_provider_sid }
  }
  if (typeof given !== 'string') throw new AppError('bad_request', 'account_sid is required')
  const account = await rows.accounts.find(given)
  if (account !== undefined) return ownerOfRow(account)
  throw tenancy.level === 'admin'
    ? new AppError('bad_request', 'account_sid names no existing account')
    : insufficientPermissions()
}

async function tenantOwner(
  { account_sid = null, service_provider_sid = null }: Given,
  mayBePlatform: boolean,
  context: RecordContext,
): Promise<OwnerSids> {
  const { tenancy } = context.caller
  const isForeign =
    tenancy.level !== 'admin' &&
    service_provider_sid !== null &&
    service_provider_sid !== tenancy.service_provider_sid
  if (isForeign) throw insufficientPermissions()
  if (!mayBePlatform && tenancy.level === 'admin' && service_provider_sid === null)
    throw new AppError('bad_request', 'service_provider_sid is required')
  if (tenancy.level === 'account' || account_sid !== null) {
    const owner = await accountOwner(account_sid ?? undefined, context)
    if (service_provider_sid !== null && service_provider_sid !== owner.service_provider_sid)
      throw new AppError('bad_request', 'account_sid names an account of another service provider')
    return owner
  }
  if (mayBePlatform && tenancy.level === 'admin' && service_provider_sid === null)
    return { account_sid: null, service_provider_sid: null }
  return providerOwner(service_provider_sid ?? undefined, context)
}

/** Returns the owner of a record that is given away; undefined if the record stays. */
export async function resolveMove(
  given: unknown,
  row: OwnerSids,
  context: RecordContext,
): Promise<OwnerSids | undefined> {
  if (given === undefined || given === row.account_sid) return undefined
  if (context.caller.tenancy.level === 'account') throw insufficientPermissions()
  if (given === null) return { account_sid: null, service_provider_sid: row.service_provider_sid }
  const owner = await accountOwner(given, context)
  if (row.service_provider_sid !== null && row.service_provider_sid !== owner.service_provider_sid)
    throw new AppError('bad_request', 'account_sid names an account of another service provider')
  return owner
}

async function providerOwner(given: unknown, { caller, rows }: RecordContext): Promise<OwnerSids> {
  const { tenancy } = caller
  if (tenancy.level !== 'admin') {
    if (given !== undefined && given !== tenancy.service_provider_sid) throw insufficientPermissions()
    return { account_sid: null, service_provider_sid: tenancy.service_provider_sid }
  }
  if (typeof given !== 'string') throw new AppError('bad_request', 'service_provider_sid is required')
  const provider = await rows.service_providers.find(given)
  if (provider === undefined)
    throw new AppError('bad_request', 'service_provider_sid names no existing service provider')
  return { account_sid: null, service_provider_sid: given }
}
