// The ids in a path: the refusal of a value that is not an id, and the tenants above other records.
import { insufficientPermissions } from '../../http/scopes.ts'
import { AppError } from '../../lib/errors.ts'
import { isSid } from '../../lib/ids.ts'
import type { RecordContext } from './request.ts'
import { repositoryOf, type Cells } from './rows.ts'

/**
 * The paths for which the interface lists 404, with the noun of the sentence. All other paths get 400: the value is not
 * an id. Methods of one path are alike, except that users have 403 where the interface lists 403.
 */
const notFoundPaths: ReadonlyMap<string, string> = new Map([
  ['/Accounts/{AccountSid}', 'account'],
  ['/Accounts/{AccountSid}/WebhookSecret', 'account'],
  ['/Accounts/{AccountSid}/Limits', 'account'],
  ['/Accounts/{AccountSid}/RecentCalls', 'account'],
  ['/Applications/{ApplicationSid}', 'application'],
  ['/Clients/{ClientSid}', 'SIP client'],
  ['/MicrosoftTeamsTenants/{TenantSid}', 'Microsoft Teams tenant'],
  [
    '/ServiceProviders/{ServiceProviderSid}/SpeechCredentials/{SpeechCredentialSid}/test',
    'speech credential',
  ],
  ['/Users/{UserSid}', 'user'],
  ['/Webhooks/{WebhookSid}', 'webhook'],
])

/** Returns the parameters of a declared path that are ids; the others are names, in which letter case counts. */
export function sidsIn(path: string): readonly string[] {
  return Array.from(path.matchAll(/\{(\w+Sid)\}/g), ([, name = '']) => name)
}

/** Returns the refusal of a value in the path that is not an id, an empty one included. */
export function noSid(path: string, parameter: string): AppError {
  const noun = notFoundPaths.get(path)
  return noun === undefined
    ? new AppError('bad_request', `${parameter} in the path must be a UUID`)
    : new AppError('not_found', `no such ${noun}`)
}

/** Throws unless each of the parameters is an id. This is the only check of their form. */
export function demandSids(
  params: Readonly<Record<string, string>>,
  path: string,
  parameters: readonly string[] = sidsIn(path),
): void {
  const wrong = parameters.find((name) => !isSid(params[name] ?? ''))
  if (wrong !== undefined) throw noSid(path, wrong)
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
  demandSids(params, path, [parameter])
  const row = await repositoryOf(rows, table).find(sid)
  if (row !== undefined) return row
  throw caller.tenancy.level === 'admin'
    ? new AppError('not_found', `no such ${noun}`)
    : insufficientPermissions()
}
