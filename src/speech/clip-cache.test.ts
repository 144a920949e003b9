import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../lib/log.ts'
import { ClipCache } from './clip-cache.ts'

let directory: string
let cache: ClipCache
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'switchhook-clips-'))
  cache = new ClipCache({ directory, maxBytes: 1_000_000, log: silentLogger })
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const make = (path: string): Promise<void> => writeFile(path, 'sound')
async function speak(name: string, account_sid: string): Promise<void> {
  ;(await cache.obtain(name, make, account_sid)).release()
}

describe('the clip cache', () => {
  it('tells how many clips there are, and how many an account has asked for', async () => {
    await speak('one', 'a')
    await speak('two', 'a')
    await speak('two', 'b')
    expect([await cache.size(), await cache.size('a'), await cache.size('b'), await cache.size('c')]).toEqual(
      [2, 2, 1, 0],
    )
  })

  it('removes for an account what no other account has asked for', async () => {
    await speak('one', 'a')
    await speak('two', 'a')
    await speak('two', 'b')
    await cache.clear('a')
    expect(await readdir(directory)).toEqual(['two.wav'])
    expect([await cache.size('a'), await cache.size('b')]).toEqual([0, 1])
  })

  it('removes everything but what is being played, and makes it again when it is wanted', async () => {
    await speak('one', 'a')
    const playing = await cache.obtain('two', make, 'a')
    await cache.clear()
    expect(await readdir(directory)).toEqual(['two.wav'])
    playing.release()
    await cache.clear()
    expect(await readdir(directory)).toEqual([])
    expect(await cache.size()).toBe(0)
    await speak('one', 'a')
    expect(await readdir(directory)).toEqual(['one.wav'])
  })

  it('makes a clip for an account itself if it waited for another account, whose share of the voice ended', async () => {
    const busy = async (): Promise<never> => {
      throw new Error('too many texts of a are waiting')
    }
    const wanted = [cache.obtain('one', busy, 'a'), cache.obtain('one', busy, 'a'), speak('one', 'b')]
    const outcomes = await Promise.allSettled(wanted)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
    expect(await readdir(directory)).toEqual(['one.wav'])
  })
})
