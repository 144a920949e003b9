// A voice through the memory that two workers share, with the ticks of both in virtual time, one of them late.
import { describe, expect, it } from 'vitest'
import { clicks, laws, sine } from '../../../test/support/virtual-legs.ts'
import { AudioRing, createRing as newRing, type Ring } from '../../lib/audio/audio-ring.ts'
import type { Clips } from '../clips/clips.ts'
import { createCoders } from '../codecs/coders.ts'
import { SampleFrame } from '../frames/frame.ts'
import { Graph } from './graph.ts'
import { RingVoice } from './ring-voice.ts'

const createRing = (): Ring => newRing({ samples: 160 })

function frameOf(index: number, hz = 400): Int16Array {
  const sound = sine(hz)
  return Int16Array.from({ length: 160 }, (_, at) => Math.round(sound((index * 160 + at) / 8000) * 32_767))
}

/** Writes and reads in turn; `writes` returns the number of frames to write before the read of a tick. */
function through(ticks: number, writes: (tick: number) => number): { heard: Float64Array; frames: number } {
  const ring = createRing()
  const [writer, voice] = [new AudioRing(ring.memory), new RingVoice(ring)]
  const heard = new Float64Array(ticks * 160)
  let written = 0
  let frames = 0
  for (let tick = 0; tick < ticks; tick += 1) {
    for (let count = writes(tick); count > 0; count -= 1) {
      writer.write(frameOf(written))
      written += 1
    }
    const samples = voice.voice(tick)?.samples()
    if (samples === undefined) continue
    frames += 1
    heard.set(
      Float64Array.from(samples, (sample) => sample / 32_768),
      tick * 160,
    )
  }
  return { heard, frames }
}

const clicksOf = (heard: Float64Array, from: number): number[] =>
  clicks({ sampleRate: 8000, samples: heard.subarray(from * 160) }, 400, { tolerance: 0.3 })

describe('a voice of another worker', () => {
  it('is heard a frame later, whole', () => {
    const { heard, frames } = through(200, () => 1)
    expect(frames).toBe(199)
    expect(clicksOf(heard, 1)).toEqual([])
  })

  it('is the same frame for all readers in one tick', () => {
    const ring = createRing()
    const [writer, voice] = [new AudioRing(ring.memory), new RingVoice(ring)]
    for (let index = 0; index < 4; index += 1) writer.write(frameOf(index, 410))
    const first = voice.voice(1)?.samples().slice()
    expect(voice.voice(1)?.samples()).toEqual(first)
    expect(voice.voice(2)?.samples()).not.toEqual(first)
  })

  it.each([
    ['late by one tick now and then', (tick: number) => (tick % 40 === 20 ? 0 : tick % 40 === 21 ? 2 : 1)],
    ['late by two ticks now and then', (tick: number) => (tick % 50 < 2 ? 0 : tick % 50 === 2 ? 3 : 1)],
  ])('is heard without a click when its worker is %s', (_what, writes) => {
    const { heard, frames } = through(500, writes)
    expect(frames).toBeGreaterThan(490)
    expect(clicksOf(heard, 4)).toEqual([])
  })

  it('does not stay late after this worker stood still', () => {
    const { heard } = through(200, (tick) => (tick === 50 ? 13 : 1))
    // Frames that were too old are left out, with one joint.
    expect(clicksOf(heard.subarray(0, 199 * 160), 4).length).toBeLessThanOrEqual(1)
    const ring = createRing()
    const [writer, voice] = [new AudioRing(ring.memory), new RingVoice(ring)]
    for (let index = 0; index < 12; index += 1) writer.write(frameOf(index))
    voice.voice(1)
    expect(writer.length).toBe(1)
  })

  it('fades when the other worker has stopped, and is nothing then', () => {
    const { heard, frames } = through(200, (tick) => (tick < 100 ? 1 : 0))
    expect(frames).toBeLessThan(105)
    expect(heard.subarray(110 * 160).every((sample) => sample === 0)).toBe(true)
    expect(clicksOf(heard, 4)).toEqual([])
  })

  it('is nothing while it is silent there', () => {
    const ring = createRing()
    const [writer, voice] = [new AudioRing(ring.memory), new RingVoice(ring)]
    for (let tick = 0; tick < 50; tick += 1) {
      writer.write(undefined)
      expect(voice.voice(tick)).toBeUndefined()
    }
  })
})

describe('a mirror', () => {
  const graphWith = (): Graph => new Graph({ clips: {} as Clips, laws, coders: createCoders(laws) })

  it('speaks in a room of this worker, and gets back what it hears of it', () => {
    const graph = graphWith()
    const [voice, ear] = [createRing(), createRing()]
    const said = new Int16Array(160).fill(3000)
    graph.mirror('far', { voice, speaksIn: { room: 'r' }, listens: { room: 'r', ring: ear } })
    graph.mirror('other', { speaksIn: { room: 'r' }, voice: createRing() })
    const [mouth, heard] = [new AudioRing(voice.memory), new AudioRing(ear.memory)]
    const into = new Int16Array(160)
    for (let tick = 1; tick <= 5; tick += 1) {
      mouth.write(said)
      graph.tick(tick, tick * 20)
      // It hears all others, and there are none.
      expect(heard.read(into)).toBe('silence')
    }
    expect(graph.roomFrame('r', 'listener', 5, 100)?.samples()[0]).toBe(3000)
    expect(graph.speaker('far')?.voice(5, 100)?.samples()[0]).toBe(3000)
  })

  it('hears those who are here', () => {
    const graph = graphWith()
    const ear = createRing()
    graph.add({
      id: 'here',
      voice: () => new SampleFrame(new Int16Array(160).fill(2000)),
      isRegular: () => false,
      handOver: () => undefined,
      takeOver: () => undefined,
      ears: undefined,
      pass: () => undefined,
      heardBy: () => undefined,
    })
    graph.mirror('far', { voice: createRing(), listens: { room: 'r', ring: ear } })
    const here = graph.speaker('here')
    if (here === undefined) throw new Error('it was added')
    graph.mirror('seat', { voice: createRing(), speaksIn: { room: 'r' } })
    graph.rewire(here as never, { hears: [] }, { hears: [], speaksIn: { room: 'r' } })
    graph.tick(1, 20)
    const into = new Int16Array(160)
    expect(new AudioRing(ear.memory).read(into)).toBe('sound')
    expect(into[0]).toBe(2000)
  })

  it('goes on undisturbed when something else about it changes, and ends when it is not needed', () => {
    const graph = graphWith()
    const voice = createRing()
    const mouth = new AudioRing(voice.memory)
    graph.mirror('far', { voice })
    for (let index = 0; index < 3; index += 1) mouth.write(frameOf(index, 410))
    expect(graph.speaker('far')?.voice(1, 20)?.samples()[10]).toBe(frameOf(0, 410)[10])
    // A second message has memory of the same id in another object.
    graph.mirror('far', { voice: { ...voice }, speaksIn: { room: 'r' } })
    expect(graph.speaker('far')?.voice(2, 40)?.samples()[10]).toBe(frameOf(1, 410)[10])
    graph.mirror('far', undefined)
    expect(graph.speaker('far')).toBeUndefined()
    expect(graph.roomFrame('r', 'listener', 3, 60)).toBeUndefined()
  })
})
