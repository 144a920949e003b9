// The recordings folder, in a real directory.
import { existsSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { mountVolume } from '../../test/support/small-volume.ts'
import type { StoredRecording } from '../contracts/recording.ts'
import { createSpool, type Spool } from './spool.ts'
import { headerBytes, headerOf } from './wav-file.ts'

let dataDir: string
let spool: Spool

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'switchhook-spool-'))
  spool = createSpool(dataDir)
  await spool.open()
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

/** A directory on another disk than the temporary one, if the machine has such. */
const otherDisk = ['/tmp', '/var/tmp', '/dev/shm'].find(
  (path) => existsSync(path) && statSync(path).dev !== statSync(tmpdir()).dev,
)
const recordingAt = (spoolId: string): StoredRecording =>
  ({ call_sid: 'c', account_sid: 'a', key: '2026/11/21/c.wav', spool: spoolId }) as StoredRecording
const kept = (): string => join(dataDir, 'recordings/kept/a/2026/11/21/c.wav')
const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

describe('a data directory', () => {
  it('has a name that stays, wherever it is mounted and however often it is opened', async () => {
    const others = [createSpool(dataDir), createSpool(dataDir)]
    await Promise.all(others.map((other) => other.open()))
    expect(others.map(({ id }) => id)).toEqual([spool.id, spool.id])
    expect(spool.id).toMatch(/^[\w-]{36}$/)
  })

  it('has one name for two processes that open it for the first time at once', async () => {
    const fresh = await mkdtemp(join(tmpdir(), 'switchhook-spool-'))
    const both = [createSpool(fresh), createSpool(fresh)]
    await Promise.all(both.map((one) => one.open()))
    expect(both[0]?.id).toBe(both[1]?.id)
    await rm(fresh, { recursive: true, force: true })
  })

  it('has no part of a recording that found no room among those that are kept', async (context) => {
    const place = join(dataDir, 'recordings/kept')
    await mkdir(place)
    const mounted = mountVolume(place, '512k')
    if (typeof mounted === 'string') return context.skip(mounted)
    try {
      await writeFile(spool.wavOf('c'), Buffer.alloc(1_000_000))
      const keep = (bytes: object) => spool.keep({ path: spool.wavOf('c'), ...bytes }, recordingAt(spool.id))
      await expect(keep({ bytes: Buffer.alloc(1_000_000) })).rejects.toMatchObject({ code: 'ENOSPC' })
      expect(await isThere(kept())).toBe(false)
      await expect(keep({})).rejects.toMatchObject({ code: 'ENOSPC' })
      expect(await isThere(kept())).toBe(false)
    } finally {
      mounted.unmount()
    }
  })

  it('counts what waits in it, and not what is kept', async () => {
    await writeFile(spool.wavOf('a'), Buffer.alloc(100))
    await writeFile(spool.mp3Of('b'), Buffer.alloc(20))
    await mkdir(dirname(kept()), { recursive: true })
    await writeFile(kept(), Buffer.alloc(5000))
    expect(await spool.bytes()).toBe(120)
    expect([...(await spool.list())].toSorted()).toEqual(['a', 'b'])
  })

  it('is readable by the platform only', async () => {
    const { mode } = await stat(join(dataDir, 'recordings/spool'))
    expect(mode & 0o777).toBe(0o700)
  })
})

describe('a file that was left unfinished', () => {
  it.each([
    ['nothing at all', 0, 0],
    ['half a header', 20, 0],
    ['a header alone', headerBytes, 0],
    ['whole samples', headerBytes + 640, 640],
    ['half a sample at its end', headerBytes + 643, 640],
  ])('with %s is a WAV file of the whole samples that it has', async (_what, size, data) => {
    await writeFile(spool.wavOf('c'), Buffer.alloc(size, 7))
    expect(await spool.mend('c')).toBe(data)
    const file = await readFile(spool.wavOf('c'))
    expect(file.subarray(0, headerBytes)).toEqual(headerOf(data))
    expect(file.length).toBe(headerBytes + data)
    expect(file.subarray(headerBytes).every((byte) => byte === 7)).toBe(true)
  })

  it('that is missing is not mended', async () => {
    expect(await spool.mend('c')).toBeUndefined()
    expect(await spool.silentMs('c', 0)).toBeUndefined()
  })

  it('has the time since the last write to it', async () => {
    await writeFile(spool.wavOf('c'), 'x')
    await utimes(spool.wavOf('c'), 1000, 1000)
    expect(await spool.silentMs('c', 1_030_000)).toBe(30_000)
  })

  it('is cleared with its MP3 file, and clearing what is not there is nothing', async () => {
    for (const path of [spool.wavOf('c'), spool.mp3Of('c'), spool.wavOf('d')]) await writeFile(path, 'x')
    await spool.clear('c')
    await spool.clear('c')
    expect(await Promise.all([spool.wavOf('c'), spool.mp3Of('c'), spool.wavOf('d')].map(isThere))).toEqual([
      false,
      false,
      true,
    ])
  })
})

describe('a recording that is kept', () => {
  const here = (): StoredRecording => recordingAt(spool.id)

  async function keep(content = '0123456789'): Promise<void> {
    await writeFile(spool.wavOf('c'), content)
    await spool.keep({ path: spool.wavOf('c') }, here())
  }

  it('lies below its account; in the spool too until that is cleared, for a process that is killed meanwhile', async () => {
    await keep()
    expect([await isThere(kept()), await isThere(spool.wavOf('c'))]).toEqual([true, true])
    await spool.clear('c')
    expect([await isThere(kept()), await isThere(spool.wavOf('c'))]).toEqual([true, false])
  })

  // The operator may give kept recordings a disk of their own.
  it.skipIf(otherDisk === undefined)('may lie on another disk, and stays in the spool then too', async () => {
    const other = await mkdtemp(join(otherDisk ?? '', 'switchhook-kept-'))
    await symlink(other, join(dataDir, 'recordings/kept'))
    await keep()
    expect(await readFile(join(other, 'a/2026/11/21/c.wav'), 'utf8')).toBe('0123456789')
    expect(await isThere(spool.wavOf('c'))).toBe(true)
    await rm(other, { recursive: true })
  })

  it('is kept again by the process that comes after one that was killed', async () => {
    await keep('0123')
    await keep()
    expect(await text((await spool.read(here(), undefined)).body)).toBe('0123456789')
  })

  it.each([
    [undefined, '0123456789', undefined],
    ['bytes=0-3', '0123', 'bytes 0-3/10'],
    ['bytes=8-', '89', 'bytes 8-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=-300', '0123456789', 'bytes 0-9/10'],
    ['bytes=4-400', '456789', 'bytes 4-9/10'],
    ['bytes=9-9', '9', 'bytes 9-9/10'],
    ['lines=1-2', '0123456789', undefined],
  ])('is read with Range %s as %s', async (asked, content, range) => {
    await keep()
    const found = await spool.read(here(), asked)
    expect([await text(found.body), found.bytes, found.range]).toEqual([content, content.length, range])
  })

  it.each(['bytes=10-', 'bytes=99-100', 'bytes=-0', 'bytes=5-4'])(
    'has no part %s, and says how long it is',
    async (asked) => {
      await keep()
      await expect(spool.read(here(), asked)).rejects.toMatchObject({
        code: 'range_not_satisfiable',
        contentRange: 'bytes */10',
      })
    },
  )

  it('that was removed from the disk by hand is not found', async () => {
    await expect(spool.read(here(), undefined)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('of another node is neither read nor removed here, and the answer says where it is', async () => {
    await keep()
    const elsewhere = recordingAt('another')
    for (const work of [() => spool.read(elsewhere, undefined), () => spool.removeFile(elsewhere)])
      await expect(work()).rejects.toMatchObject({
        code: 'not_found',
        cure: expect.stringContaining('that node'),
      })
    expect(await isThere(kept())).toBe(true)
  })

  it('is removed, and removing it again is nothing', async () => {
    await keep()
    await spool.removeFile(here())
    await spool.removeFile(here())
    expect(await isThere(kept())).toBe(false)
  })
})
