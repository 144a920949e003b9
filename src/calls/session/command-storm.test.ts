// A storm of commands on one call: bounded, in the order in which they were sent, and never in the way of a hang-up.
import { describe, expect, it } from 'vitest'
import type { AskedCommands } from '../script/command.ts'
import { AppError } from '../../lib/errors.ts'
import { answered, dialled } from '../../../test/support/scripted-engine/dialling.ts'
import { account } from '../../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { parseVerbs } from '../../verbs/index.ts'

/** Returns `done`, or the code of the refusal. */
async function outcomeOf(sent: Promise<unknown>): Promise<string> {
  return await sent.then(
    () => 'done',
    (error: unknown) => (error instanceof AppError ? error.code : 'no AppError'),
  )
}

/** Returns the requests of clients in the journals, in the order in which they were written. */
function asked({ store }: ScriptedEngine, skip: number): string[] {
  return store.batches
    .slice(skip)
    .flatMap(({ call_sid, events }) =>
      events.flatMap((event) =>
        event.type === 'decision' && event.rule === 'api' ? [`${call_sid} ${event.outcome}`] : [],
      ),
    )
}

async function passed(turns = 10): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await settle()
}

const mixed: readonly [AskedCommands, string][] = [
  [{ mute_status: 'mute' }, 'mute'],
  [{ tag: { n: 1 } }, 'tag'],
  [{ dtmf: { digit: '1' } }, 'keys'],
  [{ boostAudioSignal: 3 }, 'gain'],
  [{ whisper: { verb: 'pause', length: 60 } }, 'whisper'],
  [{ mute_status: 'unmute' }, 'unmute'],
]

describe('a storm on two legs', () => {
  async function storm() {
    const session = await dialled(parseVerbs, {})
    await answered(session.called())
    const { engine, sidOf } = session
    const sids = [sidOf('inbound'), sidOf('outbound')]
    const held = Promise.withResolvers<void>()
    engine.media.wiringHeld = held.promise
    const skip = engine.store.batches.length
    const sent = Array.from({ length: 200 }, (_, n) => {
      const [command, outcome] = mixed[n % mixed.length] ?? [{}, '']
      const sid = sids[n % 5 < 3 ? 0 : 1] ?? ''
      const done = engine.calls.command(account.account_sid, sid, command)
      return { line: `${sid} ${outcome}`, result: outcomeOf(done) }
    })
    return { ...session, held, skip, sent, lines: (n: number) => sent.slice(0, n).map(({ line }) => line) }
  }

  it('is bounded, and begins in the order in which it was sent', async () => {
    const { engine, held, skip, sent, lines } = await storm()
    await passed()
    // The first command waits for media, and so do those that came after it.
    expect(asked(engine, skip)).toEqual(lines(1))
    held.resolve()
    await passed(100)
    const results = await Promise.all(sent.map(({ result }) => result))
    const taken = results.filter((result) => result === 'done').length
    expect(taken).toBe(33)
    expect(results.slice(taken)).toEqual(Array.from({ length: 200 - taken }, () => 'overloaded'))
    expect(asked(engine, skip)).toEqual(lines(taken))
    const [a, b] = engine.media.sessions
    expect([a?.keysSent.length, b?.keysSent.length].reduce((sum = 0, n = 0) => sum + n)).toBe(
      lines(taken).filter((line) => line.endsWith(' keys')).length,
    )
  })

  it('does not keep a hang-up waiting, which withdraws what has not begun', async () => {
    const { engine, caller, called, sidOf, held, skip, sent, lines } = await storm()
    await passed()
    const sid = sidOf('inbound')
    expect(
      await outcomeOf(engine.calls.command(account.account_sid, sid, { call_status: 'completed' })),
    ).toBe('done')
    await passed()
    expect([caller.dialog?.sentBye, called().dialog.sentBye]).toEqual([[], []])
    held.resolve()
    await passed()
    const results = await Promise.all(sent.map(({ result }) => result))
    expect([results[0], ...new Set(results.slice(1, 33))]).toEqual(['done', 'call_state'])
    expect(asked(engine, skip)).toEqual([...lines(1), `${sid} completed`])
    expect([engine.calls.liveCount, engine.media.openSessions, engine.clock.pending]).toEqual([0, 0, 0])
  })
})

it('a storm on one leg is bounded too: keys that wait are refused beyond thirty-two, and the rest goes on', async () => {
  const engine = createScriptedEngine(parseVerbs)
  engine.hooks.on('/call', [{ verb: 'answer' }, { verb: 'pause', length: 600 }])
  engine.ring()
  await passed()
  const sid = engine.calls.list(account.account_sid)[0]?.call_sid ?? ''
  const held = Promise.withResolvers<void>()
  engine.media.keysHeld = held.promise
  const results: string[] = []
  for (let n = 0; n < 40; n++)
    results.push(
      await outcomeOf(engine.calls.command(account.account_sid, sid, { dtmf: { digit: `${n % 10}` } })),
    )
  expect(results).toEqual(Array.from({ length: 40 }, (_, n) => (n < 32 ? 'done' : 'overloaded')))
  expect(await outcomeOf(engine.calls.command(account.account_sid, sid, { tag: { n: 1 } }))).toBe('done')
  held.resolve()
  await passed(100)
  const pressed = engine.media.sessions[0]?.keysSent.join('')
  expect(pressed).toBe(Array.from({ length: 32 }, (_, n) => n % 10).join(''))
})
