// The ids in a path: the refusal of a value that is not an id, and the tenants above other records.
import { insufficientPermissions } from '../../http/scopes.ts'
import { AppError } from '../../lib/errors.ts'
import { isSid } from '../../lib/ids.ts'
import type { RecordContext } from './request.ts'
import { repositoryOf } from './rows.ts'
import type { Cells } from './rows.ts'

/** The paths for which the interface lists 404; for all others it lists 400, or nothing. */
const notFoundPaths: ReadonlySet<string> = new Set([
  '/Accounts/{AccountSid}',
  '/Accounts/{AccountSid}/WebhookSecret',
  '/Accounts/{AccountSid}/Limits',
  '/Accounts/{AccountSid}/RecentCalls',
  '/Applications/{ApplicationSid}',
  '/Clients/{ClientSid}',
  '/MicrosoftTeamsTenants/{TenantSid}',
  '/ServiceProviders/{ServiceProviderSid}/SpeechCredentials/{SpeechCredentialSid}/test',
  '/Webhooks/{WebhookSid}',
])

export interface PathSid {
  /** The whole path, as it is declared. */
  readonly path: string
  /** The parameter in it that must be an id. */
  readonly parameter: string
  readonly noun: string
}

export function demandSid(sid: string, { path, parameter, noun }: PathSid): void {
  if (isSid(sid)) return
  throw notFoundPaths.has(path)
    ? new AppError('not_found', `no such ${noun}`)
    : new AppError('bad_request', `${parameter} in the path must be a UUID`)
}

const tenants = {
  accounts: { parameter: 'AccountSid', noun: 'account' },
  service_providers: { parameter: 'ServiceProviderSid', noun: 'service provider' },
} as const

export function isTenantTable(table: string): table is keyof typeof tenants {
  return table in tenants
}

/**
 * Returns the account or service provider that a path names. A caller below admin cannot tell a foreign one from a
 * missing one.
 */
export async function findTenant(
  table: keyof typeof tenants,
  params: Readonly<Record<string, string>>,
  path: string,
  { caller, rows }: Pick<RecordContext, 'caller' | 'rows'>,
): Promise<Cells> {
  const { parameter, noun } = tenants[table]
  const sid = params[parameter] ?? ''
  demandSid(sid, { path, parameter, noun })
  const row = await repositoryOf(rows, table).find(sid)
  if (row !== undefined) return row
  throw caller.tenancy.level === 'admin'
    ? new AppError('not_found', `no such ${noun}`)
    : insufficientPermissions()
}
