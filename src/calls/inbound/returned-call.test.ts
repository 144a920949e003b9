// Calls that come back to the application that dials them, through systems that make new calls: the INVITE does not
// show it.
import { describe, expect, it } from 'vitest'
import {
  account,
  application,
  outboundCarrier,
  phone,
} from '../../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { matchOf } from '../../../test/support/scripted-engine/carriers.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import type { ScriptedInvite } from '../../../test/support/scripted-engine/scripted-sip.ts'
import { toHeaderFields } from '../application/app-headers.ts'
import { parseVerbs } from '../../verbs/index.ts'

/** Returns an engine whose application dials the second number of a pair for a call to the first. */
function dialling(pairs: Readonly<Record<string, string>>): ScriptedEngine {
  const engine = createScriptedEngine(parseVerbs)
  engine.account = { ...account, device_calling_application_sid: application.application_sid }
  engine.waysOut = [outboundCarrier('carrier')]
  engine.hooks.answers.set('/call', ({ payload }) => {
    const number = pairs[String((payload as { readonly to: string }).to)]
    return Promise.resolve([{ verb: 'dial', answerOnBridge: true, target: [{ type: 'phone', number }] }])
  })
  return engine
}

/** The address that the application's calls go to. */
const away = '192.0.2.10'

async function calls(engine: ScriptedEngine, number: string, address = away): Promise<ScriptedInvite> {
  const invite = engine.ring({ to: `${number}@example.com`, address })
  await settle()
  await settle()
  return invite
}

describe('a call that comes back as a new one', () => {
  it.each([
    ['to the number that it dials', { 500: '+500' }, ['500', '500', '500']],
    ['by way of another number', { 500: '600', 600: '500' }, ['500', '600', '500']],
  ])('%s is refused the second time, and no further one is made', async (_name, pairs, numbers) => {
    const engine = dialling(pairs)
    const invites: ScriptedInvite[] = []
    for (const number of numbers) invites.push(await calls(engine, number))
    expect(invites.map(({ final }) => final?.status)).toEqual([undefined, undefined, 482])
    expect(engine.sent).toHaveLength(2)
    const [refused] = engine.store.records
    const story = engine.store.journalOf(refused?.call_sid ?? '')
    expect(story).toContainEqual(expect.objectContaining({ type: 'refusal', code: 'loop_detected' }))
  })

  it('by a carrier is refused the second time, from whichever of its addresses it comes', async () => {
    const engine = dialling({ 500: '+500' })
    const { account_sid } = account
    const { application_sid } = application
    engine.carriers = [matchOf('c1', { account_sid, application_sid })]
    const invites: ScriptedInvite[] = []
    for (const at of [1, 2, 3]) invites.push(await calls(engine, '500', `198.51.100.${at}`))
    expect(invites.map(({ final }) => final?.status)).toEqual([undefined, undefined, 482])
    expect(engine.sent).toHaveLength(2)
  })

  it('is served where the number that was dialled has been answered', async () => {
    const engine = dialling({ 500: '500' })
    for (let n = 0; n < 5; n++) {
      const invite = await calls(engine, '500')
      engine.sent[n]?.answer()
      await settle()
      await settle()
      expect([invite.final, invite.dialog?.isOver]).toEqual([undefined, false])
    }
  })

  it('is not mistaken for one of many callers of a number', async () => {
    const engine = dialling({ 500: '600' })
    const invites = await Promise.all(Array.from({ length: 20 }, () => calls(engine, '500')))
    expect(invites.map(({ final }) => final?.status)).toEqual(invites.map(() => undefined))
    expect(engine.sent).toHaveLength(20)
  })
})

describe('calls of several phones', () => {
  const calling = 5

  it('to one number that rings are no loop, though the application dials that number', async () => {
    const engine = dialling({ 500: '+500' })
    const invites: ScriptedInvite[] = []
    for (let at = 0; at < calling; at++) invites.push(await calls(engine, '500', `192.0.2.${100 + at}`))
    expect(invites.map(({ final }) => final?.status)).toEqual(invites.map(() => undefined))
    expect(engine.sent).toHaveLength(calling)
  })

  it('to one user who rings are no loop, in the network of that user too', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.account = { ...account, device_calling_application_sid: null }
    engine.phones.set(phone.aor, [phone])
    const invites: ScriptedInvite[] = []
    for (let at = 0; at < calling; at++) invites.push(await calls(engine, 'alice', phone.remote.address))
    expect(invites.map(({ final }) => final?.status)).toEqual(invites.map(() => undefined))
    expect(engine.sent).toHaveLength(calling)
  })
})

describe('a call that comes back over other accounts and systems', () => {
  it('is refused where it has passed through the platform five times', async () => {
    const engine = dialling({ 500: '+600' })
    const passages = [0, 1, 4, 5, 6]
    const invites: ScriptedInvite[] = []
    for (const count of passages) {
      invites.push(engine.ring({ to: '500@example.com', passages: count }))
      await settle()
      await settle()
    }
    expect(invites.map(({ final }) => final?.status)).toEqual([undefined, undefined, undefined, 482, 482])
    expect(engine.sent.map(({ options }) => options.passages)).toEqual([1, 2, 5])
    const story = engine.store.journalOf(engine.store.records[0]?.call_sid ?? '')
    expect(story).toContainEqual(
      expect.objectContaining({
        type: 'refusal',
        code: 'loop_detected',
        sentence: 'the call has passed through this platform 5 times before',
      }),
    )
  })

  it('cannot have its count set by an application', () => {
    const { fields, refused } = toHeaderFields({ 'X-Switchhook-Passages': '0.0.0', 'x-mine': 'a' })
    expect([fields.map(({ name }) => name), refused]).toEqual([['x-mine'], ['X-Switchhook-Passages']])
  })
})
