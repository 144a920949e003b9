// In every order of events a leg ends once: one final response, one record, one last status event, and nothing leaks.
import { describe, expect, it } from 'vitest'
import { createRandomBelow } from '../../test/support/random.ts'
import { AppError } from '../lib/errors.ts'
import { isFinal, type CallStatus } from './journal/call-status.ts'
import { account } from '../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../test/support/scripted-engine/scripted-engine.ts'
import { heldAnswer } from '../../test/support/scripted-engine/scripted-hooks.ts'
import { settle } from '../../test/support/scripted-engine/turns.ts'
import { parsePlainVerbs } from '../../test/support/scripted-engine/plain-verbs.ts'
import { sipRequest } from '../../test/support/scripted-engine/scripted-messages.ts'
import type { ScriptedInvite } from '../../test/support/scripted-engine/scripted-sip.ts'

const verbLists = [
  [{ verb: 'answer' }, { verb: 'speak' }, { verb: 'ask' }, { verb: 'hangup' }],
  [{ verb: 'speak-early' }, { verb: 'ask' }, { verb: 'decline' }],
  [{ verb: 'wait', ms: 300 }, { verb: 'speak' }, { verb: 'speak' }],
  [{ verb: 'ask' }, { verb: 'answer' }, { verb: 'crash' }],
  [{ verb: 'fail' }, { verb: 'tag', text: 't' }, { verb: 'speak' }, { verb: 'ask' }, { verb: 'ask' }],
  [{ verb: 'hangup' }],
  [],
  [{ verb: 'juggle' }],
]

type Step = (context: { engine: ScriptedEngine; invite: ScriptedInvite }) => unknown

const hangUpByApi: Step = ({ engine }) => {
  const [call] = engine.calls.list(account.account_sid)
  return engine.calls.hangUp(account.account_sid, call?.call_sid ?? '')
}

const steps: readonly Step[] = [
  ({ invite }) => invite.cancel(),
  ({ invite }) => invite.dialog?.hangUp(),
  ({ invite }) => invite.dialog?.fail('ack-timeout'),
  ({ invite }) => invite.dialog?.listener.confirmed(sipRequest('ACK')),
  ({ invite }) => invite.dialog?.listener.offered('v=0', sipRequest('INVITE')),
  ({ invite }) => invite.dialog?.listener.offered(undefined, sipRequest('INVITE')),
  hangUpByApi,
  ({ engine }) =>
    engine.media.sessions[0]?.emit({ type: 'timeout', cause: 'silent', silentMs: 20_000, limitMs: 0 }),
  ({ engine }) => engine.media.sessions[0]?.press('12#'),
  ({ engine }) => engine.clock.advance(250),
  ({ engine }) => engine.clock.advance(250),
  ({ engine }) => engine.clock.advance(1000),
  ({ engine }) => void engine.calls.hangUpAll('maintenance'),
]

/** Waits from "in this very turn" to "after everything that is ready has run". */
async function pass(random: (below: number) => number): Promise<void> {
  const turns = random(6)
  if (turns === 5) return settle()
  for (let turn = 0; turn < turns; turn++) await Promise.resolve()
}

async function play(seed: number): Promise<{ engine: ScriptedEngine; invite: ScriptedInvite }> {
  const random = createRandomBelow(seed)
  const engine = createScriptedEngine(parsePlainVerbs)
  const pick = () => verbLists[random(verbLists.length)]
  const first = heldAnswer()
  if (random(2) === 0) first.release(pick())
  engine.hooks.answers.set('/call', first.answer)
  const later = heldAnswer()
  const isHeld = random(3) === 0
  engine.hooks.answers.set('/action', (request) => {
    // An application that always answers with another hook would loop for ever, since no network is in between.
    if (engine.hooks.payloadsOf('/action').length > 4) return Promise.resolve([])
    return isHeld ? later.answer(request) : Promise.resolve(pick())
  })
  if (random(8) === 0) engine.media.failure = { at: 'open', error: new AppError('no_media_port', 'none') }
  if (random(8) === 0) {
    const error = new AppError('media_not_acceptable', 'no codec in common')
    engine.media.failure = { at: 'answer', error }
  }
  const invite = engine.ring(random(4) === 0 ? { body: '' } : {})
  for (let count = 0; count < 8; count++) {
    await pass(random)
    const step = random(steps.length + 2)
    if (step === steps.length) first.release(pick())
    else if (step === steps.length + 1) later.release(pick())
    else void steps[step]?.({ engine, invite })
  }
  // If the call has not ended by now, both sides end it at the same time.
  first.release([])
  later.release([])
  await settle()
  invite.cancel()
  void engine.calls.hangUpAll('the end')
  invite.dialog?.hangUp()
  await settle()
  engine.clock.advance(5000)
  await settle()
  return { engine, invite }
}

function finals(engine: ScriptedEngine): CallStatus[] {
  return (engine.store.statuses as CallStatus[]).filter(isFinal)
}

describe('any interleaving', () => {
  it('ends a leg exactly once and leaks nothing', async () => {
    for (let seed = 1; seed <= 1500; seed++) {
      const { engine, invite } = await play(seed)
      const trace = `seed ${seed}`
      expect(engine.store.records.length, trace).toBe(1)
      expect(engine.calls.liveCount, trace).toBe(0)
      expect(invite.isOpen, trace).toBe(false)
      expect(engine.media.openSessions, trace).toBe(0)
      expect(engine.lent.size, trace).toBe(0)
      expect(engine.clock.pending, trace).toBe(0)
      const [record] = engine.store.records
      expect(record?.answered, trace).toBe(invite.dialog !== undefined)

      const statuses = engine.store.statuses
      expect(finals(engine).length, trace).toBe(statuses.length === 0 ? 0 : 1)
      expect(statuses.slice(0, 1), trace).toEqual(statuses.length === 0 ? [] : ['trying'])
      expect(finals(engine).at(-1), trace).toBe(statuses.at(-1))

      const events = engine.store.batches.flatMap((batch) => batch.events)
      expect(
        events.map(({ seq }) => seq),
        trace,
      ).toEqual(events.map((_, index) => index + 1))
      expect(events.filter(({ type }) => type === 'ended').length, trace).toBe(1)
    }
  })

  it('never says goodbye twice, nor after the far end did', async () => {
    for (let seed = 5001; seed <= 5300; seed++) {
      const { engine, invite } = await play(seed)
      const [record] = engine.store.records
      if (record?.termination_reason === 'caller hungup')
        expect(invite.dialog?.sentBye, `seed ${seed}`).toBeUndefined()
    }
  })
})
