// What a new platform starts with: one service provider, one admin, one admin key. Runs at every start, acts once.
import { systemTenancy } from '../lib/caller.ts'
import { apiKeyColumns } from '../lib/api-key.ts'
import { randomToken, randomUuid } from '../lib/ids.ts'
import { hashPassword } from '../lib/password.ts'
import type { Row, Storage } from './storage.ts'

export interface FirstBootOptions {
  /** Generated when undefined. */
  readonly adminPassword?: string | undefined
  readonly adminApiKey?: string | undefined
}

/** To be shown once, then forgotten. */
export interface FirstBootSecrets {
  readonly username: string
  readonly password: string
  readonly apiKey: string
  /** True when it came from the settings: the operator knows it and it need not be shown. */
  readonly isPasswordGiven: boolean
  readonly isApiKeyGiven: boolean
}

const passwordBytes = 15

/** Undefined when the platform has been set up before. */
export async function firstBoot(
  storage: Pick<Storage, 'for' | 'transaction'>,
  { adminPassword, adminApiKey }: FirstBootOptions,
): Promise<FirstBootSecrets | undefined> {
  if ((await storage.for(systemTenancy).service_providers.count()) > 0) return undefined
  const password = adminPassword ?? randomToken(passwordBytes)
  const apiKey = adminApiKey ?? randomUuid()
  const hashed_password = await hashPassword(password)
  const isMade = await storage.transaction(systemTenancy, async (repositories) => {
    // Asked again inside: another process may have come first while the password was hashed.
    if ((await repositories.service_providers.count()) > 0) return false
    await repositories.service_providers.insert({ name: 'default service provider' })
    // A password that was generated and printed is known to the terminal's history too.
    const force_change = adminPassword === undefined ? 1 : 0
    await repositories.users.insert(adminUser({ hashed_password, force_change }))
    await repositories.api_keys.insert(apiKeyColumns(apiKey))
    return true
  })
  if (!isMade) return undefined
  return {
    username: 'admin',
    password,
    apiKey,
    isPasswordGiven: adminPassword !== undefined,
    isApiKeyGiven: adminApiKey !== undefined,
  }
}

export function adminUser(secrets: Pick<Row<'users'>, 'hashed_password' | 'force_change'>) {
  return {
    name: 'admin',
    email: 'admin@localhost',
    permissions: JSON.stringify(['VIEW_ONLY', 'PROVISION_SERVICES', 'PROVISION_USERS']),
    email_validated: 1,
    ...secrets,
  } as const
}
