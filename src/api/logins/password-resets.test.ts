import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createUser } from '../../../test/support/api-tenants.ts'
import { until } from '../../../test/support/wait.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import { silentLogger } from '../../lib/log.ts'
import type { Mail, Mailer } from '../../outgoing/mail.ts'
import { onEachStore, type TestStorage } from '../../../test/support/each-store.ts'
import { createPasswordResets } from './password-resets.ts'

const minuteMs = 60_000

onEachStore(({ name, open }) => {
  const isShared = name === 'PostgreSQL'
  let test: TestStorage
  let clock: FakeClock
  let mails: Mail[]
  let isAway: boolean
  let tried: number
  /** The number of timers of the storage. */
  let others: number
  beforeEach(async () => {
    clock = createFakeClock(Date.UTC(2026, 10, 21))
    test = await open({ clock })
    mails = []
    isAway = false
    tried = 0
    others = clock.pending
  })
  afterEach(() => test.close())

  const mail: Mailer = {
    isConfigured: true,
    async send(one) {
      tried++
      if (isAway) throw new Error('connection refused')
      mails.push(one)
    },
  }
  const createProcess = () =>
    createPasswordResets({
      storage: test.storage,
      mail,
      portalUrl: () => 'https://portal.example.com',
      clock,
      log: silentLogger,
    })
  const rows = () => test.storage.for(systemTenancy)
  const waiting = (): Promise<number> => rows().password_reset_requests.count()
  const address = async (): Promise<string> => `${await createUser(test.storage)}@example.com`

  describe('a request for a new password', () => {
    it('is in the database before anything is known of the address, and gone when the mail is out', async () => {
      const resets = createProcess()
      await resets.request(await address(), test.storage)
      expect([await waiting(), mails.length]).toEqual([1, 0])
      resets.serve()
      await until('the mail', async () => (await waiting()) === 0)
      expect(mails).toHaveLength(1)
      await resets.stop()
    })

    it('for an address that no user has leaves nothing', async () => {
      const resets = createProcess()
      await resets.request('unknown@example.com', test.storage)
      resets.serve()
      await until('the end of it', async () => (await waiting()) === 0)
      expect([tried, await rows().password_resets.count()]).toEqual([0, 0])
      await resets.stop()
    })

    it('that a killed process has left is served by the next', async () => {
      await createProcess().request(await address(), test.storage)
      await test.reopen()
      const next = createProcess()
      await next.start()
      await until('the mail', () => mails.length === 1)
      await next.stop()
    })

    // Without a database that nodes share, there is no other node.
    const ofNodes = isShared ? it : undefined
    ofNodes?.('that a node has left which is gone for good is served by another one', async () => {
      const other = createProcess()
      await other.start()
      await until('the other to be idle', () => clock.pending === others + 1)
      await createProcess().request(await address(), test.storage)
      clock.advance(5 * minuteMs)
      await until('the mail', () => mails.length === 1)
      await other.stop()
    })

    it('is served once, however many processes see it', async () => {
      const processes = [createProcess(), createProcess(), createProcess()]
      for (let count = 0; count < 5; count++) await processes[0]!.request(await address(), test.storage)
      for (const one of processes) one.serve()
      await until('all mails', async () => (await waiting()) === 0)
      for (const one of processes) await one.stop()
      expect(mails).toHaveLength(5)
      expect(new Set(mails.map(({ to }) => to)).size).toBe(5)
    })

    it('is tried again while mail fails, each time with a link that voids the older', async () => {
      const resets = createProcess()
      isAway = true
      await resets.request(await address(), test.storage)
      resets.serve()
      await until('the first try', () => tried === 1)
      await until('its end', () => clock.pending === others + 1)
      isAway = false
      clock.advance(2 * minuteMs)
      await until('the mail', async () => (await waiting()) === 0)
      expect([mails.length, await rows().password_resets.count()]).toEqual([1, 1])
      await resets.stop()
    })

    it('is given up after five tries', async () => {
      const resets = createProcess()
      isAway = true
      await resets.request(await address(), test.storage)
      resets.serve()
      for (const [index, minutes] of [2, 5, 15, 30].entries()) {
        await until('a try', () => tried === index + 1 && clock.pending === others + 1)
        clock.advance(minutes * minuteMs)
      }
      await until('the last try', async () => tried === 5 && (await waiting()) === 0)
      await until('its end', () => clock.pending === others + (isShared ? 1 : 0))
      await resets.stop()
    })

    it('is refused when a hundred wait', async () => {
      const resets = createProcess()
      for (let count = 0; count < 100; count++)
        await resets.request(`someone${count}@example.com`, test.storage)
      await expect(resets.request('one@example.com', test.storage)).rejects.toMatchObject({
        code: 'overloaded',
      })
    })

    it('stands in no audit log, since it changes no record', async () => {
      const resets = createProcess()
      await resets.request('unknown@example.com', test.storage)
      expect(await test.contents()).toContain('unknown@example.com')
      const { rows: entries } = await test.storage.audit.page({ level: 'admin' }, { page: 1, count: 9 })
      expect(entries.map(({ resource }) => resource)).not.toContain('password_reset_requests')
      await resets.stop()
    })
  })
})
