import { describe, expect, it } from 'vitest'
import { createRing } from '../../lib/audio/audio-ring.ts'
import type { Wiring } from '../../media/wiring.ts'
import { LegSound, type Background } from './leg-sound.ts'

interface Stated {
  readonly sound: LegSound
  readonly wirings: Wiring[]
  readonly last: () => Wiring | undefined
  readonly released: string[]
  readonly background: (name: string, more?: Partial<Background>) => Background
}

function stated(): Stated {
  const wirings: Wiring[] = []
  const released: string[] = []
  const sound = new LegSound(async (wiring) => void wirings.push(wiring))
  return {
    sound,
    wirings,
    last: () => wirings.at(-1),
    released,
    background: (name, more = {}) => ({
      clip: { path: `/clips/${name}`, release: () => void released.push(name) },
      rounds: 1,
      staysUnderPrompts: true,
      ...more,
    }),
  }
}

const far = { id: 'far', from: { kind: 'session', id: 'm2' } } as const
const other = { sessionId: 'm2' }
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const pathsOf = (wiring: Wiring | undefined): string[] =>
  (wiring?.hears ?? []).flatMap(({ from }) => (from.kind === 'clip' ? [from.path] : []))

describe('what a leg hears', () => {
  it('keeps tracks, gain and bridge apart: none overwrites another', async () => {
    const { sound, last, background } = stated()
    void sound.lay('track:a', background('rain', { rounds: Infinity, gainDb: -10 }))
    await sound.boost(6)
    await sound.hear(other)
    await sound.mute(true)
    expect(last()).toEqual({
      hears: [
        far,
        {
          id: 'track:a#1',
          from: { kind: 'clip', path: '/clips/rain', rounds: Infinity },
          gainDb: -10,
          gainUnderPlayDb: -10,
        },
      ],
      isMuted: true,
      hearsGainDb: 6,
    })
    await sound.hear(undefined)
    expect(pathsOf(last())).toEqual(['/clips/rain'])
    expect(last()).toMatchObject({ isMuted: false, hearsGainDb: 6 })
  })

  it('is not the other side while that is silenced, also when it changes meanwhile', async () => {
    const { sound, last } = stated()
    await sound.hear(other)
    await sound.silenceFar(true)
    expect(last()?.hears).toEqual([])
    await sound.hear({ sessionId: 'm3' })
    expect(last()?.hears).toEqual([])
    await sound.silenceFar(false)
    expect(last()?.hears).toEqual([{ id: 'far', from: { kind: 'session', id: 'm3' } }])
  })

  it('has what threads say beside it, and gives them what they want of it, until they part', async () => {
    const { sound, last } = stated()
    const [given, says] = [createRing({ samples: 320 }), createRing({ samples: 160 })]
    await sound.hear(other)
    await sound.join('stream', { taps: [{ of: 'stereo', ring: given }], says })
    await sound.join('recording', { taps: [{ of: 'in', ring: says }] })
    expect(last()).toEqual({
      hears: [far, { id: 'thread:stream', from: { kind: 'ring', ring: says }, gainUnderPlayDb: 0 }],
      isMuted: false,
      taps: [
        { id: 'stream:stereo', of: 'stereo', ring: given },
        { id: 'recording:in', of: 'in', ring: says },
      ],
    })
    sound.part('stream')
    sound.part('recording')
    sound.part('recording')
    await settled()
    expect(last()).toEqual({ hears: [far], isMuted: false })
  })

  it('is silent under prompts where it is to be', async () => {
    const { sound, last, background } = stated()
    void sound.lay('filler', background('typing', { staysUnderPrompts: false }))
    expect(last()?.hears[0]).not.toHaveProperty('gainUnderPlayDb')
  })

  it('is stated when media open, where something was stated before', async () => {
    const { sound, wirings } = stated()
    sound.opened()
    expect(wirings).toEqual([])
    await sound.boost(3)
    sound.opened()
    expect(wirings).toHaveLength(2)
    expect(wirings[1]).toEqual(wirings[0])
  })
})

describe('a file in a slot', () => {
  it('gives way to the next one of its slot, and is given back', async () => {
    const { sound, last, background, released } = stated()
    const first = sound.lay('hold', background('one'))
    const second = sound.lay('hold', background('two'))
    expect(pathsOf(last())).toEqual(['/clips/two'])
    expect(await first).toBe('stopped')
    expect(released).toEqual(['one'])
    sound.remove('hold')
    expect(await second).toBe('stopped')
    expect(pathsOf(last())).toEqual([])
    expect(released).toEqual(['one', 'two'])
  })

  it('leaves its slot when media have played it, and not for the end of the one before it', async () => {
    const { sound, last, background, released } = stated()
    const first = sound.lay('hold', background('one'))
    const second = sound.lay('hold', background('two'))
    await first
    sound.layerEnded('hold#1', 'stopped')
    expect(pathsOf(last())).toEqual(['/clips/two'])
    sound.layerEnded('hold#2', 'completed')
    expect(await second).toBe('completed')
    expect(pathsOf(last())).toEqual([])
    expect(released).toEqual(['one', 'two'])
  })

  it('is given back only when media have let go of it', async () => {
    const released: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    let count = 0
    const sound = new LegSound(() => (++count === 2 ? promise : Promise.resolve()))
    void sound.lay('hold', {
      clip: { path: '/x', release: () => void released.push('x') },
      rounds: 1,
      staysUnderPrompts: false,
    })
    sound.remove('hold')
    await settled()
    expect(released).toEqual([])
    resolve()
    await settled()
    expect(released).toEqual(['x'])
  })

  it('is given back when media close, and one that comes later at once', async () => {
    const { sound, wirings, background, released } = stated()
    const playing = sound.lay('hold', background('one'))
    const count = wirings.length
    sound.close()
    expect(await playing).toBe('stopped')
    expect(await sound.lay('hold', background('two'))).toBe('stopped')
    await sound.hear(other)
    expect(released).toEqual(['one', 'two'])
    expect(wirings).toHaveLength(count)
  })
})
