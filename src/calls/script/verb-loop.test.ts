import { describe, expect, it } from 'vitest'
import { failureFields } from '../../../test/support/reason-fields.ts'
import { answer, rest, runVerbs, verb } from '../../../test/support/scripted-engine/script.ts'
import { account } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import type { Abilities } from '../verb/abilities.ts'
import type { RunnableVerb, VerbNeeds } from '../verb/verb.ts'
import { AppError } from '../../lib/errors.ts'

const nothing = (): void => undefined

describe('the verbs of an application', () => {
  it('run one after the other, and each is in the journal with its id and the time it took', async () => {
    const seen: string[] = []
    const slow = verb(
      'slow',
      async (can, { signal }) => {
        seen.push('slow begins')
        await can.time.wait(1500, signal)
        seen.push('slow ends')
      },
      { id: 'first' },
    )
    const { engine, journalled } = await runVerbs([slow, verb('next', () => void seen.push('next'))])
    expect(seen).toEqual(['slow begins'])
    engine.clock.advance(1500)
    await settle()
    expect(seen).toEqual(['slow begins', 'slow ends', 'next'])
    expect(journalled('verb-started')).toMatchObject([{ verb: 'slow', id: 'first' }, { verb: 'next' }])
    expect(journalled('verb-started')[1]).not.toHaveProperty('id')
    expect(journalled('verb-ended')).toMatchObject([
      { verb: 'slow', id: 'first', outcome: 'done', duration_ms: 1500 },
      { verb: 'next', outcome: 'done', duration_ms: 0 },
    ])
  })

  it('leave a note of the properties that are not known, and of nothing else', async () => {
    const odd = verb('odd', nothing, { ignored: ['colour', 'taste'] })
    const { journalled } = await runVerbs([odd, verb('even', nothing)])
    expect(journalled('note').map(({ sentence }) => sentence)).toEqual([
      'odd: unknown properties ignored: colour, taste',
    ])
  })

  it('end the call when none is left', async () => {
    const { engine, dialog } = await runVerbs([answer])
    expect(dialog().sentBye).toEqual([])
    expect(engine.store.records).toMatchObject([{ termination_reason: 'called party hungup' }])
  })

  it('are over with the call: none of those that follow begins', async () => {
    const late = verb('late', () => {
      throw new Error('the call is over')
    })
    const { engine, dialog, outcomes } = await runVerbs([answer, rest, late])
    dialog().hangUp()
    await settle()
    expect(outcomes()).toEqual(['answer done', 'rest stopped'])
    expect(engine.clock.pending).toBe(0)
  })
})

describe('a verb', () => {
  it.each<[VerbNeeds, string, readonly RunnableVerb[], string, boolean]>([
    ['nothing', 'unanswered', [], 'done', false],
    ['nothing', 'answered', [answer], 'done', true],
    ['answered', 'unanswered', [], 'skipped', false],
    ['answered', 'answered', [answer], 'done', true],
    ['unanswered', 'unanswered', [], 'done', false],
    ['unanswered', 'answered', [answer], 'skipped', true],
    ['audio', 'unanswered', [], 'done', true],
    ['audio', 'answered', [answer], 'done', true],
  ])('that needs "%s" in an %s call', async (needs, _, before, outcome, isAnswered) => {
    const { outcomes, journalled, invite } = await runVerbs([...before, verb('it', nothing, { needs }), rest])
    expect(outcomes().at(-1)).toBe(`it ${outcome}`)
    expect(journalled('verb-started').some((event) => event.verb === 'it')).toBe(outcome === 'done')
    expect(invite.dialog !== undefined).toBe(isAnswered)
  })

  it('that is skipped takes no time, and keeps its id', async () => {
    const { journalled } = await runVerbs([verb('it', nothing, { needs: 'answered', id: 'seven' }), rest])
    expect(journalled('verb-ended')).toMatchObject([
      { verb: 'it', id: 'seven', outcome: 'skipped', duration_ms: 0 },
    ])
  })

  it('that speaks before the answer opens early media once, and answers nothing', async () => {
    const early = verb('early', nothing, { needs: 'audio', isEarlyMedia: true })
    const { invite, engine } = await runVerbs([early, early, rest])
    expect(invite.provisionals).toMatchObject([
      { status: 183, body: { type: 'application/sdp', content: 'v=0 answer' } },
    ])
    expect(invite.dialog).toBeUndefined()
    expect(engine.media.sessions).toHaveLength(1)
  })

  it('that speaks early in an answered call needs no early media', async () => {
    const early = verb('early', nothing, { needs: 'audio', isEarlyMedia: true })
    const { invite, outcomes } = await runVerbs([answer, early, rest])
    expect(invite.provisionals).toEqual([])
    expect(outcomes()).toEqual(['answer done', 'early done'])
  })

  it('for which there is no media is stopped before it begins', async () => {
    const error = new AppError('no_media_port', 'no RTP port is free')
    const speaks = verb('speaks', nothing, { needs: 'audio' })
    const { outcomes, journalled, invite } = await runVerbs([speaks, rest], {
      before: ({ media }) => (media.failure = { at: 'open', error }),
    })
    expect(invite.final?.status).toBe(503)
    expect(outcomes()).toEqual(['speaks stopped'])
    expect(journalled('verb-started')).toEqual([])
  })

  it('that fails is a problem in the journal, and the next one runs', async () => {
    const fails = verb('fails', () => Promise.reject(new AppError('speech_failed', 'no voice today')))
    const { outcomes, journalled } = await runVerbs([answer, fails, verb('next', nothing), rest])
    expect(outcomes()).toEqual(['answer done', 'fails failed', 'next done'])
    expect(journalled('problem')).toMatchObject([{ code: 'speech_failed', sentence: 'no voice today' }])
    expect(journalled('problem')[0]?.cure).not.toBe('')
  })

  it('that has a bug has failed in the journal, and the call ends', async () => {
    const { outcomes, dialog } = await runVerbs([
      answer,
      verb('broken', () => Promise.reject(new TypeError('x'))),
    ])
    expect(outcomes()).toEqual(['answer done', 'broken failed'])
    expect(dialog().sentBye).toEqual(failureFields('internal', 'internal error'))
  })

  it.each<[string, (can: Abilities) => Promise<void>]>([
    ['returns', () => Promise.resolve()],
    ['fails', () => Promise.reject(new AppError('speech_failed', 'cut off'))],
    ['throws what a cut-off wait throws', () => Promise.reject(new TypeError('terminated'))],
  ])('that is cut off by the end of the call and %s was stopped', async (_, afterwards) => {
    const it = verb('it', async (can, { signal }) => {
      await can.time.wait(60_000, signal)
      await afterwards(can)
    })
    const { dialog, outcomes, journalled, engine } = await runVerbs([answer, it])
    engine.clock.advance(2000)
    dialog().hangUp()
    await settle()
    expect(outcomes()).toEqual(['answer done', 'it stopped'])
    expect(journalled('verb-ended')[1]).toMatchObject({ duration_ms: 2000 })
    expect(journalled('problem')).toEqual([])
    expect(engine.store.records).toMatchObject([{ termination_reason: 'caller hungup' }])
  })

  it('that hangs up has done what it was for', async () => {
    const bye = verb('bye', (can) => can.signalling.hangUp(undefined))
    const { outcomes } = await runVerbs([answer, bye, rest])
    expect(outcomes()).toEqual(['answer done', 'bye done'])
  })
})

describe('verbs that take over', () => {
  const takeOver = (engine: Awaited<ReturnType<typeof runVerbs>>['engine'], call_sid: string) =>
    engine.calls.command(account.account_sid, call_sid, {
      call_hook: { url: 'http://app.test/next', method: 'POST', username: null, password: null },
    })

  it('stop the verb that runs', async () => {
    const { engine, call_sid, outcomes } = await runVerbs([answer, rest, verb('never', nothing)])
    engine.hooks.on('/next', [verb('instead', nothing), rest])
    await takeOver(engine, call_sid)
    await settle()
    expect(outcomes()).toEqual(['answer done', 'rest stopped', 'instead done'])
  })

  it('stop also the one that is waiting for the answer of its call', async () => {
    const opened = Promise.withResolvers<void>()
    const speaks = verb('speaks', (can, { signal }) => can.time.wait(60_000, signal), { needs: 'audio' })
    const { engine, call_sid, outcomes } = await runVerbs([speaks, verb('never', nothing)], {
      before({ media }) {
        const open = media.open.bind(media)
        media.open = async (options) => {
          await opened.promise
          return open(options)
        }
      },
    })
    engine.hooks.on('/next', [verb('instead', nothing), rest])
    await takeOver(engine, call_sid)
    await settle()
    opened.resolve()
    await settle()
    expect(outcomes()).toEqual(['speaks stopped', 'instead done'])
  })

  it('while an action hook is asked withdraw the question', async () => {
    const { engine, call_sid, outcomes, journalled } = await runVerbs(
      [
        answer,
        verb('asks', (can, { signal }) => can.hooks.ask('/action', {}, signal)),
        verb('never', nothing),
      ],
      { before: ({ hooks }) => hooks.answers.set('/action', ({ signal }) => untilAborted(signal)) },
    )
    engine.hooks.on('/next', [verb('instead', nothing), rest])
    await takeOver(engine, call_sid)
    await settle()
    expect(outcomes()).toEqual(['answer done', 'asks stopped', 'instead done'])
    expect(journalled('hook-failed')).toMatchObject([{ hook: 'action', code: 'withdrawn' }])
    expect(journalled('hook-answered')).toMatchObject([
      { hook: 'call' },
      { hook: 'redirect', verbs: ['instead', 'rest'] },
    ])
  })
})

function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
