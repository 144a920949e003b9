import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../test/support/wait.ts'
import { createCarrierHosts, type CarrierHosts } from './carrier-hosts.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts'
import { silentLogger } from '../lib/log.ts'
import type { Repositories } from '../storage/storage.ts'
import { onEachStore, type TestStorage } from '../../test/support/each-store.ts'

onEachStore(({ open }) => {
  let test: TestStorage
  let clock: FakeClock
  let hosts: CarrierHosts
  let rows: Repositories
  const accounts: string[] = []

  beforeEach(async () => {
    clock = createFakeClock()
    test = await open({ clock })
    rows = test.storage.for(systemTenancy)
    hosts = createCarrierHosts({ storage: test.storage, clock, log: silentLogger })
    const { service_provider_sid } = await rows.service_providers.insert({ name: 'p' })
    accounts.length = 0
    for (const name of ['a', 'b'])
      accounts.push(
        (await rows.accounts.insert({ service_provider_sid, name, webhook_secret: 's' })).account_sid,
      )
  })
  afterEach(() => test.close())

  const written = (count: number): Promise<boolean> =>
    until(`${count} names`, async () => (await rows.carrier_hosts.count()) === count)
  const call = (host: string, account = 0): void =>
    hosts.carrierCalled({ account_sid: accounts[account] ?? '' }, host)

  describe('the host names that carriers call', () => {
    it('are those of the accounts whose calls they bring', async () => {
      call('sip.example.com')
      await written(1)
      expect(await hosts.isCalledByOthers('sip.example.com', accounts[0] ?? '')).toBe(false)
      expect(await hosts.isCalledByOthers('sip.example.com', accounts[1] ?? '')).toBe(true)
      call('sip.example.com', 1)
      await written(2)
      expect(await hosts.isCalledByOthers('sip.example.com', accounts[0] ?? '')).toBe(true)
    })

    it('are written once an hour', async () => {
      call('sip.example.com')
      await written(1)
      const version = async () => (await rows.carrier_hosts.list({}))[0]?.version
      for (let times = 0; times < 100; times++) call('sip.example.com')
      clock.advance(3_599_999)
      call('sip.example.com')
      // This is written after everything that was begun before it.
      call('other.example.com')
      await written(2)
      expect(await version()).toBe(1)
      clock.advance(1)
      call('sip.example.com')
      await until('the later time', async () => (await version()) === 2)
    })

    it('are no more than 64 for one account', async () => {
      for (let at = 0; at < 64; at++) {
        call(`h${at}.example.com`)
        await written(at + 1)
      }
      call('one-too-many.example.com')
      call('sip.example.com', 1)
      await written(65)
      expect(await rows.carrier_hosts.count({ where: { host: 'one-too-many.example.com' } })).toBe(0)
    })

    it('go with the account', async () => {
      call('sip.example.com')
      await written(1)
      await rows.accounts.remove(accounts[0] ?? '')
      await written(0)
    })
  })
})
