// The recorder without its thread: the files on the disk after each tick.
import { closeSync, fstatSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRecordingRing, maskRing, RecordingRing } from '../media/recording/recording-ring.ts'
import type { Ring } from '../lib/audio/audio-ring.ts'
import { RecorderHost, type FromRecorder } from './recorder-host.ts'

let scratch: string
let path: string
let posted: FromRecorder[]
let host: RecorderHost
let shared: Ring
let ring: RecordingRing

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'switchhook-recorder-'))
  path = join(scratch, 'a.wav')
  posted = []
  host = new RecorderHost((message) => posted.push(message), 1_000_000)
  shared = createRecordingRing(200)
  const { memory } = shared
  ring = new RecordingRing(memory)
  host.take({ kind: 'begin', id: 'a', path, memory, maxBytes: 1_000_000, goesOn: false })
})
afterEach(() => rmSync(scratch, { recursive: true }))

const say = (frames: number): void => {
  for (let frame = 0; frame < frames; frame += 1) {
    ring.putSamples('in', new Int16Array(160).fill(1000))
    ring.putSamples('out', new Int16Array(160).fill(1000))
    ring.next()
  }
}
/** Returns the descriptor by which this process has the file open. */
function openFileOf(file: string): number {
  const { ino } = statSync(file)
  for (let open = 3; ; open += 1) {
    try {
      if (fstatSync(open).ino === ino) return open
    } catch {
      if (open > 10_000) throw new Error('the file is not open')
    }
  }
}

const samples = (): Int16Array => new Int16Array(Uint8Array.from(readFileSync(path).subarray(44)).buffer)

describe('a recording', () => {
  it('is exactly silent from the frame on at which it is masked to that at which it is not', () => {
    say(30)
    maskRing(shared, true)
    say(13)
    maskRing(shared, false)
    say(7)
    host.take({ kind: 'end', id: 'a' })
    const kept = samples()
    expect(kept.length).toBe(50 * 320)
    const loud = (from: number, to: number) =>
      kept.subarray(from * 320, to * 320).every((one) => one === 1000)
    expect([loud(0, 30), loud(43, 50)]).toEqual([true, true])
    expect(kept.subarray(30 * 320, 43 * 320).every((one) => one === 0)).toBe(true)
    expect(posted).toEqual([{ kind: 'ended', id: 'a', bytes: 50 * 640, durationMs: 1000, reason: undefined }])
  })

  it('conceals no lost packet by what was said while it was masked', () => {
    say(10)
    maskRing(shared, true)
    say(10)
    maskRing(shared, false)
    ring.next()
    ring.next()
    say(5)
    // One loss begins while it is masked.
    maskRing(shared, true)
    say(10)
    ring.next()
    maskRing(shared, false)
    ring.next()
    say(5)
    host.take({ kind: 'end', id: 'a' })
    const frames = Array.from({ length: 44 }, (_, at) => samples().subarray(at * 320, (at + 1) * 320))
    const silent = frames.flatMap((frame, at) => (frame.every((one) => one === 0) ? [at] : []))
    const between = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at)
    expect(silent).toEqual([...between(10, 22), ...between(27, 39)])
  })

  it('that is paused is touched, so that other processes do not treat it as dead', () => {
    const old = new Date(Date.now() - 60_000)
    utimesSync(path, old, old)
    for (let ticks = 0; ticks < 100; ticks += 1) host.tick()
    expect(Date.now() - statSync(path).mtimeMs).toBeLessThan(30_000)
    host.take({ kind: 'end', id: 'a' })
  })

  it('whose file cannot be closed ends with a reason, and no other recording with it', () => {
    say(50)
    host.tick()
    closeSync(openFileOf(path))
    host.take({ kind: 'end', id: 'a' })
    expect(posted).toMatchObject([{ kind: 'ended', id: 'a', reason: 'the disk failed (EBADF)' }])
  })

  it('whose first thread died before it had made the file is begun by the next one', () => {
    const { memory } = createRecordingRing(200)
    ring = new RecordingRing(memory)
    path = join(scratch, 'b.wav')
    host.take({ kind: 'begin', id: 'b', path, memory, maxBytes: 1_000_000, goesOn: true })
    say(10)
    host.take({ kind: 'end', id: 'b' })
    expect(posted).toEqual([{ kind: 'ended', id: 'b', bytes: 6400, durationMs: 200, reason: undefined }])
    expect(readFileSync(path).toString('latin1', 0, 4)).toBe('RIFF')
  })
})
