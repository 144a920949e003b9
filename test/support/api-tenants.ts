// Providers, accounts, keys and users of a platform for API tests.
import { systemTenancy } from '../../src/contracts/caller.ts'
import { apiKeyColumns } from '../../src/lib/api-key.ts'
import { createSid, randomUuid } from '../../src/lib/ids.ts'
import { hashPassword } from '../../src/passwords/password.ts'
import type { Storage } from '../../src/storage/storage.ts'

export interface TestTenant {
  readonly service_provider_sid: string
  readonly account_sid: string
  readonly realm: string
  /** The API keys of the account and of its provider. */
  readonly accountKey: string
  readonly providerKey: string
}

export interface TestTenants {
  readonly adminKey: string
  /** `sibling` shares the provider of `own`; `foreign` shares nothing with it. */
  readonly own: TestTenant
  readonly sibling: TestTenant
  readonly foreign: TestTenant
}

export interface TestUser {
  readonly name?: string
  readonly account_sid?: string
  readonly service_provider_sid?: string
  readonly permissions?: readonly string[]
  readonly is_active?: 0 | 1
  readonly force_change?: 0 | 1
}

export const testPassword = 'correct horse battery staple'

// One hash for all users of a test run: computing one takes tens of milliseconds.
let hashed: Promise<string> | undefined

export async function createUser(storage: Storage, user: TestUser = {}): Promise<string> {
  hashed ??= hashPassword(testPassword)
  const { name = `user-${createSid()}`, permissions = ['PROVISION_USERS'], ...rest } = user
  await storage.for(systemTenancy).users.insert({
    name,
    email: `${name}@example.com`,
    hashed_password: await hashed,
    permissions: JSON.stringify(permissions),
    ...rest,
  })
  return name
}

export async function createTenants(storage: Storage): Promise<TestTenants> {
  const rows = storage.for(systemTenancy)
  const { service_provider_sid: ours } = await rows.service_providers.insert({ name: 'ours' })
  const { service_provider_sid: theirs } = await rows.service_providers.insert({ name: 'theirs' })
  return {
    adminKey: await createKey(storage, {}),
    own: await createTenant(storage, ours, 'own'),
    sibling: await createTenant(storage, ours, 'sibling'),
    foreign: await createTenant(storage, theirs, 'foreign'),
  }
}

async function createTenant(
  storage: Storage,
  service_provider_sid: string,
  name: string,
): Promise<TestTenant> {
  const realm = `${name}.sip.example.com`
  const { account_sid } = await storage
    .for(systemTenancy)
    .accounts.insert({ name, service_provider_sid, sip_realm: realm, webhook_secret: `wh_secret_${name}` })
  return {
    service_provider_sid,
    account_sid,
    realm,
    accountKey: await createKey(storage, { account_sid }),
    providerKey: await createKey(storage, { service_provider_sid }),
  }
}

export async function createKey(
  storage: Storage,
  row: { account_sid?: string; service_provider_sid?: string; expires_at?: number },
): Promise<string> {
  const token = randomUuid()
  await storage.for(systemTenancy).api_keys.insert({ ...apiKeyColumns(token), ...row })
  return token
}
