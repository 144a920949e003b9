// The session of a login: a row, and the token that depends on it. Ends sessions too.
import { tokenLifetimeMs } from '../../http/tokens.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { AppError } from '../../lib/errors.ts'
import { createSid } from '../../lib/ids.ts'
import type { Repositories, Row } from '../../storage/storage.ts'
import { isViewOnly, permissionsOf } from './credentials.ts'
import type { Services } from '../services.ts'
import type { everyone } from '../define/route.ts'
import { demandUnchanged } from './passwords.ts'

// Enough for every browser and script of one person. Beyond it, the oldest logins end.
const maxSessionsOfUser = 50

export interface Login {
  readonly token: string
  readonly user_sid: string
  readonly scope: (typeof everyone)[number]
  readonly permissions: readonly string[]
  readonly service_provider_sid?: string
  readonly service_provider_name?: string
  readonly account_sid?: string
  readonly account_name?: string
}

/** Further work in the transaction that opens the session. */
type SessionWork = (rows: Repositories) => Promise<void>

/**
 * Starts a session. `user` is as it was verified. Throws account_inactive; wrong_credentials if it has changed since.
 */
export async function startSession(
  user: Row<'users'>,
  services: Services,
  alsoDo: SessionWork = () => Promise.resolve(),
): Promise<Login> {
  const { user_sid, name } = user
  const facts = {
    user_sid,
    scope: scopeOf(user),
    permissions: permissionsOf(user),
    ...(await tenantOf(user, services.storage.for(systemTenancy))),
  }
  const session_sid = createSid()
  // Signed before the session is opened, so that signing does not prolong the transaction.
  const token = await services.tokens.issue(
    { session_sid, user_sid },
    { ...facts, name, is_view_only: isViewOnly(facts.permissions) },
  )
  await openSession(session_sid, user, services, alsoDo)
  return { token, ...facts }
}

export function scopeOf({
  account_sid,
  service_provider_sid,
}: Pick<Row<'users'>, 'account_sid' | 'service_provider_sid'>): Login['scope'] {
  if (account_sid !== null) return 'account'
  return service_provider_sid === null ? 'admin' : 'service_provider'
}

/** Ends sessions. `rows` are the platform's own: sessions belong to no tenant. */
export async function endSessions(rows: Repositories, user_sid: string, except?: string): Promise<void> {
  for (const { user_session_sid } of await rows.user_sessions.list({ where: { user_sid } }))
    if (user_session_sid !== except) await rows.user_sessions.remove(user_session_sid)
}

async function tenantOf(
  { account_sid, service_provider_sid }: Row<'users'>,
  rows: Repositories,
): Promise<Partial<Login>> {
  const provider =
    service_provider_sid === null ? undefined : await rows.service_providers.find(service_provider_sid)
  const account = account_sid === null ? undefined : await rows.accounts.find(account_sid)
  if (account !== undefined && account.is_active !== 1)
    throw new AppError('account_inactive', 'the account is not active')
  return {
    ...(provider === undefined
      ? {}
      : { service_provider_sid: provider.service_provider_sid, service_provider_name: provider.name }),
    ...(account === undefined ? {} : { account_sid: account.account_sid, account_name: account.name }),
  }
}

async function openSession(
  session_sid: string,
  user: Row<'users'>,
  { storage, clock }: Services,
  alsoDo: SessionWork,
): Promise<void> {
  const now = clock.now()
  const { user_sid } = user
  await storage.transaction(systemTenancy, async (rows) => {
    // A login replaces an outdated hash once in a user's life; simultaneous logins are then refused here, too.
    demandUnchanged(await rows.users.find(user_sid), user)
    const sessions = await rows.user_sessions.list({ where: { user_sid }, orderBy: ['created_at'] })
    const live = sessions.filter(({ expires_at }) => expires_at > now)
    const surplus = live.slice(0, Math.max(0, live.length + 1 - maxSessionsOfUser))
    const ended = sessions.filter((one) => !live.includes(one) || surplus.includes(one))
    for (const { user_session_sid } of ended) await rows.user_sessions.remove(user_session_sid)
    await rows.user_sessions.insert({
      user_session_sid: session_sid,
      user_sid,
      expires_at: now + tokenLifetimeMs,
    })
    await alsoDo(rows)
  })
}
