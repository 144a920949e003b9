import { expect, it } from 'vitest'
import { createDirectory } from './create-directory.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { makeAccount, onEachStore } from '../../test/support/each-store.ts'

onEachStore(({ open }) => {
  it('reads nothing for the second call of a user, also where there is no registration hook', async () => {
    const test = await open()
    try {
      const { storage } = test
      const { account_sid } = await makeAccount(storage)
      const realm = 'quiet.example.test'
      await storage.for(systemTenancy).accounts.update(account_sid, { sip_realm: realm })
      let reads = 0
      const counted: Pick<typeof storage, 'for' | 'revision'> = {
        for: (...wanted) => {
          reads += 1
          return storage.for(...wanted)
        },
        revision: (tables) => storage.revision(tables),
      }
      const directory = createDirectory({ storage: counted, clock: createFakeClock() })
      expect(await directory.registrationHook(realm)).toBeUndefined()
      const readsOfFirst = reads
      expect(readsOfFirst).toBeGreaterThan(0)
      expect(await directory.registrationHook(realm)).toBeUndefined()
      expect(reads).toBe(readsOfFirst)
    } finally {
      await test.close()
    }
  })

  it.each([
    ['has the second recogniser of an application that wants one', 1, { vendor: 'spare', label: 'second' }],
    ['has none where fallback speech is switched off', 0, undefined],
  ] as const)('%s', async (_, use_for_fallback_speech, expected) => {
    const test = await open()
    try {
      const { storage } = test
      const { account_sid } = await makeAccount(storage)
      const { application_sid } = await storage.for(systemTenancy).applications.insert({
        account_sid,
        name: 'front desk',
        use_for_fallback_speech,
        fallback_speech_recognizer_vendor: 'spare',
        fallback_speech_recognizer_label: 'second',
      })
      const directory = createDirectory({ storage, clock: createFakeClock() })
      const application = await directory.application(account_sid, application_sid)
      expect(application?.fallback_recognizer).toEqual(expected)
    } finally {
      await test.close()
    }
  })
})
