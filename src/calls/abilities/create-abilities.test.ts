import { describe, expect, it } from 'vitest'
import { answer, rest, runVerbs, verb } from '../../../test/support/scripted-engine/script.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { AppError } from '../../lib/errors.ts'
import type { Abilities, Decline } from '../verb/abilities.ts'

describe('the call that a verb sees', () => {
  it('is known to be answered, and to be over', async () => {
    const seen: unknown[] = []
    const looks = verb('looks', (can) => void seen.push([can.signalling.isAnswered, can.signalling.hasEnded]))
    const waits = verb('waits', async (can, { signal }) => {
      await can.time.wait(60_000, signal)
      seen.push([can.signalling.isAnswered, can.signalling.hasEnded])
    })
    const { dialog } = await runVerbs([looks, answer, looks, waits])
    dialog().hangUp()
    await settle()
    expect(seen).toEqual([
      [false, false],
      [true, false],
      [false, true],
    ])
  })

  it('is answered once, however often a verb asks for it', async () => {
    const { invite, outcomes, engine } = await runVerbs([answer, answer, rest])
    expect(invite.dialog).toBeDefined()
    expect(outcomes()).toEqual(['answer done', 'answer done'])
    expect(engine.store.statuses).toEqual(['trying', 'in-progress'])
  })
})

describe('a limit in time', () => {
  const limited = (ms: number) =>
    verb('limited', async (can, { signal }) => {
      const limit = can.time.limit(ms, signal)
      await can.time.wait(60_000, limit.signal)
      limit.release()
    })

  it('ends a wait before its time', async () => {
    const { engine, outcomes } = await runVerbs([answer, limited(3000), rest])
    engine.clock.advance(2999)
    await settle()
    expect(outcomes()).toEqual(['answer done'])
    engine.clock.advance(1)
    await settle()
    expect(outcomes()).toEqual(['answer done', 'limited done'])
  })

  it('ends with what it limits', async () => {
    const { engine, dialog, outcomes } = await runVerbs([answer, limited(3000)])
    dialog().hangUp()
    await settle()
    expect(outcomes()).toEqual(['answer done', 'limited stopped'])
    expect(engine.clock.pending).toBe(0)
  })

  it('of something that is over already is over', async () => {
    let isAborted: boolean | undefined
    const late = verb('late', (can) => {
      const limit = can.time.limit(1000, AbortSignal.abort())
      isAborted = limit.signal.aborted
      limit.release()
    })
    await runVerbs([late, rest])
    expect(isAborted).toBe(true)
  })

  it('that is released does nothing any more', async () => {
    const signals: AbortSignal[] = []
    const parent = new AbortController()
    const releases = verb('releases', (can) => {
      const limit = can.time.limit(1000, parent.signal)
      signals.push(limit.signal)
      limit.release()
    })
    const { engine } = await runVerbs([releases, rest])
    engine.clock.advance(1000)
    parent.abort()
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  })
})

describe('a tag', () => {
  it.each([
    ['at its longest is kept', 65_536, 'tags done', 0],
    ['that is longer fails the verb, and the data of before stay', 65_537, 'tags failed', 1],
  ])('%s', async (_, length, outcome, problems) => {
    const first = verb('first', (can) => can.tags.set({ order: 7 }))
    const tags = verb('tags', (can) => can.tags.set({ text: 'x'.repeat(length - '{"text":""}'.length) }))
    const { engine, outcomes, journalled } = await runVerbs([first, tags, answer, rest])
    expect(outcomes()).toEqual(['first done', outcome, 'answer done'])
    expect(journalled('problem')).toHaveLength(problems)
    for (const { code, sentence } of journalled('problem'))
      expect([code, sentence]).toEqual(['bad_request', 'tag: "data" is longer than 65536 characters'])
    const { customerData } = engine.store.notifications.at(-1) ?? {}
    if (problems === 0) expect(JSON.stringify(customerData)).toHaveLength(length)
    else expect(customerData).toEqual({ order: 7 })
  })
})

describe('a verb that hangs up', () => {
  it('says goodbye with its headers, and names those that it may not set', async () => {
    const bye = verb('bye', (can) =>
      can.signalling.hangUp({ 'X-Reason': 'done', 'X-Score': 5, Via: 'SIP/2.0/UDP evil', 'Call-ID': 'mine' }),
    )
    const { dialog, journalled } = await runVerbs([answer, bye])
    expect(dialog().sentBye).toEqual([
      { name: 'x-reason', value: 'done' },
      { name: 'x-score', value: '5' },
    ])
    expect(journalled('note').map(({ sentence }) => sentence)).toEqual([
      'these headers may not be set and were left out: Via, Call-ID',
    ])
  })

  it('without headers leaves no note', async () => {
    const { dialog, journalled } = await runVerbs([
      answer,
      verb('bye', (can) => can.signalling.hangUp(undefined)),
    ])
    expect(dialog().sentBye).toEqual([])
    expect(journalled('note')).toEqual([])
  })

  it('ends the call before the verbs that follow, with the record of a call that was answered', async () => {
    const bye = verb('bye', (can) => can.signalling.hangUp({}))
    const { engine, outcomes } = await runVerbs([answer, bye, rest])
    expect(outcomes()).toEqual(['answer done', 'bye done'])
    expect(engine.store.records).toMatchObject([
      { answered: true, termination_reason: 'called party hungup' },
    ])
  })
})

describe('a verb that declines', () => {
  const own = { name: 'x-reason', value: 'SIP Decline Verb' }

  it.each<[string, Decline, object]>([
    ['the usual phrase of its status', { status: 486 }, { status: 486, reason: 'Busy Here', headers: [own] }],
    ['its own phrase', { status: 480, reason: 'at lunch' }, { status: 480, reason: 'at lunch' }],
    ['a phrase that smuggles no line', { status: 480, reason: 'a\nVia: b' }, { reason: 'a Via: b' }],
    [
      'its headers, of which X-Reason is ours',
      { status: 603, headers: { 'X-Reason': 'mine', 'X-Score': '5' } },
      { headers: [{ name: 'x-score', value: '5' }, own] },
    ],
  ])('sends %s', async (_, decline, expected) => {
    const { invite } = await runVerbs([verb('declines', (can) => can.signalling.decline(decline))])
    expect(invite.final).toMatchObject(expected)
  })

  it('ends the call as failed, by the platform', async () => {
    const declines = verb('declines', (can) => can.signalling.decline({ status: 480, reason: 'at lunch' }))
    const { engine, outcomes } = await runVerbs([declines, rest])
    expect(outcomes()).toEqual(['declines done'])
    expect(engine.store.notifications.at(-1)).toMatchObject({
      call_status: 'failed',
      sip_status: 480,
      sip_reason: 'at lunch',
      call_termination_by: 'jambonz',
    })
    expect(engine.store.records).toMatchObject([{ sip_status: 480, termination_reason: 'failed' }])
  })

  it('changes nothing in a call that has been answered', async () => {
    const late = verb('late', (can) => can.signalling.decline({ status: 486 }))
    const { invite, engine } = await runVerbs([answer, late, rest])
    expect(invite.final).toBeUndefined()
    expect(engine.calls.liveCount).toBe(1)
  })
})

describe('what a verb writes down', () => {
  it.each<[string, (can: Abilities) => void, object]>([
    [
      'a note',
      (can) => can.notes.note('as the caller wished'),
      { note: ['as the caller wished'], problem: [] },
    ],
    [
      'a problem',
      (can) => can.notes.problem(new AppError('audio_not_found', 'no such file')),
      { note: [], problem: ['no such file'] },
    ],
    [
      'what it goes on without, which is a problem the first time and a note from then on',
      (can) => {
        for (const what of ['one', 'two', 'three'])
          can.notes.goWithout(new AppError('recognizer_unknown', `no recogniser for ${what}`))
      },
      { problem: ['no recogniser for one'], note: ['no recogniser for two', 'no recogniser for three'] },
    ],
    [
      'two things that it goes on without, each of which is a problem',
      (can) => {
        can.notes.goWithout(new AppError('recognizer_unknown', 'no recogniser'))
        can.notes.goWithout(new AppError('synthesizer_unknown', 'no voice'))
      },
      { problem: ['no recogniser', 'no voice'], note: [] },
    ],
  ])('is %s', async (_, run, expected) => {
    const { journalled } = await runVerbs([verb('writes', run), rest])
    const sentences = {
      note: journalled('note').map(({ sentence }) => sentence),
      problem: journalled('problem').map(({ sentence }) => sentence),
    }
    expect(sentences).toEqual(expected)
  })
})
