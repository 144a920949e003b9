// The entries about each other in the journals of a call and of the legs that it dials.
import { describe, expect, it } from 'vitest'
import type { AskedCommands } from '../script/command.ts'
import type { JournalEvent } from '../journal/journal.ts'
import { account, phone } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'
import { parseVerbs } from '../../verbs/index.ts'

async function dialling(options: object = {}, prepare?: (engine: ScriptedEngine) => void) {
  const engine = createScriptedEngine(parseVerbs)
  engine.phones.set('alice@example.com', [phone])
  const verb = { verb: 'dial', target: [{ type: 'user', name: 'alice' }], ...options }
  engine.hooks.on('/call', [verb, { verb: 'pause', length: 60 }])
  prepare?.(engine)
  const caller = engine.ring()
  await calm()
  const sidOf = (direction: 'inbound' | 'outbound'): string =>
    engine.store.batches
      .flatMap(({ events }) => events)
      .flatMap((event) =>
        event.type === 'started' && event.direction === direction ? [event.call_sid] : [],
      )[0] ?? ''
  const eventsOf = <T extends JournalEvent['type']>(direction: 'inbound' | 'outbound', type: T) =>
    engine.store
      .journalOf(sidOf(direction))
      .filter((event): event is JournalEvent & { readonly type: T } => event.type === type)
  return {
    engine,
    caller,
    called: (n = 0) => {
      const invite = engine.sent[n]
      if (invite === undefined) throw new Error(`there is no INVITE number ${n}`)
      return invite
    },
    sidOf,
    eventsOf,
    /** Returns why the two have parted, by the journal of the caller and by that of the other side. */
    reasons: () =>
      (['inbound', 'outbound'] as const).map((side) =>
        eventsOf(side, 'unbridged').map((event) => event.because),
      ),
    command: async (direction: 'inbound' | 'outbound', asked: AskedCommands): Promise<void> => {
      await engine.calls.command(account.account_sid, sidOf(direction), asked)
      await calm()
    },
  }
}

async function talking(options: object = {}, prepare?: (engine: ScriptedEngine) => void) {
  const dialled = await dialling(options, prepare)
  dialled.called().answer()
  await calm()
  return dialled
}

const complete = { call_status: 'completed' } as const
const byApi = 'a client of the REST API ended it with call_status completed'

describe('why the two have parted', () => {
  it('names the command that has ended the caller, in both journals', async () => {
    const { command, reasons, eventsOf } = await talking()
    await command('inbound', complete)
    const because = `the platform hung up on the caller +4420: ${byApi}`
    expect(reasons()).toEqual([[because], [because]])
    expect(eventsOf('inbound', 'ended')).toMatchObject([{ because: byApi }])
    expect(eventsOf('outbound', 'ended')).toMatchObject([{ because }])
  })

  it('names the command that has ended the called side, in both journals', async () => {
    const { command, reasons } = await talking()
    await command('outbound', complete)
    const because = `the platform hung up on the called party alice@example.com: ${byApi}`
    expect(reasons()).toEqual([[because], [because]])
  })

  it('names the side that has hung up', async () => {
    const one = await talking()
    one.caller.dialog?.listener.ended(sipRequest('BYE'))
    await calm()
    expect(one.reasons()).toEqual([['the caller +4420 hung up'], ['the caller +4420 hung up']])
    const other = await talking()
    other.called().dialog.listener.ended(sipRequest('BYE'))
    await calm()
    expect(other.reasons()).toEqual([
      ['the called party alice@example.com hung up'],
      ['the called party alice@example.com hung up'],
    ])
  })

  it('names who has sent another application', async () => {
    const { command, reasons } = await talking({}, ({ hooks }) => {
      hooks.on('/other', [{ verb: 'pause', length: 1 }])
    })
    const hook = { url: 'http://app.test/other', method: 'POST', username: null, password: null } as const
    await command('inbound', { call_hook: hook })
    const because = 'other verbs took over: a client of the REST API sent another application'
    expect(reasons()).toEqual([[because], [because]])
  })

  it('names the time limit', async () => {
    const { engine, reasons, eventsOf } = await talking({ timeLimit: 30 })
    engine.clock.advance(30_000)
    await calm()
    const because = 'the time limit of the dial has passed'
    expect(reasons()).toEqual([[because], [because]])
    expect(eventsOf('outbound', 'ended')).toMatchObject([{ because }])
  })
})

describe('the journal of the caller', () => {
  const outcomes = ({ eventsOf }: Awaited<ReturnType<typeof dialling>>) =>
    eventsOf('inbound', 'verb-ended').map(({ verb, outcome }) => `${verb} ${outcome}`)

  it('says why a leg could not be made, and what helps', async () => {
    const dialled = await dialling({ target: [{ type: 'user', name: 'carol' }] })
    expect(dialled.eventsOf('inbound', 'dial-ended')).toMatchObject([
      {
        call_sid: dialled.sidOf('outbound'),
        to: 'carol@example.com',
        call_status: 'failed',
        sip_status: 404,
        code: 'user_not_registered',
        sentence: expect.any(String),
        cure: expect.stringContaining('registered'),
      },
    ])
    expect(outcomes(dialled)).toEqual(['dial failed'])
  })

  it('says with what the called party has refused', async () => {
    const dialled = await dialling()
    dialled.called().refuse(486)
    await calm()
    expect(dialled.eventsOf('inbound', 'dial-ended')).toMatchObject([
      {
        call_status: 'busy',
        sip_status: 486,
        sentence: expect.stringMatching(/^the called party refused with 486/),
      },
    ])
    expect(outcomes(dialled)).toEqual(['dial failed'])
  })

  it('says that it rang for as long as it may', async () => {
    const dialled = await dialling({ timeout: 7 })
    dialled.engine.clock.advance(7000)
    await calm()
    expect(dialled.eventsOf('inbound', 'dial-ended')).toMatchObject([
      { call_status: 'no-answer', sentence: 'the platform hung up on the called party: Ring Timeout' },
    ])
    expect(outcomes(dialled)).toEqual(['dial failed'])
  })

  it('says of each of several what became of it', async () => {
    const bob = { type: 'sip', sipUri: 'sip:bob@192.0.2.9' }
    const dialled = await dialling({ target: [{ type: 'user', name: 'alice' }, bob] })
    dialled.called(1).answer()
    await calm()
    dialled.called(1).dialog.listener.ended(sipRequest('BYE'))
    await calm()
    expect(dialled.eventsOf('inbound', 'dial-ended').map(({ sentence }) => sentence)).toEqual([
      'the platform hung up on the called party: another one has taken the call',
      'the called party hung up',
    ])
    expect(outcomes(dialled)).toEqual(['dial done'])
  })

  it('says that the caller gave up', async () => {
    const dialled = await dialling({ answerOnBridge: true })
    dialled.caller.cancel()
    await calm()
    expect(dialled.eventsOf('inbound', 'dial-ended')).toMatchObject([
      { sentence: 'the platform hung up on the called party: the caller gave up' },
    ])
    expect(outcomes(dialled)).toEqual(['dial stopped'])
  })

  it('says no more of a leg that has become a call of its own', async () => {
    const { command, called, eventsOf } = await talking({}, ({ hooks }) => {
      hooks.on('/child', [{ verb: 'pause', length: 60 }])
    })
    const child = { url: 'http://app.test/child', method: 'POST', username: null, password: null } as const
    await command('inbound', { child_call_hook: child })
    called().dialog.listener.ended(sipRequest('BYE'))
    await calm()
    expect(eventsOf('outbound', 'ended')).toHaveLength(1)
    expect(eventsOf('inbound', 'dial-ended')).toEqual([])
  })
})

it('who is muted, heard again and whispered to is in both journals, with its leg and its name', async () => {
  const { command, eventsOf, sidOf } = await talking()
  await command('outbound', { mute_status: 'mute' })
  await command('outbound', { mute_status: 'unmute' })
  await command('inbound', { whisper: { verb: 'pause', length: 1 } })
  const alice = { call_sid: sidOf('outbound'), party: 'alice@example.com' }
  const caller = { call_sid: sidOf('inbound'), party: '+4420' }
  for (const side of ['inbound', 'outbound'] as const) {
    expect(eventsOf(side, 'muted')).toMatchObject([alice])
    expect(eventsOf(side, 'unmuted')).toMatchObject([alice])
    expect(eventsOf(side, 'whispered')).toMatchObject([caller])
  }
  expect(eventsOf('inbound', 'bridged')).toMatchObject([{ with: alice.call_sid, party: alice.party }])
  expect(eventsOf('outbound', 'bridged')).toMatchObject([{ with: caller.call_sid, party: caller.party }])
})
