import { afterEach, describe, expect, it, vi } from 'vitest'
import { hashApiKey } from '../lib/api-key.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { verifyPassword } from '../passwords/password.ts'
import { firstBoot, type FirstBootOptions, type FirstBootSecrets } from './first-boot.ts'
import type { Repositories, Row } from './rows/rows.ts'
import { onEachStore, type TestStorage } from '../../test/support/each-store.ts'

onEachStore(({ open }) => {
  let test: TestStorage
  afterEach(() => test.close())

  const rows = (): Repositories => test.storage.for(systemTenancy)

  async function bootNew(): Promise<FirstBootSecrets> {
    test = await open()
    const secrets = await boot()
    if (secrets === undefined) throw new Error('the platform is not new')
    return secrets
  }

  /** Runs a first boot and returns the secrets that were shown, or undefined if none were. */
  async function boot(given: Omit<FirstBootOptions, 'show'> = {}): Promise<FirstBootSecrets | undefined> {
    let shown: FirstBootSecrets | undefined
    const show: FirstBootOptions['show'] = async (secrets) => void (shown = secrets)
    await firstBoot(test.storage, { ...given, show })
    return shown
  }

  async function keyOf(token: string): Promise<Row<'api_keys'> | undefined> {
    const [key] = await rows().api_keys.list({ where: { token_hash: hashApiKey(token) } })
    return key
  }

  describe('first boot', () => {
    it('makes an admin with a key, and tells their secrets', async () => {
      const secrets = await bootNew()
      expect(secrets).toMatchObject({ username: 'admin', isPasswordGiven: false, isApiKeyGiven: false })
      expect(secrets.password.length).toBeGreaterThanOrEqual(16)
      const [admin, ...others] = await rows().users.list()
      expect(others).toEqual([])
      expect(admin).toMatchObject({
        name: 'admin',
        provider: 'local',
        is_active: 1,
        force_change: 1,
        email_validated: 1,
        account_sid: null,
        service_provider_sid: null,
      })
      expect(await verifyPassword(secrets.password, admin?.hashed_password ?? '')).toBe(true)
      expect(await keyOf(secrets.apiKey)).toMatchObject({ account_sid: null, service_provider_sid: null })
    })

    it('makes a provider with one account, which has a signing secret and a key of its own', async () => {
      const { account_sid, apiKey, accountApiKey, isAccountApiKeyGiven } = await bootNew()
      const [provider, ...otherProviders] = await rows().service_providers.list()
      expect(otherProviders).toEqual([])
      expect(provider).toMatchObject({ name: 'default service provider' })
      const service_provider_sid = provider?.service_provider_sid
      const [account, ...otherAccounts] = await rows().accounts.list()
      expect(otherAccounts).toEqual([])
      expect(account).toMatchObject({
        account_sid,
        service_provider_sid,
        name: 'default account',
        sip_realm: null,
        is_active: 1,
        webhook_secret: expect.stringMatching(/^wh_secret_[\w-]{22}$/),
      })
      expect(isAccountApiKeyGiven).toBe(false)
      expect(accountApiKey).not.toBe(apiKey)
      expect(await keyOf(accountApiKey)).toMatchObject({
        account_sid,
        service_provider_sid,
        expires_at: null,
      })
      expect(await rows().api_keys.count()).toBe(2)
    })

    it('acts once: what was removed or changed since stays so', async () => {
      const { account_sid } = await bootNew()
      await rows().accounts.remove(account_sid)
      await test.reopen()
      expect(await boot({ adminPassword: 'another one' })).toBeUndefined()
      expect(await rows().accounts.count()).toBe(0)
      expect(await rows().users.count()).toBe(1)
      expect(await rows().api_keys.count()).toBe(1)
    })

    it('leaves alone what an earlier version has set up: a provider without an account', async () => {
      test = await open()
      await rows().service_providers.insert({ name: 'default service provider' })
      const given = { accountApiKey: 'given-account-key-012345' }
      expect(await boot(given)).toBeUndefined()
      expect(await rows().accounts.count()).toBe(0)
      expect(await rows().api_keys.count()).toBe(0)
      expect(await rows().users.count()).toBe(0)
    })

    it('uses the secrets of the settings', async () => {
      test = await open()
      const given = {
        adminPassword: 'given password',
        adminApiKey: 'given-key-0123456789',
        accountApiKey: 'given-account-key-012345',
      }
      const secrets = await boot(given)
      expect(secrets).toMatchObject({
        password: given.adminPassword,
        apiKey: given.adminApiKey,
        accountApiKey: given.accountApiKey,
        isPasswordGiven: true,
        isApiKeyGiven: true,
        isAccountApiKeyGiven: true,
      })
      const [admin] = await rows().users.list()
      expect(admin?.force_change).toBe(0)
      expect(await keyOf(given.adminApiKey)).toMatchObject({ account_sid: null })
      expect(await keyOf(given.accountApiKey)).toMatchObject({ account_sid: secrets?.account_sid })
    })

    it('stores no secret that was not shown: when showing fails nothing is stored, and the next start shows its own', async () => {
      test = await open()
      const show = vi.fn().mockRejectedValue(new Error('the terminal has gone'))
      await expect(firstBoot(test.storage, { show })).rejects.toThrow('the terminal has gone')
      const [[lost]] = show.mock.calls as [[FirstBootSecrets]]
      expect(await keyOf(lost.apiKey)).toBeUndefined()
      expect(await rows().users.count()).toBe(0)
      const secrets = await boot()
      expect(await keyOf(secrets?.apiKey ?? '')).toBeDefined()
    })

    it('shows the secrets before anything is committed, so that a crash in between leaves nothing', async () => {
      test = await open()
      const seen: unknown[] = []
      const show = async (): Promise<void> => {
        seen.push(
          await rows().service_providers.count(),
          await rows().users.count(),
          await rows().api_keys.count(),
        )
      }
      await firstBoot(test.storage, { show })
      expect(seen).toEqual([0, 0, 0])
      expect(await rows().users.count()).toBe(1)
    })

    it('acts once when two come at the same time, and leaves no secret in the files', async () => {
      test = await open()
      const outcomes = await Promise.all([boot(), boot()])
      const [told, ...others] = outcomes.filter((secrets) => secrets !== undefined)
      expect(others).toEqual([])
      expect(await rows().accounts.count()).toBe(1)
      const account = await rows().accounts.find(told?.account_sid ?? '')
      const contents = await test.contents()
      expect(contents).toContain('default account')
      const secrets = [told?.password, told?.apiKey, told?.accountApiKey, account?.webhook_secret]
      for (const secret of secrets) {
        expect(secret).toBeTruthy()
        expect(contents).not.toContain(secret)
      }
    })
  })
})
