// What goes wrong around a dial, one test for each: the platform goes on, every leg ends once and leaves one record.
import { describe, expect, it } from 'vitest'
import { AppError } from '../lib/errors.ts'
import { answered, bye, dialled } from '../../test/support/scripted-engine/dialling.ts'
import type { Dialled } from '../../test/support/scripted-engine/dialling.ts'
import { settle } from '../../test/support/scripted-engine/scripted-engine.ts'
import type { ScriptedEngine } from '../../test/support/scripted-engine/scripted-engine.ts'
import { sipRequest } from '../../test/support/scripted-engine/scripted-sip.ts'
import { parseVerbs } from './index.ts'

const dialling = (options: object, prepare?: (engine: ScriptedEngine) => void): Promise<Dialled> =>
  dialled(parseVerbs, options, prepare)

/** Nothing is left of a session whose legs have all ended. */
function expectNothingLeft({ engine }: Pick<Dialled, 'engine'>): void {
  const { calls, media, lent, clock } = engine
  expect([calls.liveCount, media.openSessions, lent.size, clock.pending]).toEqual([0, 0, 0, 0])
}

describe('media that fail', () => {
  const unfit = new AppError('media_not_acceptable', 'the far end takes no keys as RTP events')

  it('of a far end that takes no keys: a key of the other side is lost, and the two talk on', async () => {
    const { engine, caller, called, types, sidOf } = await dialling({})
    await answered(called())
    engine.media.failure = { at: 'keys', error: unfit }
    await caller.dialog?.listener.requested(
      sipRequest('INFO', { type: 'application/dtmf-relay', body: 'Signal=5\r\nDuration=100\r\n' }),
    )
    await settle()
    expect(engine.media.sessions[1]?.keysSent).toEqual(['5'])
    expect(types(sidOf('outbound'))).toContain('problem')
    expect([caller.dialog?.isOver, called().dialog.isOver]).toEqual([false, false])
  })

  it('while early media is to be heard: the called side rings on, and can still answer', async () => {
    const { engine, caller, called, types, sidOf } = await dialling({})
    engine.media.failure = { at: 'wire', error: unfit }
    called().progress(183, 'v=0 early')
    await settle()
    await settle()
    expect(types(sidOf('inbound'))).toContain('problem')
    engine.media.failure = undefined
    await answered(called())
    const [a, b] = engine.media.sessions
    expect([a?.hears, b?.hears]).toEqual([b?.id, a?.id])
    await bye(called().dialog)
    await bye(caller.dialog)
    expectNothingLeft({ engine })
  })
})

async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await settle()
}

describe('early media', () => {
  it('of two forks at once: the caller has one media session, and hears the called side', async () => {
    const session = await dialling({ answerOnBridge: true })
    const { engine, caller, called } = session
    called().progress(183, 'v=0 of one', 'one')
    called().progress(183, 'v=0 of two', 'two')
    await settled()
    expect(engine.media.sessions).toHaveLength(2)
    expect(caller.provisionals.map(({ status }) => status)).toEqual([183])
    called().answer(undefined, 'one')
    await settled()
    const [b, a] = engine.media.sessions
    expect([a?.hears, b?.hears]).toEqual([b?.id, a?.id])
    await bye(caller.dialog)
    expectNothingLeft(session)
  })

  it('and an answer in the same turn: the caller has one media session', async () => {
    const session = await dialling({ answerOnBridge: true })
    const { engine, caller, called } = session
    called().progress(183, 'v=0 early')
    called().answer()
    await settled()
    expect(engine.media.sessions).toHaveLength(2)
    await bye(caller.dialog)
    expectNothingLeft(session)
  })
})
