import { describe, expect, it } from 'vitest'
import { account, application } from '../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../test/support/scripted-engine/turns.ts'
import { createScriptedEngine } from '../../test/support/scripted-engine/scripted-engine.ts'
import { scriptedRecorder } from '../../test/support/scripted-engine/scripted-recorder.ts'
import { AppError } from '../lib/errors.ts'
import { parseVerbs } from './index.ts'

const rest = { verb: 'pause', length: 60 }
const answer = { verb: 'answer' }
const cloud = (action: string) => ({
  verb: 'config',
  record: { action: `${action}CallRecording`, type: 'cloud' },
})

async function run(...verbs: object[]) {
  return runFor(account, ...verbs)
}

async function runFor(facts: typeof account, ...verbs: object[]) {
  const recorder = scriptedRecorder()
  const engine = createScriptedEngine(parseVerbs, { recorder })
  engine.account = facts
  engine.hooks.on('/call', verbs)
  const invite = engine.ring()
  await calm(30)
  const events = () => engine.store.batches.flatMap((batch) => batch.events)
  const kinds = () => events().flatMap(({ type }) => (type.startsWith('recording') ? [type] : []))
  const codes = () => events().flatMap((event) => (event.type === 'problem' ? [event.code] : []))
  const changes = () =>
    engine.store.batches.flatMap(({ recordings = [] }) => recordings.map(({ change }) => change))
  return { engine, invite, recorder, events, kinds, codes, changes }
}

describe('record of type cloud', () => {
  it('is remembered until the answer, and does not answer', async () => {
    const unanswered = await run(cloud('start'), rest)
    expect(unanswered.invite.dialog).toBeUndefined()
    expect(unanswered.recorder.begun).toEqual([])
    const { recorder, kinds, changes, engine } = await run(cloud('start'), answer, rest)
    expect(recorder.begun.map(({ order }) => order)).toMatchObject([
      { account_sid: account.account_sid, format: 'mp3' },
    ])
    expect([kinds(), changes()]).toEqual([['recording-started'], ['begun']])
    const ring = recorder.begun[0]?.ring
    expect(engine.media.sessions[0]?.wiring.taps).toEqual([
      { id: 'recording:recording', of: 'recording', ring },
    ])
  })

  it('masks while it is paused, and takes nothing between a stop and the next start', async () => {
    const { recorder, kinds, engine } = await run(
      answer,
      ...['start', 'pause', 'resume', 'stop'].map(cloud),
      rest,
    )
    expect(recorder.begun[0]?.masks).toEqual([true, false])
    expect(kinds()).toEqual([
      'recording-started',
      'recording-paused',
      'recording-resumed',
      'recording-stopped',
    ])
    expect(engine.media.sessions[0]?.wiring.taps).toBeUndefined()
    const again = await run(answer, cloud('start'), cloud('stop'), cloud('start'), rest)
    expect(again.recorder.begun).toHaveLength(1)
    expect(again.engine.media.sessions[0]?.wiring.taps).toHaveLength(1)
  })

  it('that was never started cannot be paused or stopped', async () => {
    for (const action of ['pause', 'resume', 'stop'])
      expect((await run(answer, cloud(action), rest)).codes()).toEqual(['call_state'])
  })

  it('that the recorder ends is a problem, and the call goes on', async () => {
    const { recorder, kinds, codes, changes, events } = await run(answer, cloud('start'), rest)
    recorder.begun[0]?.fail('the disk is full')
    await calm()
    expect([kinds(), changes()]).toEqual([
      ['recording-started', 'recording-ended'],
      ['begun', 'ended'],
    ])
    expect(codes()).toEqual(['recording_failed'])
    expect(events().some(({ type }) => type === 'ended')).toBe(false)
  })
})

describe('record without a type', () => {
  const untyped = (action: string) => ({ verb: 'config', record: { action: `${action}CallRecording` } })
  const all = ['pause', 'resume', 'stop'].map(untyped)
  const changes = ['recording-started', 'recording-paused', 'recording-resumed', 'recording-stopped']

  it('pauses, resumes and stops a recording of type cloud', async () => {
    const { recorder, kinds } = await run(answer, cloud('start'), ...all, rest)
    expect([recorder.begun[0]?.masks, kinds()]).toEqual([[true, false], changes])
  })

  it('does so as soon as the call is answered where the account records all of them', async () => {
    const { recorder, kinds } = await runFor({ ...account, record_all_calls: true }, answer, ...all, rest)
    expect(recorder.begun[0]?.masks).toEqual([true, false])
    expect(kinds().toSorted()).toEqual(changes.toSorted())
  })

  it('does so by a command to the call', async () => {
    const { engine, recorder, kinds } = await run(answer, cloud('start'), rest)
    const call_sid = engine.store.batches[0]?.call_sid ?? ''
    for (const action of ['pause', 'resume', 'stop'])
      await engine.calls.command(account.account_sid, call_sid, { record: untyped(action).record })
    await calm()
    expect([recorder.begun[0]?.masks, kinds()]).toEqual([[true, false], changes])
  })

  it('says in the journal that nothing is recorded, also after a stop', async () => {
    for (const before of [[], [cloud('start'), cloud('stop')]]) {
      const { events, codes } = await run(answer, ...before, untyped('pause'), rest)
      expect(events()).toContainEqual(
        expect.objectContaining({ sentence: 'pauseCallRecording: the call is not being recorded' }),
      )
      expect(codes()).toEqual([])
    }
  })
})

describe('record of type siprec', () => {
  it('without a server starts nothing, and is a problem whose cure names type cloud', async () => {
    const { events, codes, kinds } = await run(
      answer,
      { verb: 'config', record: { action: 'startCallRecording' } },
      rest,
    )
    expect([codes(), kinds()]).toEqual([['recording_server_missing'], []])
    expect(events().find(({ type }) => type === 'problem')).toMatchObject({
      sentence: 'record: siprecServerURL is needed to start a recording',
      cure: expect.stringContaining('set type to cloud'),
    })
    expect(events().some(({ type }) => type === 'ended')).toBe(false)
  })
})

describe('a recorder that refuses', () => {
  it.each([
    ['for want of room', new AppError('recording_refused', 'the disk space is used up'), 'recording_refused'],
    ['by a mistake', new TypeError('a mistake'), 'internal'],
  ])('%s leaves the call as it is, and the journal says so', async (_how, error, code) => {
    const recorder = { begin: () => Promise.reject(error) }
    const engine = createScriptedEngine(parseVerbs, { recorder })
    engine.account = { ...account, record_all_calls: true }
    engine.hooks.on('/call', [answer, rest])
    engine.ring()
    await calm(30)
    const events = engine.store.batches.flatMap((batch) => batch.events)
    expect(events.flatMap((event) => (event.type === 'problem' ? [event.code] : []))).toEqual([code])
    expect(events.some(({ type }) => type === 'ended')).toBe(false)
  })
})

describe('record_all_calls', () => {
  it.each(['account', 'application'] as const)('of the %s records a call from its answer on', async (of) => {
    const recorder = scriptedRecorder()
    const engine = createScriptedEngine(parseVerbs, { recorder })
    if (of === 'account') engine.account = { ...account, record_all_calls: true, record_format: 'wav' }
    else engine.application = { ...application, record_all_calls: true }
    engine.hooks.on('/call', [answer, rest])
    engine.ring()
    await calm(30)
    expect(recorder.begun.map(({ order }) => order.format)).toEqual([of === 'account' ? 'wav' : 'mp3'])
    const [record] = engine.store.batches.flatMap(({ events }) =>
      events.flatMap((event) => (event.type === 'recording-started' ? [event.recording_url] : [])),
    )
    expect(record).toMatch(/^\/Accounts\/[\w-]+\/RecentCalls\/[\w-]+\/record\/2023\/11\/14\/(mp3|wav)$/)
  })
})
