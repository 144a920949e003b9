import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemTenancy } from '../contracts/caller.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { until } from '../../test/support/wait.ts'
import {
  makeAccount,
  onEachStore,
  type TestAccount,
  type TestStorage,
} from '../../test/support/each-store.ts'

onEachStore(({ open }) => {
  const clock = createFakeClock()
  let test: TestStorage
  let own: TestAccount
  let sibling: TestAccount
  let foreign: TestAccount
  beforeAll(async () => {
    test = await open({ clock })
    own = await makeAccount(test.storage)
    sibling = await makeAccount(test.storage, own.service_provider_sid)
    foreign = await makeAccount(test.storage)
  })
  afterAll(() => test.close())

  const raise = (account_sid: string, alert_type: string, message = 'm') =>
    test.storage.alerts.raise({ account_sid, alert_type, message })
  const page = (account: TestAccount, query: object = {}, tenancy = systemTenancy) =>
    test.storage.alerts.page(tenancy, { account_sid: account.account_sid }, { page: 1, count: 10, ...query })

  describe('alerts', () => {
    it('get their provider from their account and are read newest first, by page, type and time', async () => {
      for (const [index, type] of ['no-tts', 'tts-failure', 'no-tts'].entries()) {
        raise(own.account_sid, type, `message ${index}`)
        clock.advance(1000)
      }
      await test.storage.alerts.flush()
      const { total, rows } = await page(own, { count: 2 })
      expect(total).toBe(3)
      expect(rows.map(({ message }) => message)).toEqual(['message 2', 'message 1'])
      expect(rows[0]).toMatchObject({
        service_provider_sid: own.service_provider_sid,
        detail: null,
        call_sid: null,
      })
      expect((await page(own, { page: 2, count: 2 })).rows.map(({ message }) => message)).toEqual([
        'message 0',
      ])
      expect((await page(own, { alert_type: 'no-tts' })).total).toBe(2)
      expect((await page(own, { start: clock.now() - 1000 })).total).toBe(1)
      expect((await page(own, { end: clock.now() - 2000 })).total).toBe(2)
      expect((await page(own, { days: 1, start: clock.now() })).total).toBe(3)
    })

    it('are read only by whom they concern, whatever is asked for', async () => {
      raise(sibling.account_sid, 'no-tts')
      raise(foreign.account_sid, 'no-tts')
      await test.storage.alerts.flush()
      expect((await page(sibling, {}, own.asAccount)).total).toBe(0)
      expect((await page(foreign, {}, own.asProvider)).total).toBe(0)
      expect((await page(sibling, {}, own.asProvider)).total).toBe(1)
      const { service_provider_sid } = own
      const all = { page: 1, count: 10 }
      expect((await test.storage.alerts.page(own.asProvider, { service_provider_sid }, all)).total).toBe(4)
      expect((await test.storage.alerts.page(own.asAccount, { service_provider_sid }, all)).total).toBe(3)
      expect((await test.storage.alerts.page(foreign.asProvider, { service_provider_sid }, all)).total).toBe(
        0,
      )
    })

    it('of a flood are kept in part, and the flood of one account takes nothing from another', async () => {
      const before = (await page(foreign)).total
      for (let count = 0; count < 5000; count++) raise(own.account_sid, 'account-call-limit')
      raise(foreign.account_sid, 'account-call-limit')
      await test.storage.alerts.flush()
      expect((await page(own, { alert_type: 'account-call-limit' })).total).toBe(20)
      expect((await page(foreign)).total).toBe(before + 1)
    })

    it('that name the same are one, whichever node raises it first, for each account and type', async () => {
      const [first, second] = [await makeAccount(test.storage), await makeAccount(test.storage)]
      const once = 'kill_switch at 7'
      for (const message of ['of one node', 'of another', 'of another'])
        test.storage.alerts.raise({ account_sid: first.account_sid, alert_type: 'a', message, once })
      await test.storage.alerts.flush()
      test.storage.alerts.raise({ account_sid: first.account_sid, alert_type: 'a', message: 'later', once })
      test.storage.alerts.raise({ account_sid: first.account_sid, alert_type: 'b', message: 'm', once })
      test.storage.alerts.raise({ account_sid: second.account_sid, alert_type: 'a', message: 'm', once })
      await test.storage.alerts.flush()
      expect((await page(first, { alert_type: 'a' })).rows).toMatchObject([{ message: 'of one node' }])
      expect((await page(first)).total).toBe(2)
      expect((await page(second)).total).toBe(1)
    })

    it('wait while the database refuses, as many for each account, and are written when it takes them', async () => {
      const [account, other] = [await makeAccount(test.storage), await makeAccount(test.storage)]
      await test.query('alter table alerts rename to alerts_away')
      for (let type = 0; type < 200; type++) raise(account.account_sid, `type ${type}`)
      raise(other.account_sid, 'recording-failure', 'the first')
      await test.storage.alerts.flush()
      raise(other.account_sid, 'recording-failure', 'the second')
      clock.advance(1)
      await test.storage.alerts.flush()
      await test.query('alter table alerts_away rename to alerts')
      clock.advance(5000)
      await until('the alerts to be written', async () => (await page(other)).total > 0)
      const { rows } = await page(other)
      expect(rows.map(({ message }) => message).sort()).toEqual(['the first', 'the second'])
      expect((await page(account)).total).toBe(100)
    })

    it('are committed soon without a caller that waits, and at the stop', async () => {
      const account = await makeAccount(test.storage)
      raise(account.account_sid, 'no-stt')
      await test.reopen()
      expect((await page(account)).total).toBe(1)
    })
  })
})
