// The menu with three real phones: the pressed keys, the users that are reached, the audio that is heard.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { soundSegments, toneSegments, type Audio } from '../test/support/audio.ts'
import { happens, startExample, type ExampleRun } from '../test/support/example-run.ts'
import { sharedPlatform } from '../test/support/platform-process.ts'
import { createListening } from '../test/support/real-phones.ts'
import { isMissing } from '../test/support/tools.ts'
import { until } from '../test/support/wait.ts'
import { transferKeys } from './ivr.ts'

const hz = { caller: 700, sales: 1100, support: 1500 } as const

describe.skipIf(isMissing('baresip'))('npm run example -- ivr', () => {
  let run: ExampleRun
  beforeAll(async () => {
    run = await startExample('ivr', await sharedPlatform())
  })
  afterAll(() => run?.close())

  const heardMs = (audio: Audio, of: keyof typeof hz): number =>
    toneSegments(audio, hz[of]).reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)

  it('connects the caller with sales, which hands it on to support with two keys', async () => {
    const caller = await run.phone('caller', { hz: hz.caller })
    const sales = await run.phone('sales', { hz: hz.sales, answers: 'auto' })
    const support = await run.phone('support', { hz: hz.support, answers: 'auto' })
    await caller.dial(`sip:500@${run.shown('domain')}`)
    await happens(caller, 'CALL_ESTABLISHED')
    await until('the menu to be heard', async () => soundSegments(await caller.heard()).length > 0)
    await caller.press('1')
    await happens(sales, 'CALL_ESTABLISHED')
    await until('sales to hear the caller', async () => heardMs(await sales.heard(), 'caller') > 500)
    await until('the caller to hear sales', async () => heardMs(await caller.heard(), 'sales') > 500)

    await sales.press(transferKeys)
    await happens(support, 'CALL_ESTABLISHED')
    await happens(sales, 'CALL_CLOSED')
    await until('support to hear the caller', async () => heardMs(await support.heard(), 'caller') > 500)
    await until('the caller to hear support', async () => heardMs(await caller.heard(), 'support') > 500)
    await support.hangUp()
    await happens(caller, 'CALL_CLOSED')
    for (const phone of [caller, sales, support]) await phone.stop()
  }, 60_000)

  it('rings at sales for one who dials it, and is answered together with it', async () => {
    const caller = await run.phone('caller', { hz: hz.caller })
    const sales = await run.phone('sales', { hz: hz.sales })
    await caller.dial(`sip:sales@${run.shown('domain')}`)
    await happens(sales, 'CALL_INCOMING')
    await happens(caller, 'CALL_RINGING')
    expect(caller.events.items.map(({ type }) => type)).not.toContain('CALL_ESTABLISHED')
    await sales.command('accept')
    await happens(caller, 'CALL_ESTABLISHED')
    await caller.hangUp()
    await happens(sales, 'CALL_CLOSED')
  }, 60_000)

  it.skipIf(isMissing('linphone', 'pjsua2'))(
    'does the same for three kinds of phone',
    async () => {
      await run.stopPhones()
      const listening = createListening()
      const [sales, support, caller] = await Promise.all([
        run.phoneOf('pjsua2', 'sales', { hz: hz.sales, answers: 'auto' }),
        run.phoneOf('baresip', 'support', { hz: hz.support, answers: 'auto' }),
        run.phoneOf('linphone', 'caller', { hz: hz.caller }),
      ])
      await caller.dial(`sip:500@${run.shown('domain')}`)
      await caller.is('talking')
      await run.process.lines.next('the menu', (line) => line.includes('POST /call, answers gather'))
      await caller.press('1')
      await sales.is('talking')
      await listening.hearEachOther(caller, sales)
      await sales.press(transferKeys)
      await support.is('talking')
      await sales.is('ended')
      await listening.hearEachOther(caller, support)
      await support.hangUp()
      await caller.is('ended')
      await listening.settled()
    },
    60_000,
  )

  it('takes no hook that the platform has not signed', async () => {
    const response = await fetch(`${run.shown('The application listens at').split('. ')[0]}/call`, {
      method: 'POST',
      body: JSON.stringify({ to: '500' }),
    })
    expect(response.status).toBe(401)
  })
})
