// The first boot of a platform: it makes a service provider with one account, an admin, and an API key for each of the
// two. It runs at every start and acts once.
import { systemTenancy } from '../contracts/caller.ts'
import { apiKeyColumns } from '../lib/api-key.ts'
import { createWebhookSecret, randomToken, randomUuid } from '../lib/ids.ts'
import { hashPassword } from '../passwords/password.ts'
import type { Repositories, Row, RowStorage } from './rows/rows.ts'

/** Secrets for the first boot. Each is generated when undefined. */
export interface FirstBootOptions {
  /** Shows the secrets. Resolves once the operator can read them; only then is anything stored. */
  readonly show: (secrets: FirstBootSecrets) => Promise<void>
  readonly adminPassword?: string | undefined
  readonly adminApiKey?: string | undefined
  readonly accountApiKey?: string | undefined
}

/** Secrets to be shown once, then forgotten. */
export interface FirstBootSecrets {
  readonly username: string
  readonly password: string
  readonly apiKey: string
  readonly account_sid: string
  readonly accountApiKey: string
  /** True if it came from the settings: the operator has it already, so it need not be shown. */
  readonly isPasswordGiven: boolean
  readonly isApiKeyGiven: boolean
  readonly isAccountApiKeyGiven: boolean
}

const passwordBytes = 15

/** Does nothing when the platform has been set up before. */
export async function firstBoot(
  storage: Pick<RowStorage, 'for' | 'transaction'>,
  { adminPassword, adminApiKey, accountApiKey, show }: FirstBootOptions,
): Promise<void> {
  if (await isSetUp(storage.for(systemTenancy))) return
  const password = adminPassword ?? randomToken(passwordBytes)
  const adminKey = adminApiKey ?? randomUuid()
  const accountKey = accountApiKey ?? randomUuid()
  const hashed_password = await hashPassword(password)
  await storage.transaction(systemTenancy, async (rows) => {
    // This is checked again in the transaction: another process may have come first while the password was hashed.
    if (await isSetUp(rows)) return
    // A password that was generated and printed also stays in the history of the terminal.
    const force_change = adminPassword === undefined ? 1 : 0
    await rows.users.insert(adminUser({ hashed_password, force_change }))
    await rows.api_keys.insert(apiKeyColumns(adminKey))
    const account = await insertDefaultAccount(rows)
    await rows.api_keys.insert({ ...apiKeyColumns(accountKey), account_sid: account.account_sid })
    // Shown before the commit: if the process ends now, the secrets that were shown are valid for nothing, and the
    // next start makes others. After the commit, it would leave a platform whose secrets were never shown.
    await show({
      username: 'admin',
      password,
      apiKey: adminKey,
      account_sid: account.account_sid,
      accountApiKey: accountKey,
      isPasswordGiven: adminPassword !== undefined,
      isApiKeyGiven: adminApiKey !== undefined,
      isAccountApiKeyGiven: accountApiKey !== undefined,
    })
  })
}

/** Reports whether the platform was set up. The last provider cannot be removed, so only a new platform has none. */
export async function isSetUp({ service_providers }: Repositories): Promise<boolean> {
  return (await service_providers.count()) > 0
}

/** Makes the first account. Portals offer a choice of providers and accounts, and fail if either list is empty. */
async function insertDefaultAccount({ service_providers, accounts }: Repositories): Promise<Row<'accounts'>> {
  const { service_provider_sid } = await service_providers.insert({ name: 'default service provider' })
  const webhook_secret = createWebhookSecret()
  return accounts.insert({ name: 'default account', service_provider_sid, webhook_secret })
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
