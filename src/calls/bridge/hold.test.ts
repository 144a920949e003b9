// One side of a bridge puts the other on hold.
import { describe, expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import { timerFields } from '../../../test/support/reason-fields.ts'
import { answered, bye, dialled, type Dialled } from '../../../test/support/scripted-engine/dialling.ts'
import { account } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { heldAnswer } from '../../../test/support/scripted-engine/scripted-hooks.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import type { ScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import type { ScriptedSession } from '../../../test/support/scripted-engine/scripted-media.ts'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'
import { parseVerbs } from '../../verbs/index.ts'

type Side = 'caller' | 'called'

const file = { verb: 'play', url: '/hold.wav' }
const music = { verb: 'config', onHoldMusic: 'http://app.test/music.wav' }

interface Talking extends Dialled {
  /** Returns what the far end of a side hears besides prompts: the other side, or files. */
  readonly hears: (side: Side) => readonly string[]
  readonly played: (side: Side) => readonly string[]
  readonly hold: (side: Side, isHeld?: boolean) => Promise<void>
  readonly facts: (side: Side, type: string) => Record<string, unknown>[]
  readonly asked: () => Record<string, unknown>[]
}

const waited = async (): Promise<void> => {
  for (let turn = 0; turn < 6; turn += 1) await settle()
}

async function talking(
  options: object = {},
  prepare?: (engine: ScriptedEngine) => void,
  before: readonly object[] = [],
): Promise<Talking> {
  const session = await dialled(parseVerbs, options, (engine) => {
    const verb = {
      verb: 'dial',
      target: [{ type: 'user', name: 'alice' }],
      actionHook: '/dialled',
      ...options,
    }
    engine.hooks.on('/call', [...before, verb, { verb: 'pause', length: 1 }])
    engine.fetch = (url) => (url.includes('music') ? 7000 : 2000)
    prepare?.(engine)
  })
  await waited()
  await answered(session.called())
  const { engine, caller, called, sidOf } = session
  const at = (side: Side): ScriptedSession => {
    const found = engine.media.sessions[side === 'caller' ? 0 : 1]
    if (found === undefined) throw new Error('there are no media')
    return found
  }
  return {
    ...session,
    hears: (side) =>
      at(side).wiring.hears.map(({ from }) =>
        'path' in from ? from.path : 'sound' in from ? from.sound : 'id' in from ? from.id : from.ring.id,
      ),
    played: (side) => at(side).played,
    async hold(side, isHeld = true) {
      at(side).isHeld = isHeld
      const dialog = side === 'caller' ? caller.dialog : called().dialog
      const headers = [
        { name: 'from', value: `<sip:${side}@example.com>;tag=1` },
        { name: 'to', value: '<sip:other@example.com>;tag=2' },
      ]
      await dialog?.listener.offered('v=0', sipRequest('INVITE', { headers }))
      await waited()
    },
    facts: (side, type) =>
      engine.store
        .journalOf(sidOf(side === 'caller' ? 'inbound' : 'outbound'))
        .filter((event) => event.type === type),
    asked: () => engine.hooks.payloadsOf('/hold'),
  }
}

const bothHear = { caller: ['m2'], called: ['m1'] }
const heard = ({ hears }: Talking) => ({ caller: hears('caller'), called: hears('called') })

describe('onHoldHook', () => {
  it.each(['caller', 'called'] as const)(
    'of a dial says what is heard while the %s holds, again and again, until the two talk again',
    async (holder) => {
      const other = holder === 'caller' ? 'called' : 'caller'
      const session = await talking({ onHoldHook: '/hold' }, ({ hooks }) => hooks.on('/hold', [file]))
      const { engine, hold, hears, played, asked, sidOf } = session
      await hold(holder)
      expect(hears(other)).toEqual([])
      expect(played(other)).toEqual(['/clips/2000'])
      expect(asked()).toMatchObject([
        {
          call_sid: sidOf(other === 'caller' ? 'inbound' : 'outbound'),
          hold_detail: { from: `<sip:${holder}@example.com>;tag=1`, to: '<sip:other@example.com>;tag=2' },
        },
      ])
      engine.clock.advance(2000)
      await waited()
      expect(played(other)).toHaveLength(2)
      await hold(holder, false)
      expect(heard(session)).toEqual(bothHear)
      engine.clock.advance(60_000)
      await waited()
      expect(asked()).toHaveLength(2)
      expect(played(holder)).toEqual([])
    },
  )

  it.each([
    ['has nothing to say', []],
    ['asks for other verbs', [{ verb: 'gather', numDigits: 1 }]],
  ])('that %s leaves it to onHoldMusic, and is not asked again', async (_, answer) => {
    const session = await talking({ onHoldHook: '/hold' }, ({ hooks }) => hooks.on('/hold', answer), [music])
    await session.hold('caller')
    expect(session.hears('called')).toEqual(['/clips/7000'])
    session.engine.clock.advance(60_000)
    await waited()
    expect(session.asked()).toHaveLength(1)
  })

  it('that fails without onHoldMusic leaves the holder to be heard', async () => {
    const session = await talking({ onHoldHook: '/hold' }, ({ hooks }) =>
      hooks.answers.set('/hold', () => Promise.reject(new AppError('hook_unreachable', 'it is dead'))),
    )
    await session.hold('caller')
    expect(heard(session)).toEqual(bothHear)
    expect(session.facts('called', 'hook-failed')).toMatchObject([{ hook: 'hold' }])
    expect(session.facts('called', 'problem')).toEqual([])
  })

  it('whose verbs end at once is asked ten times, and then once a second', async () => {
    const session = await talking({ onHoldHook: '/hold' }, (engine) => {
      engine.hooks.on('/hold', [file])
      engine.fetch = () => {
        throw new AppError('audio_not_found', 'there is no such file')
      }
    })
    await session.hold('caller')
    for (let turn = 0; turn < 20; turn += 1) await waited()
    expect(session.asked()).toHaveLength(10)
    for (let second = 0; second < 5; second += 1) {
      session.engine.clock.advance(1000)
      await waited()
    }
    expect(session.asked()).toHaveLength(15)
    expect(session.hears('called')).toEqual([])
  })

  it('that answers when the two talk again already is not heard', async () => {
    const later = heldAnswer()
    const session = await talking({ onHoldHook: '/hold' }, ({ hooks }) =>
      hooks.answers.set('/hold', later.answer),
    )
    await session.hold('caller')
    expect(heard(session)).toEqual(bothHear)
    await session.hold('caller', false)
    later.release([file])
    await waited()
    expect(session.played('called')).toEqual([])
    expect(heard(session)).toEqual(bothHear)
  })
})

describe('onHoldMusic', () => {
  it('that cannot be played is named in the journal without the token in its URL', async () => {
    const { engine, hold, facts } = await talking({}, undefined, [
      { verb: 'config', onHoldMusic: 'http://app.test/music.wav?token=secret' },
    ])
    await hold('called')
    engine.media.sessions[0]?.emit({ type: 'layer-ended', layer: 'hold#1', reason: 'failed' })
    await waited()
    expect(facts('caller', 'problem')).toMatchObject([
      { sentence: 'onHoldMusic cannot be played: http://app.test/music.wav?[redacted]' },
    ])
  })

  it('of config is heard again and again, and stops at once when the two talk again', async () => {
    const session = await talking({}, undefined, [music])
    await session.hold('called')
    expect(session.hears('caller')).toEqual(['/clips/7000'])
    expect(session.engine.media.sessions[0]?.wiring.hears[0]?.from).toMatchObject({ rounds: Infinity })
    await session.hold('called', false)
    expect(heard(session)).toEqual(bothHear)
    expect(session.engine.lent.size).toBe(0)
  })

  it('is looked for where the application was that named it', async () => {
    const urls: string[] = []
    const session = await talking(
      {},
      (engine) => {
        engine.fetch = (url) => {
          urls.push(url)
          return 1000
        }
      },
      [{ verb: 'config', onHoldMusic: '/music.wav' }],
    )
    await session.hold('caller')
    expect(urls).toEqual(['http://app.test/music.wav'])
  })

  it('that cannot be fetched, or played, is a problem of the side on hold, which hears the holder', async () => {
    const session = await talking(
      {},
      (engine) => {
        engine.fetch = () => {
          throw new AppError('audio_not_found', 'there is no such file')
        }
      },
      [music],
    )
    await session.hold('caller')
    expect(session.facts('called', 'problem')).toMatchObject([{ code: 'audio_not_found' }])
    expect(heard(session)).toEqual(bothHear)

    const broken = await talking({}, undefined, [music])
    await broken.hold('caller')
    const [layer] = broken.engine.media.sessions[1]?.wiring.hears ?? []
    broken.engine.media.sessions[1]?.emit({ type: 'layer-ended', layer: layer?.id ?? '', reason: 'failed' })
    await waited()
    expect(broken.facts('called', 'problem')).toMatchObject([{ code: 'audio_not_supported' }])
    expect(heard(broken)).toEqual(bothHear)
  })
})

describe('two who talk', () => {
  it('again while the music is fetched do not hear it, and it is given back', async () => {
    const session = await talking({}, undefined, [music])
    const { engine } = session
    engine.fetch = () => {
      // The caller resumes before the file has arrived.
      void session.hold('caller', false)
      return 7000
    }
    await session.hold('caller')
    await waited()
    expect(session.facts('called', 'resumed')).toHaveLength(1)
    expect(heard(session)).toEqual(bothHear)
    expect(engine.lent.size).toBe(0)
  })

  it('hear what the holder sends when nothing else is said', async () => {
    const session = await talking()
    await session.hold('caller')
    expect(heard(session)).toEqual(bothHear)
    expect(session.facts('called', 'held')).toHaveLength(1)
    expect(session.facts('called', 'hold-sound')).toEqual([])
  })

  it('may both hold: then neither hears a sound, and the one who resumes first does', async () => {
    const session = await talking({}, undefined, [music])
    await session.hold('caller')
    await session.hold('called')
    expect(heard(session)).toEqual(bothHear)
    await session.hold('called', false)
    expect(heard(session)).toEqual({ caller: ['m2'], called: ['/clips/7000'] })
    await session.hold('caller', false)
    expect(heard(session)).toEqual(bothHear)
  })

  it('by another way than the platform come back for the sound of hold', async () => {
    const session = await talking({ exitMediaPath: true }, undefined, [music])
    const { engine, caller, called } = session
    for (const media of engine.media.sessions)
      media.emit({ type: 'first-packet', ...media.remote, trust: 'sdp' })
    await waited()
    expect(engine.media.sessions.map(({ isPast }) => isPast)).toEqual([true, true])
    await session.hold('caller')
    expect(engine.media.sessions.map(({ isPast }) => isPast)).toEqual([false, false])
    expect([caller.dialog?.offers.length, called().dialog.offers.length]).toEqual([1, 2])
    expect(session.hears('called')).toEqual(['/clips/7000'])
  })

  it('end by the timeout of a hold, and no sound of it stays', async () => {
    const session = await talking({}, undefined, [music])
    const { engine, caller, called } = session
    await session.hold('caller')
    const limitMs = 1000
    engine.clock.advance(limitMs)
    engine.media.sessions[0]?.emit({ type: 'timeout', cause: 'held', silentMs: limitMs, limitMs })
    await waited()
    expect(caller.dialog?.sentBye).toEqual(timerFields('hold_timeout', 'Hold Timeout'))
    expect(called().dialog.sentBye).toBeDefined()
    expect([engine.lent.size, engine.clock.pending]).toEqual([0, 0])
  })

  it('may begin with one on hold', async () => {
    const later = heldAnswer()
    const session = await dialled(parseVerbs, {}, ({ hooks }) => {
      hooks.on('/call', [
        music,
        { verb: 'dial', target: [{ type: 'user', name: 'alice' }], confirmHook: '/yes' },
      ])
      hooks.answers.set('/yes', later.answer)
    })
    const { engine, caller, called, types, sidOf } = session
    await waited()
    await answered(called())
    const [a, b] = engine.media.sessions
    if (a !== undefined) a.isHeld = true
    await caller.dialog?.listener.offered('v=0', sipRequest('INVITE'))
    expect(b?.wiring.hears).toEqual([])
    later.release([])
    await waited()
    expect(b?.wiring.hears).toMatchObject([{ from: { kind: 'clip' } }])
    for (const side of ['inbound', 'outbound'] as const) expect(types(sidOf(side))).toContain('held')
  })

  it('have in both journals who held, and what was heard', async () => {
    const session = await talking({ onHoldHook: '/hold' }, ({ hooks }) => hooks.on('/hold', [file]))
    await session.hold('caller')
    await session.hold('caller', false)
    for (const side of ['caller', 'called'] as const) {
      expect(session.facts(side, 'held')).toMatchObject([
        { call_sid: session.sidOf('inbound'), party: '+4420' },
      ])
      expect(session.facts(side, 'hold-sound')).toMatchObject([
        { call_sid: session.sidOf('outbound'), source: 'onHoldHook' },
      ])
      expect(session.facts(side, 'resumed')).toMatchObject([
        { call_sid: session.sidOf('inbound'), party: '+4420' },
      ])
    }
    expect(session.facts('called', 'verb-ended')).toMatchObject([{ verb: 'play', outcome: 'stopped' }])
  })

  it('part in the moment of a hold without a sound that stays', async () => {
    const later = heldAnswer()
    const session = await talking(
      { onHoldHook: '/hold' },
      ({ hooks }) => hooks.answers.set('/hold', later.answer),
      [music],
    )
    const { engine, caller, called, results } = session
    await session.hold('caller')
    void bye(called().dialog)
    later.release([file])
    await waited()
    expect(results()).toMatchObject([{ dial_call_status: 'completed' }])
    engine.clock.advance(1000)
    await waited()
    expect(caller.dialog?.sentBye).toBeDefined()
    expect([engine.lent.size, engine.clock.pending]).toEqual([0, 0])
  })

  it('leave nothing of a hold to the verbs that follow', async () => {
    const session = await talking({}, undefined, [music])
    await session.hold('called')
    expect(session.hears('caller')).toEqual(['/clips/7000'])
    await bye(session.called().dialog)
    await waited()
    expect(session.hears('caller')).toEqual([])
    expect(session.engine.lent.size).toBe(0)
  })
})

describe('a whisper to the side on hold', () => {
  it.each([
    ['onHoldHook', { onHoldHook: '/hold' }, []],
    ['onHoldMusic', {}, [music]],
  ])('is heard in place of %s, which comes back after it', async (_, options, before) => {
    const session = await talking(options, ({ hooks }) => hooks.on('/hold', [file]), before)
    const { engine, sidOf, hears, played } = session
    await session.hold('caller')
    const playedBefore = played('called').length
    engine.speak = () => 500
    await engine.calls.command(account.account_sid, sidOf('outbound'), {
      whisper: { verb: 'say', text: 'they are back soon' },
    })
    await waited()
    expect(played('called').slice(playedBefore)).toEqual(['/clips/500'])
    engine.clock.advance(500)
    await waited()
    const isPlayed = before.length === 0
    expect(played('called').slice(playedBefore + 1)).toEqual(isPlayed ? ['/clips/2000'] : [])
    expect(hears('called')).toEqual(isPlayed ? [] : ['/clips/7000'])
    await session.hold('caller', false)
    expect(heard(session)).toEqual(bothHear)
  })
})
