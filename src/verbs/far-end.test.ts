// Verbs that send something to the far end, by signalling or by keys.
import { describe, expect, it } from 'vitest'
import { AppError } from '../lib/errors.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../test/support/scripted-engine/scripted-engine.ts'
import { settle } from '../../test/support/scripted-engine/turns.ts'
import { sipResponse } from '../../test/support/scripted-engine/scripted-messages.ts'
import type { ScriptedDialog } from '../../test/support/scripted-engine/scripted-dialog.ts'
import type { ScriptedInvite } from '../../test/support/scripted-engine/scripted-sip.ts'
import { parseVerbs } from './index.ts'

interface Running {
  readonly engine: ScriptedEngine
  readonly invite: ScriptedInvite
  readonly dialog: () => ScriptedDialog
  readonly facts: (type: string) => Record<string, unknown>[]
  readonly outcomes: () => string[]
}

/** Starts a call that runs these verbs, and a `pause` after them. */
async function run(...verbs: object[]): Promise<Running> {
  const engine = createScriptedEngine(parseVerbs)
  engine.hooks.on('/call', [...verbs, { verb: 'pause', length: 60 }])
  const invite = engine.ring()
  await settle()
  await settle()
  const facts = (type: string): Record<string, unknown>[] =>
    engine.store.batches.flatMap(({ events }) => events.filter((event) => event.type === type))
  return {
    engine,
    invite,
    dialog() {
      if (invite.dialog === undefined) throw new Error('the call was not answered')
      return invite.dialog
    },
    facts,
    outcomes: () => facts('verb-ended').map(({ verb, outcome }) => `${String(verb)} ${String(outcome)}`),
  }
}

async function pass({ engine }: Running, ms: number): Promise<void> {
  engine.clock.advance(ms)
  await settle()
  await settle()
}

const answer = { verb: 'answer' }

describe('dtmf', () => {
  it('answers, presses the keys, and rests before the next verb', async () => {
    const running = await run({ verb: 'dtmf', dtmf: '12w#' })
    expect(running.dialog()).toBeDefined()
    expect(running.engine.media.sessions[0]?.keysSent).toEqual(['12w#'])
    await pass(running, 749)
    expect(running.outcomes()).toEqual([])
    await pass(running, 1)
    expect(running.outcomes()).toEqual(['dtmf done'])
  })

  it('presses them as INFO where the far end takes no keys in RTP, one after the other', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.hooks.on('/call', [
      answer,
      { verb: 'pause', length: 1 },
      { verb: 'dtmf', dtmf: '1w#', duration: 100 },
    ])
    const invite = engine.ring()
    await settle()
    const [session] = engine.media.sessions
    if (session === undefined) throw new Error('there is no media')
    session.sendKeys = () => Promise.reject(new AppError('media_not_acceptable', 'no events'))
    const contents: unknown[] = []
    for (const ms of [1000, 350, 500, 350]) {
      engine.clock.advance(ms)
      await settle()
      await settle()
      contents.push(invite.dialog?.requests.map(({ method, options }) => [method, options.body?.content]))
    }
    const one = ['INFO', 'Signal=1\r\nDuration=100\r\n']
    const hash = ['INFO', 'Signal=#\r\nDuration=100\r\n']
    expect(contents).toEqual([[one], [one], [one, hash], [one, hash]])
    expect(invite.dialog?.requests[0]?.options.body?.type).toBe('application/dtmf-relay')
  })

  it('gives way at once when other verbs take over or the caller leaves', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.hooks.on('/call', [answer, { verb: 'pause', length: 1 }, { verb: 'dtmf', dtmf: '1' }])
    const invite = engine.ring()
    await settle()
    const [session] = engine.media.sessions
    if (session !== undefined) session.sendKeys = () => new Promise(() => undefined)
    engine.clock.advance(1000)
    await settle()
    invite.dialog?.hangUp()
    await settle()
    expect(engine.store.records).toHaveLength(1)
    expect(engine.clock.pending).toBe(0)
  })

  it.each([{ dtmf: 'x' }, { dtmf: '' }, { dtmf: '1'.repeat(65) }, { dtmf: '1', duration: 9000 }, {}])(
    'refuses %j',
    (options) => {
      expect(() => parseVerbs([{ verb: 'dtmf', ...options }])).toThrow('verb 1 (dtmf)')
    },
  )
})

describe('alert', () => {
  it('raises an alert, and gives a caller that is not answered 180 with Alert-Info', async () => {
    const { invite, facts } = await run({ verb: 'alert', message: 'info=alert-internal' })
    expect(facts('alerted')).toMatchObject([{ message: 'info=alert-internal' }])
    expect(invite.provisionals).toEqual([
      { status: 180, headers: [{ name: 'alert-info', value: 'info=alert-internal' }] },
    ])
    expect(invite.dialog).toBeUndefined()
  })

  it('says it in a second 180 to a caller that hears ringing already, and reports ringing once', async () => {
    const { invite, engine } = await run({ verb: 'alert', message: 'one' }, { verb: 'alert', message: 'two' })
    expect(invite.provisionals.map(({ headers }) => headers?.[0]?.value)).toEqual(['one', 'two'])
    expect(engine.store.statuses).toEqual(['trying', 'ringing'])
  })

  it('says nothing to a caller that is answered', async () => {
    const { invite, facts } = await run(answer, { verb: 'alert', message: 'late' })
    expect(facts('alerted')).toHaveLength(1)
    expect(invite.provisionals).toEqual([])
  })

  it('lets no message break a line of SIP: the alert is raised, and the caller hears nothing of it', async () => {
    const { invite, facts } = await run({ verb: 'alert', message: 'a\r\nVia: evil' })
    expect(facts('alerted')).toHaveLength(1)
    expect(invite.provisionals).toEqual([])
    expect(facts('note')).toHaveLength(1)
  })
})

describe('sip:request', () => {
  it('sends the request with its headers and its body, and tells its action hook the status', async () => {
    const running = await run(answer, {
      verb: 'sip:request',
      method: 'INFO',
      headers: { 'X-Order': '7', 'Content-Type': 'application/json', Via: 'evil' },
      body: '{"a":1}',
      actionHook: '/sent',
    })
    expect(running.dialog().requests).toEqual([
      {
        method: 'INFO',
        options: {
          headers: [{ name: 'x-order', value: '7' }],
          body: { type: 'application/json', content: '{"a":1}\n' },
        },
      },
    ])
    expect(running.engine.hooks.payloadsOf('/sent')).toMatchObject([{ result: 'success', sip_status: 200 }])
    expect(running.facts('note').map(({ sentence }) => sentence)).toEqual([
      'these headers may not be set and were left out: Via',
    ])
  })

  it('sends no body and no type where there is none', async () => {
    const { dialog } = await run(answer, { verb: 'sip:request', method: 'OPTIONS' })
    expect(dialog().requests).toEqual([{ method: 'OPTIONS', options: { headers: [] } }])
  })

  it('tells a refusal of the far end as it came', async () => {
    const engine = createScriptedEngine(parseVerbs)
    const request = { verb: 'sip:request', method: 'MESSAGE', body: 'hello', actionHook: '/sent' }
    engine.hooks.on('/call', [answer, { verb: 'pause', length: 1 }, request])
    const invite = engine.ring()
    await settle()
    if (invite.dialog !== undefined) invite.dialog.responds = () => sipResponse(405)
    engine.clock.advance(1000)
    await settle()
    await settle()
    expect(engine.hooks.payloadsOf('/sent')).toMatchObject([{ result: 'success', sip_status: 405 }])
  })

  it('tells what kept it from being sent', async () => {
    const headers = { 'Content-Type': 'text/plain\r\nVia: evil' }
    const { engine, dialog } = await run(answer, {
      verb: 'sip:request',
      method: 'INFO',
      headers,
      body: 'x',
      actionHook: '/sent',
    })
    expect(dialog().requests).toEqual([])
    expect(engine.hooks.payloadsOf('/sent')).toMatchObject([
      { result: 'failed', err: 'the type of the content must be a media type like text/plain' },
    ])
  })

  it('is skipped while the call is not answered', async () => {
    const { outcomes, invite } = await run({ verb: 'sip:request', method: 'INFO' })
    expect(outcomes()).toEqual(['sip:request skipped'])
    expect(invite.dialog).toBeUndefined()
  })

  it('gives way to the end of the call while the far end does not respond', async () => {
    const engine = createScriptedEngine(parseVerbs)
    const request = { verb: 'sip:request', method: 'INFO', actionHook: '/sent' }
    engine.hooks.on('/call', [answer, { verb: 'pause', length: 1 }, request])
    const invite = engine.ring()
    await settle()
    if (invite.dialog !== undefined) invite.dialog.responds = () => new Promise(() => undefined)
    engine.clock.advance(1000)
    await settle()
    invite.dialog?.hangUp()
    await settle()
    expect(engine.store.records).toHaveLength(1)
    expect(engine.hooks.payloadsOf('/sent')).toEqual([])
  })

  it.each(['BYE', 'INVITE', 'REFER', 'CANCEL', 'ACK', 'UPDATE', 'PRACK', 'info', 'X\r\nVia: evil'])(
    'refuses the method %j',
    (method) => {
      expect(() => parseVerbs([{ verb: 'sip:request', method }])).toThrow('"method" must be')
    },
  )

  it('refuses a body that is too long', () => {
    const body = 'x'.repeat(16_384)
    expect(() => parseVerbs([{ verb: 'sip:request', method: 'INFO', body }])).toThrow('"body"')
  })
})
