// The grants of stored keys, users and sessions: the source that authentication reads.
import type { CredentialSource, Grant } from '../../http/authentication.ts'
import { systemTenancy, type Caller, type RequestQuota } from '../../contracts/caller.ts'
import { AppError } from '../../lib/errors.ts'
import { hashApiKey } from '../../lib/api-key.ts'
import { publishedSecrets } from '../../lib/published-secrets.ts'
import type { Logger } from '../../lib/log.ts'
import type { Repositories, Row, Storage } from '../../storage/storage.ts'

export interface CredentialSourceOptions {
  readonly storage: Pick<Storage, 'for'>
  readonly log: Logger
  /** Whether keys that the documentation shows are unknown, although they are stored. */
  readonly refusesPublished: boolean
}

const publishedHashes: ReadonlySet<string> = new Set(publishedSecrets.map(hashApiKey))

export function createCredentialSource({
  storage,
  log,
  refusesPublished,
}: CredentialSourceOptions): CredentialSource {
  const rows = (): Repositories => storage.for(systemTenancy)
  return {
    async apiKey(token_hash) {
      if (refusesPublished && publishedHashes.has(token_hash)) return undefined
      const [key] = await rows().api_keys.list({ where: { token_hash }, limit: 1 })
      if (key === undefined) return undefined
      const { api_key_sid, expires_at, last_used } = key
      const tenancy = await tenancyOf(key, rows())
      return {
        caller: {
          tenancy,
          ...(await quotasOf(tenancy, rows())),
          principal: { kind: 'api_key', api_key_sid },
          isViewOnly: false,
        },
        expiresAt: expires_at ?? undefined,
        lastUsed: last_used ?? undefined,
      }
    },
    async session({ session_sid, user_sid }) {
      const [session, user] = await Promise.all([
        rows().user_sessions.find(session_sid),
        rows().users.find(user_sid),
      ])
      if (session?.user_sid !== user_sid || user?.is_active !== 1) return undefined
      return grantOf(user, session, rows())
    },
    touched(api_key_sid, last_used) {
      rows()
        .api_keys.update(api_key_sid, { last_used })
        .catch((error: unknown) => log.warn({ err: error, api_key_sid }, 'last use of a key not noted'))
    },
  }
}

async function grantOf(
  user: Row<'users'>,
  { user_session_sid, expires_at }: Row<'user_sessions'>,
  rows: Repositories,
): Promise<Grant> {
  const { user_sid, name } = user
  const tenancy = await tenancyOf(user, rows)
  return {
    caller: {
      tenancy,
      ...(await quotasOf(tenancy, rows)),
      principal: { kind: 'user', user_sid, name, session_sid: user_session_sid },
      isViewOnly: isViewOnly(permissionsOf(user)),
      // A password that is kept elsewhere is changed there.
      ...(user.force_change === 1 && user.provider === 'local' ? { mustChangePassword: true } : {}),
    },
    expiresAt: expires_at,
  }
}

/** Returns the request limits; 0 means none. */
async function quotasOf(tenancy: Caller['tenancy'], rows: Repositories): Promise<Pick<Caller, 'quotas'>> {
  if (tenancy.level === 'admin') return {}
  const { service_provider_sid } = tenancy
  const owners = [
    ...(tenancy.level === 'account' ? [{ account_sid: tenancy.account_sid }] : []),
    { service_provider_sid },
  ]
  const found = await Promise.all(
    owners.map(async (owner): Promise<RequestQuota[]> => {
      const where = { account_sid: null, ...owner, category: 'api_rate' }
      const [limit] = await rows.limits.list({ where, limit: 1 })
      return limit === undefined || limit.quantity === 0 ? [] : [{ owner, perMinute: limit.quantity }]
    }),
  )
  const quotas = found.flat()
  return quotas.length === 0 ? {} : { quotas }
}

/** Returns the tenancy. If an account is switched off, so are its keys and users. */
async function tenancyOf(
  { account_sid, service_provider_sid }: Pick<Row<'users'>, 'account_sid' | 'service_provider_sid'>,
  rows: Repositories,
): Promise<Caller['tenancy']> {
  if (account_sid !== null) {
    const account = await rows.accounts.find(account_sid)
    if (account?.is_active !== 1) throw new AppError('account_inactive', 'the account is not active')
    return { level: 'account', account_sid, service_provider_sid: account.service_provider_sid }
  }
  if (service_provider_sid !== null) return { level: 'service_provider', service_provider_sid }
  return { level: 'admin' }
}

export function permissionsOf({ permissions }: Pick<Row<'users'>, 'permissions'>): readonly string[] {
  return JSON.parse(permissions) as readonly string[]
}

export function isViewOnly(permissions: readonly string[]): boolean {
  return permissions.length === 1 && permissions[0] === 'VIEW_ONLY'
}
