// A commit that hangs, beside a main thread that is held up while the database is well.
import { expect, it } from 'vitest'
import { createSid } from '../../lib/ids.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { makeAccount, onEachStore } from '../../../test/support/each-store.ts'

onEachStore(({ name, open }) => {
  // SQLite is in this process: no other session can hold its tables.
  it.skipIf(name !== 'PostgreSQL')(
    'a commit that hangs refuses calls after three seconds, until it comes',
    async () => {
      const clock = createFakeClock()
      const test = await open({ clock })
      try {
        const { calls } = test.storage
        const { account_sid } = await makeAccount(test.storage)
        const held = test.query('lock table call_journal in exclusive mode; select pg_sleep(2)')
        const call_sid = createSid()
        let written = 0
        // Commits succeed until the other session has its lock; then one hangs.
        await expect
          .poll(
            () => {
              written += 1
              const events = [{ seq: written, at: 1, type: 'fact' }]
              calls.write({ call_sid, account_sid, events, notifications: [] }, 'now')
              clock.advance(500)
              return calls.refusal()?.code
            },
            { interval: 20 },
          )
          .toBe('database_unavailable')
        await held
        await calls.flush()
        expect(calls.refusal()).toBeUndefined()
      } finally {
        await test.close()
      }
    },
  )

  it('a main thread that is held up is not taken for a database that does not respond', async () => {
    const test = await open()
    try {
      const { calls } = test.storage
      const { account_sid } = await makeAccount(test.storage)
      const events = [{ seq: 1, at: 1, type: 'fact' }]
      calls.write({ call_sid: createSid(), account_sid, events, notifications: [] }, 'now')
      const flushed = calls.flush()
      await new Promise(setImmediate)
      const until = performance.now() + 3200
      while (performance.now() < until);
      expect(calls.refusal()).toBeUndefined()
      await flushed
    } finally {
      await test.close()
    }
  })
})
