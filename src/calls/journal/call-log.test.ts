import { describe, expect, it } from 'vitest'
import { createLogger, type LogLevel } from '../../lib/log.ts'
import { account, callRequest, phone } from '../../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { placeOn } from '../../../test/support/scripted-engine/place-on.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import { createCallLog, logFact } from './call-log.ts'

interface Line {
  readonly level: number
  readonly msg: string
  readonly call_sid?: string
  readonly account_sid?: string
  readonly fact?: string
  readonly facts?: Readonly<Record<string, unknown>>
}

interface Logged {
  readonly engine: ScriptedEngine
  readonly lines: Line[]
  readonly text: () => string
  readonly detailed: () => Line[]
}

/** A platform whose log has this level, and its one account. */
function platform(level: LogLevel, enable_debug_log: boolean): Logged {
  const lines: Line[] = []
  const log = createLogger(level, { write: (line) => void lines.push(JSON.parse(line)) })
  const engine = createScriptedEngine(parsePlainVerbs, { log })
  engine.account = { ...account, enable_debug_log }
  engine.hooks.on('/call', [{ verb: 'answer' }, { verb: 'wait', ms: 9_000_000 }])
  engine.phones.set(phone.aor, [phone])
  const detailed = (): Line[] => lines.filter((line) => line.level === 20)
  return { engine, lines, text: () => JSON.stringify(lines), detailed }
}

describe('the log of an account with enable_debug_log', () => {
  it('has each fact of its calls, inbound and outbound, though the log of the platform has the level info', async () => {
    const { engine, detailed } = platform('info', true)
    engine.ring()
    await settle()
    const inbound = detailed()
    const [call] = engine.calls.list(account.account_sid)
    const { call_sid = '' } = call ?? {}
    expect(inbound.map(({ fact }) => fact)).toEqual(engine.store.journalOf(call_sid).map(({ type }) => type))
    expect(inbound.length).toBeGreaterThan(8)
    expect(new Set(inbound.map((line) => `${line.call_sid} ${line.account_sid}`))).toEqual(
      new Set([`${call_sid} ${account.account_sid}`]),
    )
    expect(inbound.find(({ fact }) => fact === 'sip')?.facts).toEqual({
      direction: 'received',
      summary: 'INVITE',
      remote: expect.any(String),
    })
    await placeOn(engine, callRequest)
    await settle()
    const outbound = detailed().slice(inbound.length)
    expect(outbound[0]).toMatchObject({ fact: 'started', facts: { direction: 'outbound' } })
    expect(outbound[0]?.call_sid).not.toBe(call_sid)
  })

  it('begins and ends with the next call', async () => {
    const { engine, detailed } = platform('info', false)
    engine.ring()
    await settle()
    expect(detailed()).toEqual([])
    engine.account = { ...account, enable_debug_log: true }
    engine.ring()
    await settle()
    const count = detailed().length
    expect(count).toBeGreaterThan(8)
    engine.account = account
    engine.ring()
    await settle()
    expect(detailed()).toHaveLength(count)
    await engine.calls.hangUp(account.account_sid, detailed()[0]?.call_sid ?? '')
    await settle()
    expect(
      detailed()
        .slice(count)
        .map(({ fact }) => fact),
    ).toContain('ended')
  })

  it.each([
    ['debug', false, true],
    ['error', true, true],
    ['silent', true, false],
  ] as const)('at level %s, wanted %s: detailed lines %s', async (level, isWanted, isDetailed) => {
    const { engine, detailed } = platform(level, isWanted)
    engine.ring()
    await settle()
    expect(detailed().length > 0).toBe(isDetailed)
  })

  it('is given nothing of what people and applications say, and no tokens of hooks', async () => {
    const { engine, text, detailed } = platform('info', true)
    const { application } = engine
    if (application === undefined) throw new Error('there is no application')
    const url = 'http://app.test/call?token=s3cret'
    engine.application = {
      ...application,
      call_hook: { url, method: 'POST', username: 'u', password: 's3cret' },
    }
    engine.ring({ headers: [{ name: 'x-pin', value: 's3cret' }] })
    await settle()
    expect(detailed().map(({ fact }) => fact)).toEqual(
      expect.arrayContaining(['hook-asked', 'hook-answered', 'status']),
    )
    expect(text()).not.toContain('s3cret')
  })

  it('names a key, words, a tag, an alert and the headers of a BYE without what is in them', () => {
    const lines: Line[] = []
    const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) })
    const own = createCallLog(log, { call_sid: 'c', account_sid: 'a' }, { enable_debug_log: true })
    logFact(own, { type: 'digit', digit: '7', duration_ms: 100, source: 'rtp' })
    const heard = { recogniser: 'gather', vendor: 'deepgram', language: 'en', channel: 1, confidence: 1 }
    logFact(own, { type: 'heard', ...heard, transcript: '4711' })
    logFact(own, { type: 'tagged', data: { pin: '4711' } })
    logFact(own, { type: 'alerted', message: '4711' })
    const ended = { call_status: 'completed', sip_status: 200, sip_reason: 'OK' } as const
    logFact(own, { type: 'status', ...ended, headers: { x_pin: '4711' } })
    expect(lines.map(({ fact, facts }) => [fact, facts])).toEqual([
      ['digit', { duration_ms: 100, source: 'rtp' }],
      ['heard', heard],
      ['tagged', undefined],
      ['alerted', undefined],
      ['status', ended],
    ])
  })
})
