// Sound that plays together with speech: tracks, and the volume of everything.
import { describe, expect, it } from 'vitest'
import type { AskedCommands } from '../calls/script/command.ts'
import type { Layer } from '../media/wiring.ts'
import { account, phone } from '../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../test/support/scripted-engine/scripted-engine.ts'
import { settle } from '../../test/support/scripted-engine/turns.ts'
import type { ScriptedSession } from '../../test/support/scripted-engine/scripted-media.ts'
import { parseVerbs } from './index.ts'

const answer = { verb: 'answer' }
const rain = { verb: 'dub', action: 'addTrack', track: 'rain', play: '/rain.wav' }

interface Running {
  readonly engine: ScriptedEngine
  readonly session: (n?: number) => ScriptedSession
  /** The tracks that a session hears. */
  readonly tracks: (n?: number) => readonly Layer[]
  readonly problems: () => unknown[]
  readonly command: (asked: AskedCommands, direction?: 'inbound' | 'outbound') => Promise<void>
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) await settle()
}

async function run(...verbs: object[]): Promise<Running> {
  const engine = createScriptedEngine(parseVerbs)
  engine.phones.set('alice@example.com', [phone])
  engine.hooks.on('/call', [...verbs, { verb: 'pause', length: 600 }])
  engine.ring()
  await turns()
  const session = (n = 0): ScriptedSession => {
    const found = engine.media.sessions[n]
    if (found === undefined) throw new Error(`there is no session ${n}`)
    return found
  }
  return {
    engine,
    session,
    tracks: (n) => session(n).wiring.hears.filter(({ id }) => id.startsWith('track:')),
    problems: () =>
      engine.store.batches.flatMap(({ events }) =>
        events.flatMap((event) => (event.type === 'problem' ? [event.sentence] : [])),
      ),
    async command(asked, direction = 'inbound') {
      const live = engine.calls.list(account.account_sid).find((call) => call.direction === direction)
      await engine.calls.command(account.account_sid, live?.call_sid ?? '', asked)
      await turns()
    },
  }
}

/** Starts a call whose caller talks with the called side. */
async function talking(options: object = {}, ...before: object[]): Promise<Running> {
  const dial = { verb: 'dial', target: [{ type: 'user', name: 'alice' }], ...options }
  const running = await run(...before, dial)
  running.engine.sent[0]?.answer()
  await turns()
  return running
}

describe('dub', () => {
  it('answers, and lays a file beside what is said, which goes on', async () => {
    const { tracks, session, engine } = await run(
      { ...rain, loop: true, gain: '-10 dB' },
      {
        verb: 'play',
        url: '/words.wav',
      },
    )
    expect(tracks()).toMatchObject([
      { from: { kind: 'clip', path: '/clips/1000', rounds: Infinity }, gainDb: -10, gainUnderPlayDb: -10 },
    ])
    expect(session().played).toEqual(['/clips/1000'])
    expect(engine.lent.size).toBe(2)
  })

  it('ends when the file has been played, and gives it back', async () => {
    const { tracks, session, engine } = await run(rain)
    const id = tracks()[0]?.id ?? ''
    session().emit({ type: 'layer-ended', layer: id, reason: 'completed' })
    await turns()
    expect(tracks()).toEqual([])
    expect(engine.lent.size).toBe(0)
  })

  it('plays something else on a track, in place of what it had', async () => {
    const { tracks, engine } = await run(rain, {
      ...rain,
      action: 'playOnTrack',
      play: '/sea.wav',
      loop: true,
    })
    expect(tracks()).toHaveLength(1)
    expect(tracks()[0]?.from).toMatchObject({ rounds: Infinity })
    expect(engine.lent.size).toBe(1)
  })

  it('says several texts one after the other, again and again', async () => {
    const say = { text: ['one', 'three'] }
    const engine = createScriptedEngine(parseVerbs)
    engine.speak = (text) => text.length
    engine.hooks.on('/call', [
      { verb: 'dub', action: 'addTrack', track: 't' },
      { verb: 'dub', action: 'sayOnTrack', track: 't', say, loop: true },
      { verb: 'pause', length: 60 },
    ])
    engine.ring()
    await turns()
    const heard: unknown[] = []
    for (let count = 0; count < 4; count += 1) {
      const [layer] = engine.media.sessions[0]?.wiring.hears ?? []
      heard.push(layer?.from.kind === 'clip' ? layer.from.path : undefined)
      engine.clock.advance(200)
      engine.media.sessions[0]?.emit({ type: 'layer-ended', layer: layer?.id ?? '', reason: 'completed' })
      await turns()
    }
    expect(heard).toEqual(['/clips/3', '/clips/5', '/clips/3', '/clips/5'])
    expect(engine.lent.size).toBe(2)
  })

  it('silences a track, which can be played on again, and removes it, which cannot', async () => {
    const { tracks, engine, problems } = await run(
      { ...rain, loop: true },
      { verb: 'dub', action: 'silenceTrack', track: 'rain' },
      { verb: 'dub', action: 'addTrack', track: 'sea' },
      { verb: 'dub', action: 'playOnTrack', track: 'rain', play: '/again.wav' },
      { verb: 'dub', action: 'removeTrack', track: 'rain' },
      { verb: 'dub', action: 'playOnTrack', track: 'rain', play: '/never.wav' },
    )
    expect(tracks()).toEqual([])
    expect(engine.lent.size).toBe(0)
    expect(problems()).toEqual(['dub: there is no track "rain"'])
  })

  it('has eight tracks at most', async () => {
    const { problems } = await run(
      ...Array.from({ length: 9 }, (_, n) => ({ verb: 'dub', action: 'addTrack', track: `t${n}` })),
    )
    expect(problems()).toEqual(['dub: a call has 8 tracks at most'])
  })

  it('says in the journal which sound is missing, and the call goes on', async () => {
    const { problems } = await run(
      answer,
      { verb: 'dub', action: 'addTrack', track: 'a' },
      {
        verb: 'dub',
        action: 'sayOnTrack',
        track: 'a',
      },
    )
    expect(problems()).toEqual(['dub: sayOnTrack needs "say"'])
  })

  it('gives everything back when the call ends', async () => {
    const { engine } = await run({ ...rain, loop: true })
    await engine.calls.hangUpAll('the test is over')
    expect(engine.lent.size).toBe(0)
  })

  it.each([{ gain: 'loud' }, { gain: 99 }, { action: 'play' }, { track: '' }, { track: undefined }])(
    'refuses %j',
    (options) => {
      expect(() => parseVerbs([{ ...rain, ...options }])).toThrow('verb 1 (dub)')
    },
  )
})

describe('a bridged call', () => {
  it('keeps the track of the caller beside the other side', async () => {
    const { session, tracks } = await talking({}, { ...rain, loop: true })
    expect(session(0).hears).toBe(session(1).id)
    expect(tracks(0)).toHaveLength(1)
    expect(tracks(1)).toEqual([])
  })

  it('lets the called side hear the tracks of the dial, and everything louder', async () => {
    const { verb: _, ...track } = rain
    const { session, tracks } = await talking({ dub: [track], boostAudioSignal: '+6 dB' })
    expect([tracks(0).length, tracks(1).length]).toEqual([0, 1])
    expect([session(0).wiring.hearsGainDb, session(1).wiring.hearsGainDb]).toEqual([undefined, 6])
    expect([session(0).hears, session(1).hears]).toEqual([session(1).id, session(0).id])
  })

  it('refuses a dial whose dub makes no sense', () => {
    const dial = {
      verb: 'dial',
      target: [{ type: 'user', name: 'alice' }],
      dub: [{ action: 'shout', track: 'a' }],
    }
    expect(() => parseVerbs([dial])).toThrow('verb 1 (dial): "dub.0.action"')
  })

  it.each(['inbound', 'outbound'] as const)('takes the commands for its %s side', async (direction) => {
    const { session, tracks, command } = await talking()
    const side = direction === 'inbound' ? 0 : 1
    await command({ dub: { action: 'addTrack', track: 'a', play: '/a.wav' } }, direction)
    await command({ boostAudioSignal: -6 }, direction)
    expect(tracks(side)).toHaveLength(1)
    expect(tracks(1 - side)).toEqual([])
    expect([session(side).wiring.hearsGainDb, session(1 - side).wiring.hearsGainDb]).toEqual([-6, undefined])
    await command({ dub: { action: 'removeTrack', track: 'a' } }, direction)
    expect(tracks(side)).toEqual([])
  })
})

describe('commands', () => {
  it('name what is wrong with a track', async () => {
    const { command } = await run(answer)
    await expect(command({ dub: { action: 'shout', track: 'a' } })).rejects.toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining('dub: verb 1 (dub): "action" must be') as unknown,
    })
  })

  it.each([{ dub: { action: 'addTrack', track: 'a' } }, { boostAudioSignal: 3 }] as const)(
    'are refused before the answer: %j',
    async (asked) => {
      const { command } = await run({ verb: 'pause', length: 60 })
      await expect(command(asked)).rejects.toMatchObject({ code: 'call_state' })
    },
  )
})
