// The ring group with four real phones: all ring and one answers; then all reject and an announcement is heard.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Baresip } from '../test/support/baresip.ts'
import { soundSegments, toneSegments } from '../test/support/audio.ts'
import { happens, startExample, type ExampleRun } from '../test/support/example-run.ts'
import { sharedPlatform } from '../test/support/platform-process.ts'
import { createListening } from '../test/support/real-phones.ts'
import { isMissing } from '../test/support/tools.ts'
import { until } from '../test/support/wait.ts'

const callerHz = 700
const memberHz = 1100

describe.skipIf(isMissing('baresip'))('npm run example -- ring-group', () => {
  let run: ExampleRun
  let caller: Baresip
  let members: Baresip[]
  beforeAll(async () => {
    run = await startExample('ring-group', await sharedPlatform())
    caller = await run.phone('caller', { hz: callerHz })
    members = await Promise.all(['anna', 'ben', 'chris'].map((name) => run.phone(name, { hz: memberHz })))
  })
  afterAll(() => run?.close())

  /** Returns the counts of events so far, from which those of the next call are counted. */
  async function ringAll(): Promise<{ readonly atCaller: number; readonly atMembers: readonly number[] }> {
    const atCaller = caller.events.items.length
    const before = members.map(({ events }) => events.items.length)
    await caller.dial(`sip:500@${run.shown('domain')}`)
    const atMembers = await Promise.all(
      members.map((member, n) => happens(member, 'CALL_INCOMING', before[n])),
    )
    await happens(caller, 'CALL_RINGING', atCaller)
    return { atCaller, atMembers }
  }

  it('lets every phone ring, and connects the first that answers', async () => {
    const { atCaller, atMembers } = await ringAll()
    const [anna, ben, chris] = members
    await ben?.command('accept')
    await happens(caller, 'CALL_ESTABLISHED', atCaller)
    // The others stop ringing, and list no missed call.
    for (const [phone, n] of [
      [anna, 0],
      [chris, 2],
    ] as const)
      if (phone !== undefined) await happens(phone, 'CALL_CLOSED', atMembers[n])
    await until('the caller to hear who answered', async () =>
      toneSegments(await caller.heard(), memberHz).some(({ startMs, endMs }) => endMs - startMs > 500),
    )
    await ben?.hangUp()
    await happens(caller, 'CALL_CLOSED', atCaller)
  }, 60_000)

  it('says that no one is there when every phone rejects the call, and hangs up', async () => {
    const { atCaller } = await ringAll()
    for (const member of members) await member.hangUp()
    await happens(caller, 'CALL_ESTABLISHED', atCaller)
    await happens(caller, 'CALL_CLOSED', atCaller)
    // The phone may complete its file only after the event.
    await until('the announcement', async () => {
      const [first, last] = [soundSegments(await caller.heard())].flatMap((all) => [all[0], all.at(-1)])
      return (last?.endMs ?? 0) - (first?.startMs ?? 0) > 2000
    })
    expect(toneSegments(await caller.heard(), memberHz)).toEqual([])
  }, 60_000)

  it.skipIf(isMissing('linphone', 'pjsua2'))(
    'lets three kinds of phone ring, and connects the first that answers',
    async () => {
      await run.stopPhones()
      const listening = createListening()
      const [anna, ben, chris] = await Promise.all([
        run.phoneOf('baresip', 'anna'),
        run.phoneOf('linphone', 'ben', { hz: memberHz }),
        run.phoneOf('pjsua2', 'chris'),
      ])
      const other = await run.phoneOf('pjsua2', 'caller', { hz: callerHz })
      await other.dial(`sip:500@${run.shown('domain')}`)
      await Promise.all([anna, ben, chris].map((phone) => phone.is('called')))
      await ben.answer()
      await other.is('talking')
      await Promise.all([anna.is('ended'), chris.is('ended')])
      await listening.hearEachOther(other, ben)
      await other.hangUp()
      await ben.is('ended')
      await listening.settled()
    },
    60_000,
  )
})
