// Each verb in a running call: the engine is real, its surroundings are scripted.
import { describe, expect, it } from 'vitest'
import { account } from '../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../test/support/scripted-engine/scripted-engine.ts'
import { heldAnswer } from '../../test/support/scripted-engine/scripted-hooks.ts'
import { settle } from '../../test/support/scripted-engine/turns.ts'
import type { Alert } from '../contracts/alert.ts'
import type { AudioFetcher } from '../contracts/speech.ts'
import type { ScriptedSession } from '../../test/support/scripted-engine/scripted-media.ts'
import type { ScriptedInvite } from '../../test/support/scripted-engine/scripted-sip.ts'
import { AppError } from '../lib/errors.ts'
import { parseVerbs } from './index.ts'

interface Running {
  readonly engine: ScriptedEngine
  readonly invite: ScriptedInvite
}

async function run(...verbs: readonly object[]): Promise<Running> {
  const engine = createScriptedEngine(parseVerbs)
  engine.hooks.on('/call', verbs)
  const invite = engine.ring()
  await settle()
  return { engine, invite }
}

/** Runs the verbs to their end. Each takes a second at most. */
async function runWithAlerts(...verbs: readonly object[]) {
  const raised: Alert[] = []
  const engine = createScriptedEngine(parseVerbs, { alerts: { raise: (alert) => void raised.push(alert) } })
  engine.hooks.on('/call', verbs)
  engine.ring()
  await settle()
  for (const _verb of verbs) await pass(engine, 1000)
  const sentencesOf = (type: 'note' | 'problem'): readonly string[] =>
    engine.store.batches.flatMap(({ events }) =>
      events.flatMap((event) => (event.type === type ? [event.sentence] : [])),
    )
  return { raised, sentencesOf }
}

async function pass(engine: ScriptedEngine, ms: number): Promise<void> {
  engine.clock.advance(ms)
  await settle()
}

function mediaOf({ engine }: Running): ScriptedSession {
  const [session] = engine.media.sessions
  if (session === undefined) throw new Error('there is no media')
  return session
}

function problems({ engine }: Running): unknown[] {
  return engine.store.batches.flatMap(({ events }) =>
    events.flatMap((event) => (event.type === 'problem' ? [event.code] : [])),
  )
}

describe('answer', () => {
  it('sends 200 and opens media', async () => {
    const { engine, invite } = await run({ verb: 'answer' }, { verb: 'pause', length: 1 })
    expect(invite.dialog).toBeDefined()
    expect(engine.media.openSessions).toBe(1)
  })
})

describe('say', () => {
  it('answers, speaks the entries in order, and repeats them', async () => {
    const engine = createScriptedEngine(parseVerbs)
    const spoken: string[] = []
    engine.speak = (text) => {
      spoken.push(text)
      return text.length * 100
    }
    engine.hooks.on('/call', [{ verb: 'say', text: ['one', 'three'], loop: 2 }])
    const invite = engine.ring()
    await settle()
    expect(invite.dialog).toBeDefined()
    for (const ms of [300, 500, 300]) await pass(engine, ms)
    expect(mediaOf({ engine, invite }).played).toEqual([
      '/clips/300',
      '/clips/500',
      '/clips/300',
      '/clips/500',
    ])
    expect(spoken).toEqual(['one', 'three'])
    await pass(engine, 500)
    expect(invite.dialog?.sentBye).toEqual([])
    expect(engine.lent.size).toBe(0)
  })

  it('speaks the next text while the one before it is heard, and fails only after that', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.speak = (text) => {
      if (text === 'bad') throw new AppError('speech_failed', 'no voice')
      return 1000
    }
    engine.hooks.on('/call', [{ verb: 'say', text: ['good', 'bad', 'never'] }])
    const running = { engine, invite: engine.ring() }
    await settle()
    await pass(engine, 999)
    expect(problems(running)).toEqual([])
    await pass(engine, 1)
    expect(problems(running)).toEqual(['speech_failed'])
    expect(mediaOf(running).played).toEqual(['/clips/1000'])
    expect(engine.lent.size).toBe(0)
  })

  it('is silent for silence_stream, without speech', async () => {
    const running = await run({ verb: 'say', text: 'silence_stream://700' }, { verb: 'hangup' })
    await pass(running.engine, 699)
    expect(running.invite.dialog?.sentBye).toBeUndefined()
    await pass(running.engine, 1)
    expect(running.invite.dialog?.sentBye).toEqual([])
    expect(mediaOf(running).played).toEqual([])
  })

  it.each([['forever'], [0]])('with loop %s goes on until the caller leaves', async (loop) => {
    const running = await run({ verb: 'say', text: 'x', loop })
    for (let count = 0; count < 20; count++) await pass(running.engine, 1000)
    expect(mediaOf(running).played).toEqual(['/clips/1000'])
    running.invite.dialog?.hangUp()
    await settle()
    expect(running.engine.store.records).toHaveLength(1)
    expect(running.engine.clock.pending).toBe(0)
  })

  it('repeating nothing for ever takes its time', async () => {
    const running = await run({ verb: 'say', text: '', loop: 'forever' })
    await pass(running.engine, 10_000)
    expect(running.engine.calls.liveCount).toBe(1)
    running.invite.dialog?.hangUp()
    await settle()
    expect(running.engine.clock.pending).toBe(0)
  })

  it('uses the fallback voice once the first one failed, and keeps it for the call', async () => {
    const synthesizer = { vendor: 'bad', fallbackVendor: 'good', fallbackVoice: 'amy' }
    const engine = createScriptedEngine(parseVerbs)
    let failures = 0
    engine.speak = () => {
      if (failures++ === 0) throw new AppError('speech_failed', 'the vendor is down')
      return 100
    }
    engine.hooks.on('/call', [
      { verb: 'say', text: 'a', synthesizer },
      { verb: 'say', text: 'b', synthesizer },
    ])
    const invite = engine.ring()
    await settle()
    await pass(engine, 100)
    await pass(engine, 100)
    expect(failures).toBe(3)
    expect(invite.dialog?.sentBye).toEqual([])
  })

  it('journals when the embedded voice stands in for a vendor that is not there, and raises one alert a call', async () => {
    const absent = { verb: 'say', text: 'a', synthesizer: { vendor: 'absent' } }
    const { raised, sentencesOf } = await runWithAlerts(absent, absent)
    expect(sentencesOf('problem')).toEqual(['there is no absent'])
    expect(sentencesOf('note')).toEqual(['there is no absent'])
    expect(raised.map(({ alert_type, message }) => [alert_type, message])).toEqual([
      ['no-tts', 'there is no absent'],
    ])
  })

  it('journals a voice that the vendor has not, and raises no alert', async () => {
    const synthesizer = { vendor: 'good', voice: 'absent' }
    const { raised, sentencesOf } = await runWithAlerts({ verb: 'say', text: 'a', synthesizer })
    expect(sentencesOf('note')).toEqual(['the embedded voice spoke: "good" has no such voice here'])
    expect(raised).toEqual([])
  })

  it('that cannot be spoken is journalled and the next verb runs', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.speak = () => {
      throw new AppError('synthesizer_unknown', 'no such vendor')
    }
    engine.hooks.on('/call', [
      { verb: 'say', text: 'a' },
      { verb: 'pause', length: 1 },
    ])
    const invite = engine.ring()
    await settle()
    expect(problems({ engine, invite })).toEqual(['synthesizer_unknown'])
    expect(invite.dialog?.sentBye).toBeUndefined()
  })

  it('with earlyMedia is heard before the answer', async () => {
    const { engine, invite } = await run(
      { verb: 'say', text: 'a', earlyMedia: true },
      { verb: 'sip:decline', status: 480 },
    )
    expect(invite.provisionals).toMatchObject([{ status: 183 }])
    await pass(engine, 1000)
    expect(invite.final?.status).toBe(480)
    expect(engine.store.statuses).toEqual(['trying', 'early-media', 'failed'])
  })
})

describe('play', () => {
  it('reports how much was heard to its action hook', async () => {
    const url = ['http://a.test/1.wav', 'silence_stream://500']
    const running = await run({ verb: 'play', url, actionHook: '/played', id: 'p1' })
    await pass(running.engine, 1000)
    await pass(running.engine, 500)
    expect(running.engine.hooks.payloadsOf('/played')).toMatchObject([
      {
        reason: 'playCompleted',
        playback_seconds: 1,
        playback_milliseconds: 1500,
        playback_last_offset_pos: '12000',
        verb_id: 'p1',
        call_status: 'in-progress',
      },
    ])
  })

  it('stops after timeoutSecs also while its file is still being fetched', async () => {
    const fetch: AudioFetcher['fetch'] = (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      })
    const engine = createScriptedEngine(parseVerbs, { audio: { fetch } })
    const file = { verb: 'play', url: 'https://a.test/slow.wav', timeoutSecs: 2, actionHook: '/played' }
    engine.hooks.on('/call', [file])
    engine.ring()
    await settle()
    await pass(engine, 2000)
    expect(engine.hooks.payloadsOf('/played')).toMatchObject([
      { reason: 'playCompleted', playback_milliseconds: 0 },
    ])
  })

  it('begins at seekOffset and stops after timeoutSecs', async () => {
    const running = await run({
      verb: 'play',
      url: 'http://a.test/1.wav',
      seekOffset: '4000',
      timeoutSecs: 0.2,
      actionHook: '/played',
    })
    await pass(running.engine, 200)
    expect(running.engine.hooks.payloadsOf('/played')).toMatchObject([
      { reason: 'playCompleted', playback_milliseconds: 200, playback_last_offset_pos: '5600' },
    ])
    expect(running.engine.clock.pending).toBe(0)
  })

  it('fetches each file once, however often it is heard', async () => {
    const engine = createScriptedEngine(parseVerbs)
    const fetched: string[] = []
    engine.fetch = (url) => {
      fetched.push(url)
      return 400
    }
    const url = ['http://a.test/1.wav', 'http://a.test/2.wav']
    engine.hooks.on('/call', [{ verb: 'play', url, loop: 3, actionHook: '/played' }])
    engine.ring()
    await settle()
    for (let count = 0; count < 6; count += 1) await pass(engine, 400)
    expect(fetched).toEqual(url)
    expect(engine.hooks.payloadsOf('/played')).toMatchObject([{ playback_milliseconds: 2400 }])
    expect(engine.lent.size).toBe(0)
  })

  it.each([['audio_not_found'], ['audio_not_supported'], ['hook_refused_address']] as const)(
    'that fails with %s reports playFailed, is journalled, and the next verb runs',
    async (code) => {
      const engine = createScriptedEngine(parseVerbs)
      engine.fetch = () => {
        throw new AppError(code, 'no audio')
      }
      engine.hooks.on('/call', [
        { verb: 'play', url: 'http://a.test/1.wav', actionHook: '/played' },
        { verb: 'pause', length: 1 },
      ])
      const invite = engine.ring()
      await settle()
      expect(engine.hooks.payloadsOf('/played')).toMatchObject([{ reason: 'playFailed', status: 'fail' }])
      expect(problems({ engine, invite })).toEqual([code])
      expect(engine.calls.liveCount).toBe(1)
    },
  )

  it('for speech raises one alert a call that no recogniser listens', async () => {
    const gather = { verb: 'gather', input: ['speech', 'digits'], timeout: 1 }
    const { raised, sentencesOf } = await runWithAlerts(gather, gather)
    const sentence = 'no vendor of speech recognition is chosen'
    expect(sentencesOf('problem')).toEqual([sentence])
    expect(sentencesOf('note')).toEqual([sentence])
    expect(raised.map(({ alert_type }) => alert_type)).toEqual(['no-stt'])
  })

  it('for digits raises no alert', async () => {
    const { raised } = await runWithAlerts({ verb: 'gather', timeout: 1 })
    expect(raised).toEqual([])
  })

  it('says nothing to its action hook when the caller leaves', async () => {
    const running = await run({ verb: 'play', url: 'http://a.test/1.wav', actionHook: '/played' })
    running.invite.dialog?.hangUp()
    await settle()
    expect(running.engine.hooks.payloadsOf('/played')).toEqual([])
    expect(running.engine.lent.size).toBe(0)
  })
})

describe('gather', () => {
  const menu = { verb: 'gather', numDigits: 2, actionHook: '/menu', say: { text: 'press two keys' } }

  it('takes digits during the prompt, which the first one stops', async () => {
    const running = await run(menu)
    mediaOf(running).press('4')
    await settle()
    expect(running.engine.lent.size).toBe(0)
    mediaOf(running).press('2')
    await settle()
    expect(running.engine.hooks.payloadsOf('/menu')).toMatchObject([{ reason: 'dtmfDetected', digits: '42' }])
  })

  it.each([
    ['as they are, where nothing is said', false, {}, ['1', '2']],
    ['as x, where the verb asks for it', false, { sensitive: true }, ['x', 'x']],
    ['as x, where the account does', true, {}, ['x', 'x']],
    ['as they are, where the verb overrules the account', true, { sensitive: false }, ['1', '2']],
  ])('keeps keys in the journal %s', async (_, sensitive_digits, options, expected) => {
    const engine = createScriptedEngine(parseVerbs)
    engine.account = { ...account, sensitive_digits }
    engine.hooks.on('/call', [
      { ...menu, ...options },
      { verb: 'pause', length: 9 },
    ])
    engine.ring()
    await settle()
    engine.media.sessions[0]?.press('12')
    await settle()
    const events = engine.store.batches.flatMap((batch) => batch.events)
    expect(events.flatMap((event) => (event.type === 'digit' ? [event.digit] : []))).toEqual(expected)
    expect(engine.hooks.payloadsOf('/menu')).toMatchObject([{ digits: '12' }])
  })

  it('reports a timeout counted from the end of the prompt', async () => {
    const running = await run({ ...menu, timeout: 3 })
    await pass(running.engine, 1000)
    await pass(running.engine, 2999)
    expect(running.engine.hooks.payloadsOf('/menu')).toEqual([])
    await pass(running.engine, 1)
    expect(running.engine.hooks.payloadsOf('/menu')).toMatchObject([{ reason: 'timeout' }])
    expect(running.engine.hooks.payloadsOf('/menu')[0]).not.toHaveProperty('digits')
  })

  it('sends digits that are too few for an entry with the timeout, and not as an entry', async () => {
    const running = await run({ ...menu, minDigits: 2, timeout: 3 })
    mediaOf(running).press('4')
    await settle()
    await pass(running.engine, 3000)
    const [sent] = running.engine.hooks.payloadsOf('/menu')
    expect(sent).toMatchObject({ reason: 'timeout', incomplete_digits: '4' })
    expect(sent).not.toHaveProperty('digits')
  })

  it('runs the verbs its action hook answers instead of the rest', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.hooks.on('/call', [menu, { verb: 'hangup' }])
    engine.hooks.on('/menu', [
      { verb: 'say', text: 'thank you' },
      { verb: 'pause', length: 5 },
    ])
    const invite = engine.ring()
    await settle()
    engine.media.sessions[0]?.press('42')
    await settle()
    await pass(engine, 1000)
    expect(invite.dialog?.sentBye).toBeUndefined()
    await pass(engine, 5000)
    expect(invite.dialog?.sentBye).toEqual([])
  })

  it('takes digits from SIP INFO too', async () => {
    const running = await run(menu)
    for (const digit of '42') {
      const request = {
        kind: 'request',
        method: 'INFO',
        uri: 'sip:x',
        headers: [{ name: 'content-type', value: 'application/dtmf-relay' }],
        body: Buffer.from(`Signal=${digit}\r\nDuration=160`),
      } as const
      expect(await running.invite.dialog?.listener.requested(request)).toEqual({ status: 200 })
    }
    await settle()
    expect(running.engine.hooks.payloadsOf('/menu')).toMatchObject([{ digits: '42' }])
  })

  it('still asks when its prompt cannot be heard', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.fetch = () => {
      throw new AppError('audio_not_found', '404')
    }
    engine.hooks.on('/call', [
      { verb: 'gather', numDigits: 1, actionHook: '/menu', play: { url: 'http://a.test/x' } },
    ])
    const invite = engine.ring()
    await settle()
    engine.media.sessions[0]?.press('1')
    await settle()
    expect(engine.hooks.payloadsOf('/menu')).toMatchObject([{ digits: '1' }])
    expect(problems({ engine, invite })).toEqual(['audio_not_found'])
  })

  it('says nothing to its action hook when the caller leaves', async () => {
    const running = await run(menu)
    mediaOf(running).press('4')
    running.invite.dialog?.hangUp()
    await settle()
    expect(running.engine.hooks.payloadsOf('/menu')).toEqual([])
    expect(running.engine.clock.pending).toBe(0)
  })

  it('withdraws its question to the application when the caller leaves', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.hooks.on('/call', [menu, { verb: 'say', text: 'never' }])
    const held = heldAnswer()
    engine.hooks.answers.set('/menu', held.answer)
    const invite = engine.ring()
    await settle()
    engine.media.sessions[0]?.press('42')
    await settle()
    invite.dialog?.hangUp()
    await settle()
    expect(engine.hooks.asked.at(-1)?.signal?.aborted).toBe(true)
    expect(engine.store.records).toHaveLength(1)
  })
})

describe('pause', () => {
  it('does not answer the call', async () => {
    const { engine, invite } = await run({ verb: 'pause', length: 2 }, { verb: 'sip:decline', status: 486 })
    await pass(engine, 1999)
    expect(invite.isOpen).toBe(true)
    await pass(engine, 1)
    expect(invite.final?.status).toBe(486)
  })
})

describe('redirect', () => {
  it('runs another application, to whose host later relative hooks go without the old credentials', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.hooks.on('/call', [
      { verb: 'redirect', actionHook: 'http://other.test/app', statusHook: '/events' },
    ])
    engine.hooks.on('/app', [{ verb: 'answer' }, { verb: 'redirect', actionHook: '/second' }])
    engine.hooks.on('/second', [{ verb: 'hangup' }])
    engine.ring()
    await settle()
    expect(engine.hooks.asked.map(({ hook }) => [hook.url, hook.username])).toEqual([
      ['http://app.test/call', 'u'],
      ['http://other.test/app', null],
      ['http://other.test/second', null],
    ])
    const hooks = engine.store.batches.flatMap(({ notifications }) =>
      notifications.map(({ hook }) => hook.url),
    )
    expect(hooks).toEqual(['http://app.test/status', 'http://app.test/events', 'http://app.test/events'])
  })

  it('to an application that cannot be reached goes on with the next verb', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.hooks.on('/call', [
      { verb: 'redirect', actionHook: '/gone' },
      { verb: 'sip:decline', status: 480 },
    ])
    engine.hooks.answers.set('/gone', () =>
      Promise.reject(new AppError('hook_unreachable', 'connection refused')),
    )
    const invite = engine.ring()
    await settle()
    expect(invite.final?.status).toBe(480)
  })
})

describe('tag', () => {
  it('shows in later payloads exactly as given', async () => {
    const data = { camelCase: 1, nested: { snake_case: [true] } }
    const { engine } = await run({ verb: 'tag', data }, { verb: 'redirect', actionHook: '/next' })
    expect(engine.hooks.payloadsOf('/next')).toMatchObject([{ customerData: data }])
  })

  it('that is too large is journalled and ignored', async () => {
    const running = await run(
      { verb: 'tag', data: { text: 'x'.repeat(70_000) } },
      { verb: 'pause', length: 1 },
    )
    expect(problems(running)).toEqual(['bad_request'])
  })
})

describe('hangup', () => {
  it('sends BYE with the headers of the verb and drops the rest', async () => {
    const { engine, invite } = await run(
      { verb: 'answer' },
      { verb: 'hangup', headers: { 'X-Why': 'done', Via: 'evil' } },
      { verb: 'say', text: 'never' },
    )
    expect(invite.dialog?.sentBye).toEqual([{ name: 'x-why', value: 'done' }])
    expect(engine.media.sessions[0]?.played).toEqual([])
  })

  it('is skipped while the call is unanswered', async () => {
    const { invite } = await run({ verb: 'hangup' })
    expect(invite.final?.status).toBe(603)
  })
})

describe('sip:decline', () => {
  it('sends its status, reason and headers', async () => {
    const { engine, invite } = await run({
      verb: 'sip:decline',
      status: 486,
      reason: 'Busy\r\nX-Evil: 1',
      headers: { 'X-Extra': '1' },
    })
    expect(invite.final).toMatchObject({
      status: 486,
      reason: expect.stringMatching(/^Busy +X-Evil: 1$/) as string,
    })
    expect(invite.final?.headers).toEqual([
      { name: 'x-extra', value: '1' },
      { name: 'x-reason', value: 'SIP Decline Verb' },
    ])
    expect(engine.store.notifications.at(-1)).toMatchObject({ call_status: 'failed', sip_status: 486 })
  })

  it('is skipped once the call is answered', async () => {
    const { invite } = await run({ verb: 'answer' }, { verb: 'sip:decline', status: 486 })
    expect(invite.dialog?.sentBye).toEqual([])
  })
})

describe('the call hook', () => {
  it('gets exactly the fields of a new call', async () => {
    const { engine } = await run({ verb: 'answer' })
    const [payload] = engine.hooks.payloadsOf('/call')
    expect(payload).toEqual({
      call_sid: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      direction: 'inbound',
      from: '+4420',
      to: 'app-d0000000-0000-4000-8000-000000000001',
      call_id: 'call-1@test',
      sbc_callid: 'call-1@test',
      sip_status: 100,
      sip_reason: 'Trying',
      call_status: 'trying',
      account_sid: 'a0000000-0000-4000-8000-000000000001',
      application_sid: 'd0000000-0000-4000-8000-000000000001',
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      originating_sip_ip: '127.0.0.1',
      caller_name: 'Alice Liddell',
      service_provider_sid: 'b0000000-0000-4000-8000-000000000001',
      local_sip_address: '127.0.0.1:5060',
      sip: expect.objectContaining({ method: 'INVITE', version: '2.0' }) as object,
      defaults: { synthesizer: { language: 'en-US' }, recognizer: {} },
      env_vars: { GREETING: 'hello' },
    })
  })

  it('alone carries env_vars and the SIP request', async () => {
    const { engine } = await run({ verb: 'redirect', actionHook: '/next' })
    const [next] = engine.hooks.payloadsOf('/next')
    for (const payload of [next, ...engine.store.notifications]) {
      expect(payload).not.toHaveProperty('env_vars')
      expect(payload).not.toHaveProperty('sip')
      expect(payload).toHaveProperty('fs_sip_address', '127.0.0.1:5060')
    }
  })
})
