import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { AudioRing, createRing } from './audio-ring.ts'

const frameOf = (value: number): Int16Array => new Int16Array(160).fill(value)

describe('a ring of frames', () => {
  it('gives frames out in their order, and silence where there was none', () => {
    const memory = AudioRing.memory(160)
    const [writer, reader] = [new AudioRing(memory), new AudioRing(memory)]
    const into = new Int16Array(160)
    expect(reader.read(into)).toBeUndefined()
    expect([writer.write(frameOf(-5)), writer.write(undefined), writer.write(frameOf(7))]).toEqual([
      true,
      true,
      true,
    ])
    expect(reader.length).toBe(3)
    expect([reader.read(into), into[0], into[159]]).toEqual(['sound', -5, -5])
    expect([reader.read(into), into[0], into[159]]).toEqual(['silence', 0, 0])
    expect([reader.read(into), into[0], into[159]]).toEqual(['sound', 7, 7])
    expect(reader.read(into)).toBeUndefined()
  })

  it('takes two channels as they are, and gives frames to where the reader wants them', () => {
    const ring = new AudioRing(AudioRing.memory(4, 3))
    const [left, right] = [Int16Array.of(1, 2), Int16Array.of(-3, -4)]
    expect(ring.writePair(left, right)).toBe(true)
    expect(ring.writePair(undefined, right)).toBe(true)
    expect(ring.writePair(left, undefined)).toBe(true)
    expect([ring.writePair(left, right), ring.lost]).toEqual([false, 1])
    const into = new Int16Array(14).fill(9)
    expect([ring.read(into, 1), ring.read(into, 5), ring.read(into, 9)]).toEqual(['sound', 'sound', 'sound'])
    expect([...into]).toEqual([9, 1, -3, 2, -4, 0, -3, 0, -4, 1, 0, 2, 0, 9])
    expect(ring.writePair(undefined, undefined)).toBe(true)
    expect([ring.read(into, 10), ...into.subarray(8)]).toEqual(['silence', -4, 1, 0, 0, 0, 0])
  })

  it('takes frames of half as many samples, of one channel or two, and says so to the reader', () => {
    const ring = new AudioRing(AudioRing.memory(4, 3))
    const into = new Int16Array(4)
    expect(ring.write(Int16Array.of(5, 6))).toBe(true)
    expect([ring.read(into), ...into.subarray(0, 2)]).toEqual(['half', 5, 6])
    expect(ring.writePair(Int16Array.of(7), Int16Array.of(8))).toBe(true)
    expect([ring.read(into), ...into.subarray(0, 2)]).toEqual(['half', 7, 8])
    expect(ring.writePair(undefined, Int16Array.of(9))).toBe(true)
    expect([ring.read(into), ...into.subarray(0, 2)]).toEqual(['half', 0, 9])
    expect(ring.writePair(Int16Array.of(1, 2), undefined)).toBe(true)
    expect([ring.read(into), ...into]).toEqual(['sound', 1, 0, 2, 0])
  })

  it('says to the writer whether the reader wants more than half', () => {
    const memory = AudioRing.memory(4, 3)
    const [writer, reader] = [new AudioRing(memory), new AudioRing(memory)]
    expect(writer.isWholeWanted).toBe(false)
    reader.wantWhole(true)
    expect(writer.isWholeWanted).toBe(true)
    reader.wantWhole(false)
    expect(writer.isWholeWanted).toBe(false)
  })

  it('takes no more than 16 frames, and goes on when some were read', () => {
    const ring = new AudioRing(AudioRing.memory(160))
    const into = new Int16Array(160)
    for (let frame = 0; frame < 16; frame += 1) expect(ring.write(frameOf(frame))).toBe(true)
    expect(ring.write(frameOf(99))).toBe(false)
    for (let round = 0; round < 100; round += 1) {
      expect(ring.read(into)).toBe('sound')
      expect(into[80]).toBe(round < 16 ? round : round - 16 + 1000)
      expect(ring.write(frameOf(round + 1000))).toBe(true)
    }
  })

  it.each([2, 16, 50, 200])('holds as many frames as its maker says: %i', (frames) => {
    const memory = createRing({ samples: 320, frames }).memory
    const [writer, reader] = [new AudioRing(memory), new AudioRing(memory)]
    const into = new Int16Array(320)
    // Several times around, at every distance between the two counters.
    for (let round = 0; round < 7; round += 1) {
      for (let frame = 0; frame < frames; frame += 1)
        expect(writer.write(new Int16Array(320).fill(round + frame))).toBe(true)
      expect([writer.write(undefined), writer.length]).toEqual([false, frames])
      for (let frame = 0; frame < frames; frame += 1)
        expect([reader.read(into), into[319]]).toEqual(['sound', round + frame])
      for (let frame = 0; frame < round; frame += 1) {
        writer.write(undefined)
        expect(reader.read(into)).toBe('silence')
      }
      expect([reader.read(into), reader.length, reader.lost]).toEqual([undefined, 0, round + 1])
    }
  })

  it.each([0, 1, 1001, 2.5])('cannot hold %d frames', (frames) => {
    expect(() => createRing({ samples: 160, frames })).toThrow(RangeError)
  })

  it('joins two threads: what one writes the other reads, each frame whole and once', async () => {
    const frames = 5000
    const memory = AudioRing.memory(160)
    const module = new URL('./audio-ring.ts', import.meta.url).href
    const source = `
      const { workerData } = require('node:worker_threads')
      import(workerData.module).then(({ AudioRing }) => {
        const ring = new AudioRing(workerData.memory)
        for (let frame = 0; frame < workerData.frames;)
          if (ring.write(new Int16Array(160).fill(frame))) frame += 1
      })`
    const worker = new Worker(source, { eval: true, workerData: { module, memory, frames } })
    const ended = new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject))
    const ring = new AudioRing(memory)
    const into = new Int16Array(160)
    for (let frame = 0; frame < frames;) {
      if (ring.read(into) === undefined) {
        await new Promise((resolve) => setImmediate(resolve))
        continue
      }
      if (into.some((sample) => sample !== frame))
        throw new Error(`frame ${frame} holds ${into[0]} and ${into[159]}`)
      frame += 1
    }
    await ended
    expect(ring.length).toBe(0)
  })
})
