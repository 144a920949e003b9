// The recorder from outside its thread, with the test in place of the thread.
import { EventEmitter } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createRecorderThread, stopLimitMs } from './recorder-thread.ts'
import type { FromRecorder, ToRecorder } from './recorder-host.ts'

class ScriptedWorker extends EventEmitter {
  readonly posted: ToRecorder[] = []
  readonly room: number
  isTerminated = false

  constructor(room: number) {
    super()
    this.room = room
  }

  postMessage(message: ToRecorder): void {
    this.posted.push(message)
  }

  async terminate(): Promise<number> {
    this.isTerminated = true
    this.emit('exit', 1)
    return 1
  }

  says(message: FromRecorder): void {
    this.emit('message', message)
  }

  ends(id: string, bytes = 1000, reason?: string): void {
    this.says({ kind: 'ended', id, bytes, durationMs: bytes / 32, reason })
  }

  dies(): void {
    this.emit('error', new Error('a bug'))
    this.emit('exit', 1)
  }

  get kinds(): string[] {
    return this.posted.map(({ kind }) => kind)
  }
}

function stage() {
  const clock = createFakeClock()
  const workers: ScriptedWorker[] = []
  /** What the system says in place of a thread. */
  const system: { error?: Error | undefined } = {}
  const createWorker = (room: number): Worker => {
    if (system.error !== undefined) throw system.error
    const worker = new ScriptedWorker(room)
    workers.push(worker)
    return worker as unknown as Worker
  }
  const thread = createRecorderThread({ clock, log: silentLogger, room: 10_000, createWorker })
  /** The events that the call gets of its recording. */
  const heard: string[] = []
  const begin = (id = 'a') =>
    thread.begin(
      id,
      { path: `/spool/${id}.wav`, maxBytes: 5000 },
      {
        ended: (reason) => heard.push(`${id} ended: ${reason}`),
        gap: (ms) => heard.push(`${id} gap: ${ms}`),
      },
    )
  return { clock, system, workers, thread, heard, begin, last: () => workers.at(-1)! }
}

describe('a recording', () => {
  it('begins in a thread that is started with the first one, and none is without', () => {
    const { workers, begin, thread } = stage()
    thread.give(10)
    expect(workers).toEqual([])
    begin('a')
    begin('b')
    expect(workers).toHaveLength(1)
    expect(workers[0]?.posted).toMatchObject([
      { kind: 'begin', id: 'a', path: '/spool/a.wav', maxBytes: 5000, goesOn: false },
      { kind: 'begin', id: 'b' },
    ])
    expect([workers[0]?.room, thread.size]).toEqual([10_010, 2])
  })

  it('ends once, however often that is requested, and its call gets no report of an end that it requested', async () => {
    const { thread, heard, begin, last } = stage()
    const taken = begin()
    const ends = [taken.end(), taken.end()]
    expect(last().kinds).toEqual(['begin', 'end'])
    last().ends('a', 640)
    expect(await Promise.all(ends)).toEqual([
      { bytes: 640, durationMs: 20 },
      { bytes: 640, durationMs: 20 },
    ])
    expect([heard, thread.size]).toEqual([[], 0])
    await taken.end()
    taken.mask(true)
    expect(last().kinds).toEqual(['begin', 'end'])
  })

  it('that the thread ends by itself is reported once, with the reason or without', async () => {
    const { heard, begin, last } = stage()
    const [a] = [begin('a'), begin('b')]
    last().ends('a', 0, 'the disk is full')
    last().ends('a', 0, 'the disk is full')
    last().ends('b', 0)
    expect(heard).toEqual(['a ended: the disk is full', 'b ended: the recorder failed'])
    expect(await a.end()).toEqual({ bytes: 0, durationMs: 0, reason: 'the disk is full' })
  })

  it('that falls behind says for how long', () => {
    const { heard, begin, last } = stage()
    begin()
    last().says({ kind: 'gap', id: 'a', frames: 15 })
    last().says({ kind: 'gap', id: 'gone', frames: 15 })
    expect(heard).toEqual(['a gap: 300'])
  })

  it('that is cut ends with that reason, and one that is over is not cut', () => {
    const { thread, begin, last } = stage()
    begin()
    thread.cut('a', 'it has outgrown its share')
    last().ends('a')
    thread.cut('a', 'again')
    expect(last().posted.slice(1)).toEqual([{ kind: 'end', id: 'a', reason: 'it has outgrown its share' }])
  })
})

describe('a system that has no thread left', () => {
  it('refuses a recording, of which nothing is left', () => {
    const { system, thread, begin } = stage()
    system.error = new Error('ERR_WORKER_INIT_FAILED: EAGAIN')
    expect(() => begin('a')).toThrow('EAGAIN')
    expect(thread.size).toBe(0)
  })

  it('ends the recordings of a thread that dies, and nothing else', async () => {
    const { system, thread, heard, begin, last } = stage()
    const taken = begin('a')
    begin('b')
    system.error = new Error('ERR_WORKER_INIT_FAILED: EAGAIN')
    last().dies()
    expect(heard).toEqual(['a ended: the recorder failed', 'b ended: the recorder failed'])
    expect(await taken.end()).toEqual({ bytes: 0, durationMs: 0, reason: 'the recorder failed' })
    system.error = undefined
    begin('c')
    expect([thread.size, last().kinds]).toEqual([1, ['begin']])
  })
})

describe('a thread that dies', () => {
  it('is followed by another, which goes on with the same files and rings', () => {
    const { workers, heard, begin, last } = stage()
    begin('a')
    begin('b')
    const before = workers[0]?.posted[0]
    last().dies()
    expect(workers).toHaveLength(2)
    expect(last().posted).toMatchObject([
      { kind: 'begin', id: 'a', goesOn: true },
      { kind: 'begin', id: 'b', goesOn: true },
    ])
    expect(last().posted[0]).toHaveProperty('memory', before && 'memory' in before && before.memory)
    expect(heard).toEqual(['a gap: 600', 'b gap: 600'])
  })

  it('may write what is left of the room, and what was given since', () => {
    const { workers, thread, begin, last } = stage()
    begin('a')
    begin('b')
    last().ends('a', 4000)
    thread.give(500)
    expect(last().posted.at(-1)).toEqual({ kind: 'room', bytes: 500 })
    last().dies()
    expect(workers[1]?.room).toBe(6500)
  })

  it('while a recording ends ends it in the other one, and its call hears of no failure', async () => {
    const { heard, begin, last } = stage()
    const taken = begin()
    const end = taken.end()
    last().dies()
    expect(last().kinds).toEqual(['begin', 'end'])
    last().ends('a', 320)
    expect(await end).toMatchObject({ bytes: 320 })
    expect(heard).toEqual(['a gap: 600'])
  })

  it('without a recording is followed by none until there is one', () => {
    const { workers, begin, last } = stage()
    begin()
    last().ends('a')
    last().dies()
    expect(workers).toHaveLength(1)
    begin('b')
    expect(workers).toHaveLength(2)
  })

  it('five times within a minute ends what it records; the next recording has another thread', async () => {
    const { workers, heard, begin, last, thread } = stage()
    const taken = begin()
    for (let death = 0; death < 5; death += 1) last().dies()
    expect(heard.at(-1)).toBe('a ended: the recorder failed')
    expect(await taken.end()).toMatchObject({ reason: 'the recorder failed' })
    expect([workers.length, thread.size]).toEqual([5, 0])
    begin('b')
    expect(workers).toHaveLength(6)
  })

  it('five times over a longer time ends nothing', () => {
    const { clock, heard, begin, last } = stage()
    begin()
    for (let death = 0; death < 5; death += 1) {
      last().dies()
      clock.advance(20_000)
    }
    expect(heard).toEqual(Array(5).fill('a gap: 600'))
  })

  it('late, after another one has begun, changes nothing', () => {
    const { workers, heard, begin, last } = stage()
    begin()
    last().dies()
    workers[0]?.emit('exit', 1)
    expect([workers.length, heard.length]).toEqual([2, 1])
  })
})

describe('the end of the platform', () => {
  it('ends what is recorded, waits for it, and starts no thread for the one that it ends', async () => {
    const { workers, heard, thread, begin, last } = stage()
    begin('a')
    const b = begin('b').end()
    let hasStopped = false
    const stopped = thread.stop().then(() => (hasStopped = true))
    expect(last().kinds).toEqual(['begin', 'begin', 'end', 'end'])
    last().ends('a')
    await Promise.resolve()
    expect(hasStopped).toBe(false)
    last().ends('b')
    await Promise.all([stopped, b])
    expect([workers.length, workers[0]?.isTerminated, heard]).toEqual([1, true, []])
  })

  it('does not wait for a thread that a stalled disk holds', async () => {
    const { clock, workers, thread, begin } = stage()
    const end = begin('a').end()
    const worker = workers[0]!
    // A system call that does not return cannot be interrupted.
    worker.terminate = () => new Promise(() => undefined)
    const stopped = thread.stop()
    clock.advance(stopLimitMs)
    await stopped
    expect(await end).toEqual({ bytes: 0, durationMs: 0, reason: 'the disk did not respond' })
    expect(clock.pending).toBe(0)
  })

  it('without a recording is immediate', async () => {
    const { workers, thread } = stage()
    await thread.stop()
    expect(workers).toEqual([])
  })
})
