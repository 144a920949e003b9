// Reading the frames of a long clip from its file: which of them are available to a listener, and when.
import { open, mkdtemp, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../test/support/wait.ts'
import { FrameReader } from './frame-reader.ts'

const frames = 600
const frameBytes = 640
const form = { frameBytes }
let folder: string
let file: FileHandle

/** Each frame contains its number. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'switchhook-frames-'))
  file = await open(join(folder, 'clip'), 'w+')
  const bytes = Buffer.alloc(frames * frameBytes)
  for (let index = 0; index < frames; index += 1) bytes.writeUInt16BE(index, index * frameBytes)
  await file.write(bytes)
})
afterAll(async () => {
  await file.close()
  await rm(folder, { recursive: true })
})

function numberAt(reader: FrameReader, index: number): number | undefined {
  const frame = reader.at(index)
  return frame?.bytes.readUInt16BE(frame.offset)
}

const heard = (reader: FrameReader, index: number): Promise<number> =>
  until(`frame ${index}`, () => {
    const number = numberAt(reader, index)
    return number === undefined ? undefined : { number }
  }).then(({ number }) => number)

describe('a reader', () => {
  it('returns every frame to a listener that reads to the end and then starts again', async () => {
    const reader = new FrameReader({ file, from: 0, clip: { form, readyFrames: frames } })
    for (let index = 0; index < frames; index += 1) expect(await heard(reader, index)).toBe(index)
    expect(numberAt(reader, frames)).toBeUndefined()
    // The first second of the next round is available immediately.
    for (let index = 0; index < 50; index += 1) expect(numberAt(reader, index)).toBe(index)
    expect(await heard(reader, 50)).toBe(50)
    expect(reader.failure).toBeUndefined()
  })

  it('begins each round at its frame', async () => {
    const reader = new FrameReader({ file, from: 300, clip: { form, readyFrames: frames } })
    for (const index of [300, 349, 350, 599, 300]) expect(await heard(reader, index)).toBe(index)
  })

  it('is ahead of its listener by two seconds and more, once it has read', async () => {
    const reader = new FrameReader({ file, from: 0, clip: { form, readyFrames: frames } })
    await heard(reader, 60)
    await until('what lies ahead', () => numberAt(reader, 159) === 159)
    for (let index = 159; index < 200; index += 1) expect(await heard(reader, index)).toBe(index)
  })

  it('returns no frame that is not coded yet, and returns it once it is', async () => {
    const clip = { form, readyFrames: 10 }
    const reader = new FrameReader({ file, from: 0, clip })
    expect(await heard(reader, 9)).toBe(9)
    expect(numberAt(reader, 10)).toBeUndefined()
    clip.readyFrames = 60
    expect(await heard(reader, 10)).toBe(10)
    expect(await heard(reader, 59)).toBe(59)
    expect(numberAt(reader, 60)).toBeUndefined()
  })

  it('follows a listener that jumps during a read, and returns no frame of another position', async () => {
    const reader = new FrameReader({ file, from: 0, clip: { form, readyFrames: frames } })
    for (const index of [60, 400, 70, 580, 100]) {
      const at = numberAt(reader, index)
      expect(at === undefined || at === index).toBe(true)
      expect(await heard(reader, index)).toBe(index)
    }
  })

  it('reports the error of a file that was cut short', async () => {
    const reader = new FrameReader({ file, from: 500, clip: { form, readyFrames: frames + 100 } })
    expect(await heard(reader, 549)).toBe(549)
    await until('the end of the file to be met', () => {
      reader.at(550)
      return reader.failure !== undefined
    })
    expect(String(reader.failure)).toContain('cut short')
    // Frames read before are still available.
    expect(numberAt(reader, 520)).toBe(520)
  })
})
