// The answer and the end of a call at nearly the same time, in both orders and at each moment between the two. The call
// always has one final response, one record, and a status that fits both.
import { describe, expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import { steps } from '../../../test/support/scripted-engine/dialling.ts'
import { account, callRequest, phone } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import type { ScriptedInvite, ScriptedOutgoing } from '../../../test/support/scripted-engine/scripted-sip.ts'
import { wrongsOf } from '../../../test/support/scripted-engine/session-rules.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'

const moments = [0, 1, 2, 3, 4, 6, 8, 11, 15, 20]
const verbs = [{ verb: 'answer' }, { verb: 'wait', ms: 600_000 }]

interface Call {
  readonly engine: ScriptedEngine
  readonly invite: ScriptedInvite | ScriptedOutgoing
}

const sidOf = ({ engine }: Call): string => engine.store.batches[0]?.call_sid ?? ''

/** Checks what must hold at the end of a call in either order. */
function expectOneEnd(call: Call, moment: number): void {
  const { engine } = call
  const ended = engine.store.journalOf(sidOf(call)).filter(({ type }) => type === 'ended')
  expect([ended.length, engine.store.records.length], `after ${moment}`).toEqual([1, 1])
  const [record] = engine.store.records
  const finals = engine.store.statuses.filter(
    (status) => !['trying', 'ringing', 'early-media', 'in-progress'].includes(String(status)),
  )
  // Before the application is known, no status can be reported.
  expect(finals.length, `after ${moment}`).toBeLessThanOrEqual(1)
  if (record?.answered === true) expect(finals, `after ${moment}`).toEqual(['completed'])
  const { calls, media, lent, clock } = engine
  expect([calls.liveCount, media.openSessions, lent.size, clock.pending], `after ${moment}`).toEqual([
    0, 0, 0, 0,
  ])
}

describe('a call that comes in is answered, and meanwhile', () => {
  const ends: readonly [string, (engine: ScriptedEngine, invite: ScriptedInvite) => unknown][] = [
    [
      'its caller gives up, or hangs up',
      (_engine, invite) => {
        invite.cancel()
        invite.dialog?.hangUp()
      },
    ],
    [
      'a client ends it',
      (engine) => engine.calls.hangUp(account.account_sid, engine.store.batches[0]?.call_sid ?? ''),
    ],
    ['its media are lost', ({ media }) => media.sessions[0]?.emit({ type: 'lost' })],
    [
      'media cannot serve its offer',
      ({ media }) =>
        (media.failure = { at: 'answer', error: new AppError('media_not_acceptable', 'no codec') }),
    ],
    [
      'there is no port left for it',
      ({ media }) => (media.failure = { at: 'open', error: new AppError('overloaded', 'no port is left') }),
    ],
    ['the platform stops', ({ calls }) => calls.hangUpAll('the platform is stopping')],
  ]

  it.each(ends)('%s', async (_what, end) => {
    for (const moment of moments) {
      const engine = createScriptedEngine(parsePlainVerbs)
      engine.hooks.on('/call', verbs)
      const invite = engine.ring()
      await steps(moment * 3)
      void end(engine, invite)
      await calm(6)
      invite.dialog?.hangUp()
      await calm(6)
      expectOneEnd({ engine, invite }, moment)
      // One final response: a refusal, a CANCEL or an answer.
      expect([invite.isOpen, invite.final !== undefined && invite.dialog !== undefined]).toEqual([
        false,
        false,
      ])
      expect(engine.store.records[0]?.answered).toBe(invite.dialog !== undefined)
    }
  })
})

describe('a call that the platform makes is answered, and meanwhile', () => {
  const ends: readonly [string, (engine: ScriptedEngine, invite: ScriptedOutgoing) => unknown][] = [
    [
      'a client ends it',
      (engine) => engine.calls.hangUp(account.account_sid, engine.store.batches[0]?.call_sid ?? ''),
    ],
    ['its far end hangs up', (_engine, { dialog }) => dialog.hangUp()],
    ['its far end is lost', (_engine, { dialog }) => dialog.fail('ack-timeout')],
    ['its time to ring is over', ({ clock }) => clock.advance(60_000)],
    ['its media are lost', ({ media }) => media.sessions[0]?.emit({ type: 'lost' })],
    ['the platform stops', ({ calls }) => calls.hangUpAll('the platform is stopping')],
  ]
  const rows = ends.flatMap(([what, end]) => [
    { what, end, when: 'after', isFirst: false },
    { what, end, when: 'before', isFirst: true },
  ])

  it.each(rows)('$what, just $when: no dialog stays up', async ({ end, isFirst }) => {
    for (const moment of isFirst ? [0, 1, 2, 4] : moments) {
      const engine = createScriptedEngine(parsePlainVerbs)
      engine.hooks.on('/call', verbs)
      engine.phones.set(phone.aor, [phone])
      const call = await engine.calls.prepare(callRequest)
      await call.begin()
      const [invite] = engine.sent
      if (invite === undefined) throw new Error('no one was called')
      // The answer of this far end crosses the CANCEL.
      invite.isSilent = true
      if (isFirst) void end(engine, invite)
      else invite.answer()
      await steps(moment)
      if (isFirst) invite.answer()
      else void end(engine, invite)
      await calm(6)
      if (!invite.dialog.isOver && invite.dialog.isListenedTo) invite.dialog.hangUp()
      engine.clock.advance(40_000)
      await calm(6)
      expectOneEnd({ engine, invite }, moment)
      expect(invite.dialog.isOver, `after ${moment}`).toBe(true)
    }
  })

  it.each([404, 486, 487, 503, 603])('a client ends it as it is refused with %i: one end', async (status) => {
    for (const isFirst of [true, false]) {
      const engine = createScriptedEngine(parsePlainVerbs)
      engine.phones.set(phone.aor, [phone])
      const call = await engine.calls.prepare(callRequest)
      await call.begin()
      const invite = engine.sent[0]!
      invite.isSilent = true
      if (isFirst) invite.refuse(status)
      void engine.calls.hangUp(account.account_sid, call.call_sid)
      if (!isFirst) invite.refuse(status)
      await calm(6)
      expectOneEnd({ engine, invite }, 0)
    }
  })
})

it('two answers of one call are one: an early media and an answer at once send one 200', async () => {
  const engine = createScriptedEngine(parsePlainVerbs)
  engine.hooks.on('/call', [{ verb: 'speak-early' }, { verb: 'answer' }])
  const invite = engine.ring()
  await calm()
  engine.clock.advance(1000)
  await calm()
  expect(invite.provisionals.map(({ status }) => status)).toEqual([183])
  expect(invite.accepted?.body?.content).toBeDefined()
  expect(wrongsOf({ engine, invite, others: [], finals: () => 1, wrongs: [] })).toEqual([])
})
