// Files of any length encoded to MP3, decoded here as a listener would.
import { mkdtemp, rm, writeFile, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MPEGDecoder } from 'mpg123-decoder'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { finish } from './finish.ts'
import { headerOf } from './wav-file.ts'

let scratch: string
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'switchhook-finish-'))
})
afterAll(() => rm(scratch, { recursive: true }))

/** Encodes a tone on the left and silence on the right; `more` bytes are of an incomplete sample. */
async function encoded(samples: number, more = 0): Promise<readonly Float32Array[]> {
  const sound = new Int16Array(2 * samples)
  for (let at = 0; at < samples; at += 1) sound[2 * at] = 8000 * Math.sin((2 * Math.PI * 500 * at) / 8000)
  const path = join(scratch, 'a.wav')
  await writeFile(path, Buffer.concat([headerOf(4 * samples), Buffer.from(sound.buffer), Buffer.alloc(more)]))
  const file = await finish({ path, mp3: join(scratch, 'a.mp3') })
  const bytes = await readFile(file.path)
  expect(bytes.length).toBe(file.size)
  const decoder = new MPEGDecoder()
  await decoder.ready
  const { channelData } = decoder.decode(bytes)
  decoder.free()
  return channelData
}

const peakOf = (side: Float32Array | undefined) => Math.max(...(side ?? []).map(Math.abs))

describe('a recording as MP3', () => {
  it.each([
    [1, 0],
    [575, 3],
    [8000, 0],
    [8001, 2],
    [20_011, 1],
  ])('of %i samples and %i bytes has all of them, each side by itself', async (samples, more) => {
    const [left, right] = await encoded(samples, more)
    expect(left?.length).toBeGreaterThanOrEqual(samples)
    // The encoder adds its delay and fills the last frame.
    expect(left?.length).toBeLessThan(samples + 4 * 576)
    if (samples < 8000) return
    expect(peakOf(left)).toBeGreaterThan(0.22)
    expect(peakOf(right)).toBeLessThan(0.01)
  })
})
