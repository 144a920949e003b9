// The recording of one leg in each of its states, also when recorder, call and commands act at the same time.
import { describe, expect, it } from 'vitest'
import { account, application } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { scriptedRecorder } from '../../../test/support/scripted-engine/scripted-recorder.ts'
import type { Recorder } from '../../contracts/recording.ts'
import { AppError } from '../../lib/errors.ts'
import { parseVerbs } from '../../verbs/index.ts'

type Action = 'start' | 'stop' | 'pause' | 'resume'
const answer = { verb: 'answer' }
const rest = { verb: 'pause', length: 600 }
const record = (action: Action) => ({ action: `${action}CallRecording`, type: 'cloud' })
const cloud = (action: Action) => ({ verb: 'config', record: record(action) })

/** A call with a recorder. A test can delay the beginning of a recording, or make it fail. */
async function called(
  verbs: readonly object[],
  change: {
    begin?: () => Promise<void>
    prepare?: (engine: ScriptedEngine) => void
  } = {},
) {
  const scripted = scriptedRecorder()
  const recorder: Recorder = {
    async begin(order, listener) {
      await change.begin?.()
      return await scripted.begin(order, listener)
    },
  }
  const engine = createScriptedEngine(parseVerbs, { recorder })
  engine.hooks.on('/call', [...verbs, rest])
  change.prepare?.(engine)
  const invite = engine.ring()
  await calm(12)
  const call_sid = engine.store.batches[0]?.call_sid ?? ''
  const changes = () => engine.store.batches.flatMap(({ recordings = [] }) => recordings)
  return {
    engine,
    invite,
    begun: scripted.begun,
    changes,
    taps: () => engine.media.sessions[0]?.wiring.taps,
    story: () =>
      engine.store.journalOf(call_sid).flatMap((event) => {
        if (event.type === 'problem') return [`problem ${event.code}`]
        return event.type.startsWith('recording-') ? [event.type.slice('recording-'.length)] : []
      }),
    command: async (...actions: Action[]) => {
      for (const action of actions) {
        await engine.calls.command(account.account_sid, call_sid, { record: record(action) })
        await calm()
      }
    },
  }
}

describe('the command record', () => {
  it('starts, pauses, resumes, stops and starts again, into one file', async () => {
    const call = await called([answer])
    await call.command('start', 'pause', 'resume', 'stop', 'start')
    expect(call.story()).toEqual(['started', 'paused', 'resumed', 'stopped', 'resumed'])
    expect(call.begun).toHaveLength(1)
    expect(call.taps()).toHaveLength(1)
  })

  it.each(['pause', 'resume', 'stop'] as const)('to %s what is not recorded is refused', async (action) => {
    const call = await called([answer])
    await expect(call.command(action)).rejects.toMatchObject({ code: 'call_state' })
    expect(call.story()).toEqual([])
  })

  it('does not record before the call is answered, and is refused then', async () => {
    const call = await called([])
    await expect(call.command('start')).rejects.toMatchObject({ code: 'call_state' })
    expect(call.begun).toEqual([])
  })

  it('that says what is so already changes nothing', async () => {
    const call = await called([answer])
    await call.command('start', 'start', 'pause', 'pause', 'resume', 'resume', 'stop')
    expect(call.begun[0]?.masks).toEqual([true, false])
    expect(call.story()).toEqual(['started', 'paused', 'resumed', 'stopped'])
  })

  it('to start what was stopped while it was paused records what is said from then on', async () => {
    const call = await called([answer])
    await call.command('start', 'pause', 'stop', 'start')
    expect(call.begun[0]?.masks.at(-1)).toBe(false)
    expect(call.story()).toEqual(['started', 'paused', 'stopped', 'resumed'])
    await call.command('pause')
    expect(call.begun[0]?.masks.at(-1)).toBe(true)
  })
})

describe('a recording that is asked for before the answer', () => {
  it('and paused then begins in silence', async () => {
    const call = await called([cloud('start'), cloud('pause'), answer])
    expect(call.begun[0]?.masks).toEqual([true])
    expect(call.taps()).toHaveLength(1)
  })

  it('and stopped then is not begun', async () => {
    const call = await called([cloud('start'), cloud('stop'), answer])
    expect([call.begun, call.story()]).toEqual([[], []])
  })
})

describe('while the recorder begins', () => {
  async function beginning() {
    const { promise, resolve } = Promise.withResolvers<void>()
    const call = await called([cloud('start'), answer], { begin: () => promise })
    return {
      ...call,
      async begins() {
        resolve()
        await calm()
      },
    }
  }

  it('a stop leaves nothing tapped, and a later start goes on in the same file', async () => {
    const call = await beginning()
    await call.command('stop')
    await call.begins()
    expect([call.taps(), call.begun.length]).toEqual([undefined, 1])
    await call.command('start')
    expect([call.taps()?.length, call.begun.length]).toEqual([1, 1])
  })

  it('a stop and a start leave it recorded once', async () => {
    const call = await beginning()
    await call.command('stop', 'start')
    await call.begins()
    expect([call.taps()?.length, call.begun.length]).toEqual([1, 1])
  })

  it('a pause holds for what it begins', async () => {
    const call = await beginning()
    await call.command('pause')
    await call.begins()
    expect(call.begun[0]?.masks).toEqual([true])
  })

  it('the call ends: the recording is ended once, and its sound was never tapped', async () => {
    const call = await beginning()
    call.invite.dialog?.hangUp()
    await calm()
    await call.begins()
    expect(call.changes().map(({ change }) => change)).toEqual(['begun', 'ended'])
    expect(call.engine.media.sessions[0]?.wirings.some(({ taps }) => taps !== undefined)).toBe(false)
  })
})

describe('in the first moment after the answer, before it is known whether the call is always recorded', () => {
  const answered = async (isAlways: boolean, verbs: readonly object[] = []) => {
    const call = await called([{ verb: 'pause', length: 1 }, answer, ...verbs], {
      prepare: (engine) => void (engine.account = { ...account, record_all_calls: isAlways }),
    })
    const known = Promise.withResolvers<void>()
    call.engine.accountsKnown = known.promise
    call.engine.clock.advance(1000)
    await calm(12)
    expect(call.begun).toEqual([])
    return { call, known }
  }

  it('a pause is carried out once it is known', async () => {
    const { call, known } = await answered(true)
    const commanded = call.command('pause')
    await calm()
    known.resolve()
    await commanded
    await calm()
    expect([call.begun[0]?.masks, call.story()]).toEqual([[true], ['paused', 'started']])
  })

  it('a pause of what is not recorded is refused once it is known', async () => {
    const { call, known } = await answered(false)
    const commanded = call.command('pause')
    known.resolve()
    await Promise.allSettled([commanded])
    await calm()
    expect([call.begun, call.story()]).toEqual([[], ['problem call_state']])
  })

  const meeting = (record: object) => [
    { verb: 'conference', name: 'team', record },
    { verb: 'pause', length: 60 },
  ]
  const kick = async ({ engine }: Pick<Awaited<ReturnType<typeof called>>, 'engine'>): Promise<void> => {
    const call_sid = engine.store.batches[0]?.call_sid ?? ''
    const command = { conferenceParticipantAction: { action: 'kick' } }
    await engine.calls.command(account.account_sid, call_sid, command)
    await calm()
  }

  it('a conference that is recorded takes the recording of the call as it is, which goes on after it', async () => {
    const { call, known } = await answered(true, meeting({ path: 'weekly/' }))
    known.resolve()
    await calm(12)
    expect(call.begun.map(({ order }) => order.prefix)).toEqual([undefined])
    await kick(call)
    expect([call.taps()?.length, call.story()]).toEqual([1, ['started']])
  })

  it('a conference that is over before it is known leaves the call as it is', async () => {
    const { call, known } = await answered(false, meeting({}))
    await kick(call)
    known.resolve()
    await calm(12)
    expect([call.begun, call.story()]).toEqual([[], []])
  })

  it('a conference records a call that is not always recorded, once that is known', async () => {
    const { call, known } = await answered(false, meeting({ path: 'weekly/' }))
    known.resolve()
    await calm(12)
    expect([call.begun.map(({ order }) => order.prefix), call.taps()?.length]).toEqual([['weekly/'], 1])
    await kick(call)
    expect([call.taps(), call.story()]).toEqual([undefined, ['started', 'stopped']])
  })
})

describe('a recorder that fails', () => {
  it('at the beginning leaves the call unrecorded; another start tries again', async () => {
    let tries = 0
    const begin = async (): Promise<void> => {
      tries += 1
      if (tries === 1) throw new AppError('recording_refused', 'the disk space is used up')
    }
    const call = await called([cloud('start'), answer], { begin })
    expect(call.story()).toEqual(['problem recording_refused'])
    await expect(call.command('pause')).rejects.toMatchObject({ code: 'call_state' })
    await call.command('start')
    expect(call.story()).toEqual(['problem recording_refused', 'started'])
  })

  it('later ends the recording with its reason, once; no other is begun for the call', async () => {
    const call = await called([answer])
    await call.command('start')
    call.begun[0]?.fail('the disk is full')
    call.begun[0]?.fail('the disk is full')
    await calm()
    expect(call.taps()).toBeUndefined()
    for (const action of ['pause', 'resume', 'stop'] as const)
      await expect(call.command(action)).rejects.toMatchObject({ code: 'call_state' })
    await call.command('start')
    expect(call.story().at(-1)).toBe('problem call_state')
    call.invite.dialog?.hangUp()
    await calm()
    expect(call.begun).toHaveLength(1)
    expect(call.changes()).toMatchObject([
      { change: 'begun' },
      { change: 'ended', reason: 'the disk is full' },
    ])
  })

  it('and falls behind leaves a gap in the journal', async () => {
    const call = await called([answer])
    await call.command('start')
    call.begun[0]?.gap(600)
    await calm()
    expect(call.engine.store.batches.flatMap(({ events }) => events)).toContainEqual(
      expect.objectContaining({ type: 'recording-gap', missing_ms: 600 }),
    )
  })
})

describe('the hook that is notified of a recording', () => {
  it('is the status hook of the call, with the facts of the call', async () => {
    const call = await called([answer])
    await call.command('start')
    const [begun] = call.changes()
    expect(begun).toMatchObject({
      change: 'begun',
      notice: {
        hook: application.call_status_hook,
        payload: {
          call_status: 'completed',
          account_sid: account.account_sid,
          recording_url: expect.stringMatching(/\/record\/2023\/11\/14\/mp3$/),
        },
      },
    })
  })

  it('is none where the application has no status hook', async () => {
    const prepare = (engine: ScriptedEngine): void =>
      void (engine.application = { ...application, call_status_hook: null })
    const call = await called([answer], { prepare })
    await call.command('start')
    expect(call.changes()).toMatchObject([{ change: 'begun', notice: undefined }])
  })
})

it('a call whose account is gone is recorded as MP3', async () => {
  const call = await called([answer])
  call.engine.account = undefined
  await call.command('start')
  expect(call.begun.map(({ order }) => order.format)).toEqual(['mp3'])
})
