import { expect, it } from 'vitest'
import { makeAccount, onEachStore } from '../../../test/support/each-store.ts'
import type { OutdialUsage } from '../../contracts/outdial-usage.ts'
import { createSid } from '../../lib/ids.ts'

onEachStore(({ open }) => {
  it('what a process has counted is known to the next one, without the days that are over', async () => {
    const test = await open()
    const { account_sid } = await makeAccount(test.storage)
    const today = 20_000
    const usage: OutdialUsage = {
      account_sid,
      minute: 5,
      callsInMinute: 2,
      day: today,
      spokenMs: 60_000.5,
      live: 1,
      at: 1_700_000_000_000,
    }
    const { outdialUsage } = test.storage
    // One account is gone, and one has been counted before.
    const gone = { ...usage, account_sid: createSid() }
    expect(await outdialUsage.exchange([usage, gone], today)).toEqual([])
    expect(await outdialUsage.exchange([{ ...usage, spokenMs: 90_000 }], today)).toEqual([])
    const next = await test.reopen()
    expect(await next.outdialUsage.exchange([], today)).toEqual([{ ...usage, spokenMs: 90_000 }])
    expect(await next.outdialUsage.exchange([], today + 1)).toEqual([])
    await test.close()
  })
})
