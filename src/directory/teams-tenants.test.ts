import { afterAll, beforeAll, expect, it } from 'vitest'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import {
  makeAccount,
  onEachStore,
  type TestAccount,
  type TestStorage,
} from '../../test/support/each-store.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { createDirectory } from './create-directory.ts'
import type { StorageDirectory } from './directory.ts'
import { createTrunkDirectory } from './trunks.ts'

onEachStore(({ open }) => {
  let test: TestStorage
  let own: TestAccount
  let another: TestAccount
  let directory: StorageDirectory
  beforeAll(async () => {
    test = await open()
    own = await makeAccount(test.storage)
    another = await makeAccount(test.storage)
    directory = createDirectory({ storage: test.storage, clock: createFakeClock() })
    const { service_providers, ms_teams_tenants } = test.storage.for(systemTenancy)
    await service_providers.update(own.service_provider_sid, { ms_teams_fqdn: 'teams.example.com' })
    const add = (account: TestAccount, tenant_fqdn: string) => {
      const { account_sid, service_provider_sid } = account
      return ms_teams_tenants.insert({ tenant_fqdn, account_sid, service_provider_sid })
    }
    await add(own, 'acme.teams.example.com')
    await add(own, 'sbc.acme.example')
    await add(another, 'other.teams.example.com')
  })
  afterAll(() => test.close())

  it('knows whose tenant a name is, and in which name Microsoft is asked for it', async () => {
    expect(await directory.teamsTenant('acme.teams.example.com')).toMatchObject({
      account_sid: own.account_sid,
      ping_fqdn: 'teams.example.com',
    })
    // The tenant is below the domain of a provider that is not its own.
    expect(await directory.teamsTenant('other.teams.example.com')).toMatchObject({
      account_sid: another.account_sid,
      ping_fqdn: 'other.teams.example.com',
    })
    expect(await directory.teamsTenant('unknown.example')).toBeUndefined()
  })

  it('has the tenants of one account alone, the oldest first, and sees a change at once', async () => {
    const namesOf = async ({ account_sid }: TestAccount): Promise<string[]> =>
      (await directory.teamsTenantsOf(account_sid)).map(({ tenant_fqdn }) => tenant_fqdn)
    expect((await namesOf(own)).toSorted()).toEqual(['acme.teams.example.com', 'sbc.acme.example'])
    expect(await namesOf(another)).toEqual(['other.teams.example.com'])
    const { ms_teams_tenants } = test.storage.for(systemTenancy)
    const tenant = await directory.teamsTenant('other.teams.example.com')
    await ms_teams_tenants.remove(tenant?.ms_teams_tenant_sid ?? '')
    expect(await namesOf(another)).toEqual([])
    const { account_sid, service_provider_sid } = another
    await ms_teams_tenants.insert({
      tenant_fqdn: 'other.teams.example.com',
      account_sid,
      service_provider_sid,
    })
  })

  it('has each proxy asked in the names of providers, and of tenants that lie below none of theirs', async () => {
    const proxies = [
      { host: 'one.example', port: 5061 },
      { host: 'two.example', port: 5062 },
    ]
    const trunks = createTrunkDirectory(test.storage, proxies)
    const found = await trunks.teams()
    const asked = found.flatMap(({ gateways }) =>
      gateways.map(({ ourName, host, port }) => `${ourName} ${host}:${port}`),
    )
    expect(asked.toSorted()).toEqual([
      'other.teams.example.com one.example:5061',
      'other.teams.example.com two.example:5062',
      'sbc.acme.example one.example:5061',
      'sbc.acme.example two.example:5062',
      'teams.example.com one.example:5061',
      'teams.example.com two.example:5062',
    ])
    expect(found.find(({ name }) => name.includes('sbc.acme'))?.owner).toEqual({
      account_sid: own.account_sid,
    })
    const before = trunks.revision()
    const { ms_teams_tenants } = test.storage.for(systemTenancy)
    await ms_teams_tenants.insert({
      tenant_fqdn: 'late.example.net',
      service_provider_sid: own.service_provider_sid,
    })
    expect(trunks.revision()).toBeGreaterThan(before)
  })
})
