import { describe, expect, it } from 'vitest'
import { toAlert } from './alerts.ts'
import type { JournalEvent, JournalFact } from './journal.ts'
import { account, callRequest } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { createScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import { placeOn } from '../../../test/support/scripted-engine/place-on.ts'
import { heldAnswer } from '../../../test/support/scripted-engine/scripted-hooks.ts'
import { calm, settle } from '../../../test/support/scripted-engine/turns.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import type { Alert } from '../../contracts/alert.ts'
import { AppError } from '../../lib/errors.ts'
import { parseVerbs } from '../../verbs/index.ts'

const event = (fact: JournalFact): JournalEvent => ({ seq: 1, at: 0, ...fact })
const failed = (code: string, status?: number): JournalFact => ({
  type: 'hook-failed',
  hook: 'call',
  url: 'https://a.example.com',
  duration_ms: 1,
  code,
  sentence: 's',
  cure: 'c',
  ...(status === undefined ? {} : { status }),
})
const problem = (code: string): JournalFact => ({ type: 'problem', code, sentence: 's', cure: 'c' })

describe('alerts of the journal', () => {
  it.each([
    [failed('hook_unreachable'), 'webhook-connection-failure'],
    [failed('hook_timeout'), 'webhook-connection-failure'],
    [failed('hook_bad_status', 500), 'webhook-failure'],
    [failed('hook_bad_status', 404), 'webhook-url-notfound'],
    [failed('hook_bad_status', 401), 'webhook-auth-failure'],
    [failed('hook_bad_status', 403), 'webhook-auth-failure'],
    [failed('hook_invalid_payload'), 'invalid-app-payload'],
    [failed('withdrawn'), undefined],
    [problem('speech_failed'), 'tts-failure'],
    [problem('audio_not_found'), 'play-url-notfound'],
    [problem('siprec_failed'), 'recording-failure'],
    [problem('recording_server_missing'), 'recording-failure'],
    [problem('synthesizer_unknown'), 'no-tts'],
    [problem('recognizer_unknown'), 'no-stt'],
    [
      { type: 'refusal', code: 'no_carrier', sentence: 's', cure: 'c', sip_status: 603 } as const,
      'no-carrier',
    ],
    [
      { type: 'refusal', code: 'no_media_port', sentence: 's', cure: 'c', sip_status: 503 } as const,
      'no-media-port',
    ],
    [problem('no_media_received'), 'no-media'],
    [problem('no_media_delivered'), 'no-media'],
    [problem('disk_full'), 'disk-full'],
    [problem('stream_failed'), 'webhook-connection-failure'],
    [problem('stream_lost'), 'webhook-connection-failure'],
    [{ type: 'alerted', message: 'look' } as const, 'alert-from-application'],
    [problem('hook_timeout'), undefined],
    [{ type: 'note', sentence: 's' } as const, undefined],
  ])('%j is %s', (fact, alert_type) => {
    expect(toAlert(event(fact))?.alert_type).toBe(alert_type)
  })

  it('are raised once each, with the call they happened in', async () => {
    const raised: Alert[] = []
    const engine = createScriptedEngine(parsePlainVerbs, {
      alerts: { raise: (alert) => void raised.push(alert) },
    })
    engine.hooks.answers.set('/call', () =>
      Promise.reject(
        new AppError('hook_bad_status', 'the hook answered with status 404', { detail: { status: 404 } }),
      ),
    )
    engine.ring()
    await settle()
    const [record] = engine.store.records
    expect(raised).toEqual([
      {
        account_sid: account.account_sid,
        call_sid: record?.call_sid,
        alert_type: 'webhook-url-notfound',
        message: 'the hook answered with status 404',
        detail: 'http://app.test/call',
      },
    ])
  })

  it('are not raised for a hook that the application made superfluous: only the journal has it', async () => {
    const raised: Alert[] = []
    const engine = createScriptedEngine(parseVerbs, { alerts: { raise: (alert) => void raised.push(alert) } })
    engine.hooks.on('/call', [
      { verb: 'answer' },
      { verb: 'gather', numDigits: 1, timeout: 1, actionHook: '/action' },
    ])
    engine.hooks.on('/next', [{ verb: 'pause', length: 60 }])
    engine.hooks.answers.set('/action', heldAnswer().answer)
    engine.ring()
    await calm()
    engine.clock.advance(1000)
    await calm()
    const call_sid = engine.store.batches[0]?.call_sid ?? ''
    const call_hook = { url: 'http://app.test/next', method: 'POST', username: null, password: null } as const
    await engine.calls.command(account.account_sid, call_sid, { call_hook })
    await calm()
    expect(engine.store.journalOf(call_sid)).toContainEqual(
      expect.objectContaining({ type: 'hook-failed', hook: 'action', code: 'withdrawn' }),
    )
    expect(raised).toEqual([])
  })

  it('tell once of a call to a phone number that no carrier takes', async () => {
    const raised: Alert[] = []
    const engine = createScriptedEngine(parsePlainVerbs, {
      alerts: { raise: (alert) => void raised.push(alert) },
    })
    const to = { type: 'phone', number: '+15550100' } as const
    const { call_sid } = await placeOn(engine, { ...callRequest, to })
    expect(raised).toEqual([
      {
        account_sid: account.account_sid,
        call_sid,
        alert_type: 'no-carrier',
        message: 'no carrier takes calls to this number',
        detail: expect.stringContaining('Give the account a carrier'),
      },
    ])
  })
})
