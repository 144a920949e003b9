// Every command to a call in every state, to one that ends meanwhile, to one that has ended, and to a call of another
// account.
import { describe, expect, it } from 'vitest'
import { steps, talking } from '../../test/support/scripted-engine/dialling.ts'
import { account, application } from '../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../test/support/scripted-engine/turns.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../test/support/scripted-engine/scripted-engine.ts'
import { heldAnswer } from '../../test/support/scripted-engine/scripted-hooks.ts'
import { scriptedRecorder } from '../../test/support/scripted-engine/scripted-recorder.ts'
import type { ScriptedInvite } from '../../test/support/scripted-engine/scripted-sip.ts'
import { AppError } from '../lib/errors.ts'
import { parseVerbs } from '../verbs/index.ts'

type State = 'unanswered' | 'alone' | 'talking' | 'dialled' | 'meeting'
const states: readonly State[] = ['unanswered', 'alone', 'talking', 'dialled', 'meeting']

const rest = { verb: 'pause', length: 600 }
const hook = { url: 'http://app.test/next', method: 'POST', username: null, password: null }
const info = { method: 'INFO', content_type: 'text/plain', content: 'hello' }
const rain = { action: 'addTrack', track: 'rain', play: '/rain.wav' }

/** Each command, and the states in which it is possible. In other states it is refused. */
const commands: readonly (readonly [object, ...State[]])[] = [
  [{ tag: { customer: 7 } }, ...states],
  [{ call_hook: hook }, 'unanswered', 'alone', 'talking', 'meeting'],
  [{ call_status: 'no-answer' }, 'unanswered'],
  [{ call_status: 'completed' }, 'alone', 'talking', 'dialled', 'meeting'],
  [{ boostAudioSignal: '+6 dB' }, 'alone', 'talking', 'dialled', 'meeting'],
  [{ dtmf: { digit: '1w#' } }, 'alone', 'talking', 'dialled', 'meeting'],
  [{ dub: rain }, 'alone', 'talking', 'dialled', 'meeting'],
  [{ sip_request: info }, 'alone', 'talking', 'dialled', 'meeting'],
  [
    { record: { action: 'startCallRecording', type: 'cloud' } },
    ...(['alone', 'talking', 'dialled', 'meeting'] as const),
  ],
  [
    { record: { action: 'startCallRecording', siprecServerURL: 'sip:recorder@192.0.2.20' } },
    ...(['alone', 'talking', 'dialled', 'meeting'] as const),
  ],
  [{ child_call_hook: hook }, 'talking', 'dialled'],
  [{ whisper: { verb: 'say', text: 'psst' } }, 'talking', 'dialled'],
  [{ media_path: 'full-media' }, 'talking', 'dialled'],
  [{ mute_status: 'mute' }, 'talking', 'dialled', 'meeting'],
  [{ conf_hold_status: 'hold' }, 'meeting'],
  [{ conf_mute_status: 'mute' }, 'meeting'],
  [{ conferenceParticipantAction: { action: 'kick' } }, 'meeting'],
  [{ listen_status: 'pause' }],
  [{ stream_status: 'resume' }],
]

interface Call {
  readonly engine: ScriptedEngine
  readonly invite: ScriptedInvite
  readonly call_sid: string
}

async function callIn(state: State): Promise<Call> {
  const prepare = (engine: ScriptedEngine): void => {
    engine.hooks.on('/next', [rest])
  }
  if (state === 'talking' || state === 'dialled') {
    const { engine, caller, sidOf } = await talking(parseVerbs, {}, prepare)
    return { engine, invite: caller, call_sid: sidOf(state === 'talking' ? 'inbound' : 'outbound') }
  }
  const engine = createScriptedEngine(parseVerbs, { recorder: scriptedRecorder() })
  prepare(engine)
  const room = [{ verb: 'conference', name: 'team' }, rest]
  engine.hooks.on('/call', { unanswered: [rest], alone: [{ verb: 'answer' }, rest], meeting: room }[state])
  const invite = engine.ring()
  await calm()
  return { engine, invite, call_sid: engine.store.batches[0]?.call_sid ?? '' }
}

const command = ({ engine, call_sid }: Call, asked: object, account_sid = account.account_sid) =>
  engine.calls.command(account_sid, call_sid, { ...asked })

/** Returns the number of client requests in the journal. */
const askedFor = ({ engine, call_sid }: Call): number =>
  engine.store.journalOf(call_sid).filter((event) => event.type === 'decision' && event.rule === 'api').length

async function refusalOf(work: Promise<unknown>): Promise<AppError> {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(error instanceof AppError)) throw new Error('it was not refused', { cause: error })
  return error
}

describe.each(states)('a call that is %s', (state) => {
  const isDone = ([, ...ofStates]: (typeof commands)[number]): boolean => ofStates.includes(state)
  const done = commands.filter(isDone).map(([asked]) => asked)
  const refused = commands.filter((row) => !isDone(row)).map(([asked]) => asked)

  it.each(done)('takes %j, and its journal says so', async (asked) => {
    const call = await callIn(state)
    expect(await command(call, asked)).toBeDefined()
    await calm()
    expect(askedFor(call)).toBe(1)
  })

  it.each(refused)('refuses %j with what helps, and nothing has changed', async (asked) => {
    const call = await callIn(state)
    const before = call.engine.store.journalOf(call.call_sid).length
    const { code, message, cure } = await refusalOf(command(call, asked))
    expect([code, message, cure]).toEqual([
      'call_state',
      expect.stringMatching(/\w/),
      expect.stringMatching(/\.$/),
    ])
    await calm()
    expect(call.engine.store.journalOf(call.call_sid)).toHaveLength(before)
  })
})

it.each([{ dub: rain }, { record: { action: 'startCallRecording', siprecServerURL: 'sip:r@192.0.2.20' } }])(
  'a called side that is being asked whether it takes the call refuses %j: nothing runs it',
  async (asked) => {
    const late = heldAnswer()
    const { engine, caller, sidOf } = await talking(parseVerbs, { confirmHook: '/confirm' }, (engine) =>
      engine.hooks.answers.set('/confirm', late.answer),
    )
    const call = { engine, invite: caller, call_sid: sidOf('outbound') }
    const { code, message } = await refusalOf(command(call, asked))
    expect([code, message]).toEqual(['call_state', 'no verbs run the call, and it talks with no one'])
  },
)

describe('a call that ends', () => {
  const all = commands.map(([asked]) => asked)

  it.each(all)('in the very turn in which %j comes is over once, whichever is first', async (asked) => {
    for (const state of ['talking', 'meeting'] as const)
      for (const moment of [-1, 0, 1, 3, 6]) {
        const call = await callIn(state)
        const { engine, invite } = call
        if (moment < 0) invite.dialog?.hangUp()
        const commanded = command(call, asked).then(
          () => 'done',
          (error: unknown) => (error instanceof AppError ? error.code : String(error)),
        )
        await steps(moment)
        invite.dialog?.hangUp()
        await calm()
        for (const { dialog, result } of engine.sent) if (result === 'answered') dialog.hangUp()
        await calm()
        engine.clock.advance(10_000)
        await calm()
        expect(['done', 'call_state', 'not_served'], `${state} ${moment}`).toContain(await commanded)
        const ended = engine.store.journalOf(call.call_sid).filter(({ type }) => type === 'ended')
        expect(ended, `${state} ${moment}`).toHaveLength(1)
        for (const sent of engine.sent) if (sent.result === undefined) sent.refuse(480)
        await calm()
        expect([engine.calls.liveCount, engine.media.openSessions, engine.lent.size]).toEqual([0, 0, 0])
      }
  })

  it('and has ended takes no command: none is found, and its journal stays as it is', async () => {
    const call = await callIn('alone')
    call.invite.dialog?.hangUp()
    await calm()
    const before = call.engine.store.journalOf(call.call_sid).length
    for (const asked of all) expect(await command(call, asked)).toBeUndefined()
    await calm()
    expect(call.engine.store.journalOf(call.call_sid)).toHaveLength(before)
  })
})

describe('a hook that is a path', () => {
  const asPath = [
    [{ call_hook: '/next', call_status_hook: '/told' }, 'alone'],
    [{ call_hook: { url: '/next' } }, 'talking'],
    [{ child_call_hook: '/next' }, 'talking'],
    [{ child_call_hook: '/next' }, 'dialled'],
    [{ conf_hold_status: 'hold', wait_hook: '/next' }, 'meeting'],
    [{ conferenceParticipantAction: { action: 'hold', wait_hook: { url: '/next' } } }, 'meeting'],
  ] as const

  it.each(asPath)('in %j is asked where the verbs of the call came from', async (asked, state) => {
    const call = await callIn(state)
    expect(await command(call, asked)).toBeDefined()
    await calm()
    expect(call.engine.hooks.asked.map(({ hook: { url } }) => url)).toContain('http://app.test/next')
  })

  it('has the credentials of the application, unless it has its own', async () => {
    for (const [own, username] of [
      [{}, 'app'],
      [{ username: 'mine', password: 'secret' }, 'mine'],
      [{ username: null, password: null }, null],
    ] as const) {
      const engine = createScriptedEngine(parseVerbs)
      const call_hook = {
        ...hook,
        url: 'http://app.test/call',
        method: 'POST',
        username: 'app',
        password: 'x',
      } as const
      engine.application = { ...application, call_hook }
      engine.hooks.on('/call', [{ verb: 'answer' }, rest])
      engine.hooks.on('/next', [rest])
      engine.ring()
      await calm()
      const call_sid = engine.store.batches[0]?.call_sid ?? ''
      await engine.calls.command(account.account_sid, call_sid, { call_hook: { url: '/next', ...own } })
      await calm()
      expect(engine.hooks.asked.at(-1)?.hook).toMatchObject({ url: 'http://app.test/next', username })
    }
  })

  it.each([{ call_hook: '/next' }, { call_hook: 'http://app.test/next', call_status_hook: '/told' }])(
    'in %j is refused where the verbs of the call came from no URL',
    async (asked) => {
      const engine = createScriptedEngine(parseVerbs)
      const app_json = JSON.stringify([{ verb: 'answer' }, rest])
      engine.application = { ...application, call_hook: null, app_json }
      const invite = engine.ring()
      await calm()
      const call = { engine, invite, call_sid: engine.store.batches[0]?.call_sid ?? '' }
      const { code, message, cure } = await refusalOf(command(call, asked))
      expect([code, message, cure]).toEqual([
        'call_state',
        expect.stringContaining('did not come from a URL that a path could be resolved against'),
        'Send the hook as an absolute URL.',
      ])
      expect(askedFor(call)).toBe(0)
    },
  )
})

describe('a call of another account', () => {
  it('is not found by any command, nor hung up on, nor read', async () => {
    const call = await callIn('talking')
    const { engine, call_sid } = call
    const other = 'a0000000-0000-4000-8000-00000000000f'
    const before = engine.store.journalOf(call_sid).length
    for (const [asked] of commands) expect(await command(call, asked, other)).toBeUndefined()
    expect(await engine.calls.hangUp(other, call_sid)).toBe(false)
    expect([engine.calls.find(other, call_sid), engine.calls.journal(other, call_sid)]).toEqual([
      undefined,
      undefined,
    ])
    expect([engine.calls.list(other), engine.calls.conferences(other), engine.calls.queues(other)]).toEqual([
      [],
      [],
      [],
    ])
    expect(engine.store.journalOf(call_sid)).toHaveLength(before)
  })
})

describe('what a command says', () => {
  it.each([
    [{ record: { action: 'startCallRecording' } }, 'siprecServerURL is needed'],
    [{ conferenceParticipantAction: { action: 'tag' } }, 'tag needs a tag'],
    [{ conferenceParticipantAction: { action: 'coach' } }, 'coach needs a tag'],
  ])('%j makes no sense and is refused before a call is looked for', async (asked, sentence) => {
    const call = await callIn('meeting')
    const error = await refusalOf(
      (async () => await call.engine.calls.command(account.account_sid, 'no such call', asked))(),
    )
    expect([error.code, error.message]).toEqual(['bad_request', expect.stringContaining(sentence)])
  })

  it('headers of a request that may not be set are refused by their names', async () => {
    const headers = { Via: 'x', 'X-Own': '7', 'Call-ID': '1' }
    const call = await callIn('alone')
    const error = await refusalOf(command(call, { sip_request: { ...info, headers } }))
    expect([error.code, error.message]).toEqual(['bad_request', expect.stringContaining('Via, Call-ID')])
    expect(call.invite.dialog?.requests).toEqual([])
  })

  it('verbs that make no sense are the fault of the client, not of a hook', async () => {
    const call = await callIn('talking')
    for (const asked of [{ dub: { action: 'dance', track: 'x' } }, { whisper: { verb: 'sing' } }])
      expect((await refusalOf(command(call, asked))).code).toBe('bad_request')
  })
})
