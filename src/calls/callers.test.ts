// Who is calling, and what of a caller's own words is believed.
import { describe, expect, it } from 'vitest'
import type { JournalEvent } from './journal.ts'
import { account, application, createPlatform, settle } from './testing/platform.ts'
import type { Platform } from './testing/platform.ts'
import { parsePlainVerbs } from './testing/plain-verbs.ts'

function platform(): Platform {
  const made = createPlatform(parsePlainVerbs)
  made.hooks.on('/call', [{ verb: 'answer' }])
  return made
}

function journalOf({ calls, store }: Platform): readonly JournalEvent[] {
  const [record] = store.records
  return record === undefined ? [] : (calls.journal(account.account_sid, record.call_sid) ?? [])
}

describe('a SIP user', () => {
  it('whose phone was given our address is known by the domain of From', async () => {
    const at = platform()
    at.ring({ to: `app-${application.application_sid}@192.0.2.4` })
    await settle()
    expect(at.store.records).toMatchObject([{ account_sid: account.account_sid, answered: true }])
  })

  it('leaves a note in the journal when the digest was computed for another URI', async () => {
    const at = platform()
    const { authentication } = at
    if (authentication.verdict !== 'accepted') throw new Error('not accepted')
    at.authentication = { ...authentication, note: 'the digest was computed for sip:192.0.2.4' }
    at.ring()
    await settle()
    expect(journalOf(at)).toContainEqual(
      expect.objectContaining({
        type: 'decision',
        rule: 'digest-uri',
        outcome: 'the digest was computed for sip:192.0.2.4',
      }),
    )
  })
})
