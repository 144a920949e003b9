// Real phones that transfer: one sends the other side of its call to a third, or joins the two that it talks with.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { happens } from '../support/example-run.ts'
import { hears, hearsMore, openPhoneStage } from '../support/phone-stage.ts'
import type { PhoneStage } from '../support/phone-stage.ts'
import { journalOf, recentCalls } from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'

let stage: PhoneStage

beforeAll(async () => {
  stage = await openPhoneStage()
})

afterEach(() => stage.clear())

afterAll(() => stage?.close())

/** The rules of the journal of each of the last calls. */
async function rulesOf(count: number): Promise<(readonly unknown[])[]> {
  const { platform, tenant } = stage
  const records = await recentCalls(platform.api, tenant.account_sid, count)
  return await Promise.all(
    records.slice(0, count).map(async ({ call_sid }) => {
      const events = await journalOf(platform.api, tenant.account_sid, call_sid)
      return events.map(({ rule, summary }) => rule ?? summary)
    }),
  )
}

describe.skipIf(isMissing('baresip', 'linphone'))('linphone', () => {
  it('joins the two that it talks with: they hear each other, and it has no call left', async () => {
    const alice = await stage.baresip('alice', 'manual')
    const carol = await stage.baresip('carol')
    const bob = await stage.linphone('bob')
    await alice.dial(stage.of('bob'))
    await bob.phone.call('connected')
    await hears(alice, 'bob')
    bob.phone.hold()
    await bob.dial(stage.of('carol'))
    await happens(carol.phone, 'CALL_ESTABLISHED')
    await hears(carol, 'bob')
    await bob.join()
    await bob.phone.call('ended')
    await Promise.all([hears(alice, 'carol'), hears(carol, 'alice')])
    await carol.hangUp()
    await happens(alice.phone, 'CALL_CLOSED')
    const rules = await rulesOf(4)
    for (const one of rules) expect(one).toContain('transfer-attended')
    expect(rules.flat()).toEqual(expect.arrayContaining(['REFER', '202 Accepted', 'NOTIFY']))
  }, 90_000)

  it('sends the other side to a third phone', async () => {
    const alice = await stage.baresip('alice', 'manual')
    const carol = await stage.baresip('carol')
    const bob = await stage.linphone('bob')
    await alice.dial(stage.of('bob'))
    await bob.phone.call('connected')
    await hears(alice, 'bob')
    await bob.transfer(stage.of('carol'))
    await happens(carol.phone, 'CALL_ESTABLISHED')
    await bob.phone.call('ended')
    await Promise.all([hears(alice, 'carol'), hears(carol, 'alice')])
    await alice.hangUp()
    await happens(carol.phone, 'CALL_CLOSED')
  }, 90_000)
})

describe.skipIf(isMissing('baresip'))('baresip', () => {
  it('talks on with the other side when the third phone refuses', async () => {
    const alice = await stage.baresip('alice', 'manual')
    const bob = await stage.baresip('bob')
    const carol = await stage.baresip('carol', 'manual')
    await alice.dial(stage.of('bob'))
    await happens(alice.phone, 'CALL_ESTABLISHED')
    await hears(alice, 'bob')
    await bob.transfer(stage.of('carol'))
    await happens(carol.phone, 'CALL_INCOMING')
    await carol.hangUp()
    await happens(bob.phone, 'TRANSFER_FAILED')
    await Promise.all([hearsMore(alice, 'bob'), hearsMore(bob, 'alice')])
    await alice.hangUp()
    await happens(bob.phone, 'CALL_CLOSED')
    const [, story] = await rulesOf(3)
    expect(story).toContain('transfer')
  }, 90_000)
})
