import { watch } from 'node:fs'
import { access, appendFile, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serveLocally, startReceiver, type Reply } from '../../test/support/local-http.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { until } from '../../test/support/wait.ts'
import { actingFor } from '../lib/acting-for.ts'
import { isGrowing } from '../lib/growing-file.ts'
import { createLogger, silentLogger } from '../lib/log.ts'
import { createOutgoing } from '../outgoing/create-outgoing.ts'
import { createAudioFetcher, type AudioFetcherOptions } from './create-audio-fetcher.ts'

let cacheDir = ''
const closing: (() => Promise<void>)[] = []

beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'switchhook-audio-'))
})

afterEach(async () => {
  for (const close of closing.splice(0)) await close()
  await rm(cacheDir, { recursive: true, force: true })
})

function makeFetcher(options: Partial<AudioFetcherOptions> = {}) {
  const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger })
  closing.push(() => outgoing.close())
  return createAudioFetcher({ outgoing, cacheDir, log: silentLogger, keptMs: 0, ...options })
}

async function serving(reply: Reply): Promise<string> {
  const receiver = await startReceiver(() => reply)
  closing.push(() => receiver.close())
  return `${receiver.url}/greeting.wav`
}

function wav({ tag = 1, bits = 16, samples = 800, before = Buffer.alloc(0) } = {}): Buffer {
  const data = Buffer.alloc((samples * bits) / 8, 1)
  const format = Buffer.alloc(24)
  format.write('fmt ', 0, 'latin1')
  format.writeUInt32LE(16, 4)
  format.writeUInt16LE(tag, 8)
  format.writeUInt16LE(1, 10)
  format.writeUInt32LE(8000, 12)
  format.writeUInt32LE((8000 * bits) / 8, 16)
  format.writeUInt16LE(bits / 8, 20)
  format.writeUInt16LE(bits, 22)
  const dataHead = Buffer.from('data\0\0\0\0', 'latin1')
  dataHead.writeUInt32LE(data.length, 4)
  const body = Buffer.concat([Buffer.from('WAVE', 'latin1'), before, format, dataHead, data])
  const riff = Buffer.from('RIFF\0\0\0\0', 'latin1')
  riff.writeUInt32LE(body.length, 4)
  return Buffer.concat([riff, body])
}

async function servingFile(file: Buffer): Promise<string> {
  const server = await serveLocally((_request, response) => response.end(file))
  closing.push(() => server.close())
  return server.url
}

/** Waits until the file is removed. Removal runs concurrently with the call, and only the directory shows its end. */
async function whenEmpty(): Promise<void> {
  await until('the file to be removed', async () => (await readdir(join(cacheDir, 'fetched'))).length === 0)
}

describe('fetch', () => {
  it.each([
    ['PCM 16 bit', wav()],
    ['PCM 8 bit', wav({ bits: 8 })],
    ['PCM 24 bit', wav({ bits: 24 })],
    ['32 bits of floats', wav({ tag: 3, bits: 32 })],
    ['A-law', wav({ tag: 6, bits: 8 })],
    ['mu-law', wav({ tag: 7, bits: 8 })],
    ['notes before the format', wav({ before: Buffer.from('LIST\x03\0\0\0abc\0', 'latin1') })],
    ['a megabyte', wav({ samples: 500_000 })],
  ])('lends a WAV file with %s and removes it when it is given back', async (_what, file) => {
    const clip = await makeFetcher().fetch(await servingFile(file), {})
    expect((await readFile(clip.path)).equals(file)).toBe(true)
    clip.release()
    clip.release()
    await whenEmpty()
  })

  it('lends the same content under one path until its last borrower is done', async () => {
    const url = await servingFile(wav())
    const fetcher = makeFetcher()
    const [first, second] = await Promise.all([fetcher.fetch(url, {}), fetcher.fetch(url, {})])
    expect(first.path).toBe(second.path)
    first.release()
    first.release()
    await access(second.path)
    second.release()
    await whenEmpty()
  })

  it('lends a file that is there, also when the same content is given back at that moment', async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
    let decoded = 0
    const fetcher = makeFetcher({
      async decode({ target }) {
        await writeFile(target, wav())
        await gates[decoded++]?.promise
        return 1644
      },
    })
    const url = await servingFile(Buffer.from(`ID3${'x'.repeat(900)}`))
    const fetching = [fetcher.fetch(url, {}), fetcher.fetch(url, {})]
    await until('both to be decoded', () => decoded === 2)
    gates[0].resolve()
    const first = await Promise.race(fetching)
    first.release()
    gates[1].resolve()
    for (const clip of await Promise.all(fetching)) if (clip !== first) await access(clip.path)
    for (const clip of await Promise.all(fetching)) clip.release()
    await whenEmpty()
  })

  it('keeps a short file for a while after its last borrower, and takes no step on the disk for the next', async () => {
    const clock = createFakeClock()
    const url = await servingFile(wav())
    const fetcher = makeFetcher({ clock, keptMs: 1000 })
    const first = await fetcher.fetch(url, {})
    const before = await stat(first.path)
    first.release()
    clock.advance(900)
    const directory = join(cacheDir, 'fetched')
    const names = new Set<string | null>()
    const watcher = watch(directory, (_event, name) => names.add(name))
    const second = await fetcher.fetch(url, {})
    second.release()
    clock.advance(900)
    // When the watcher reports this file, it has reported all earlier changes.
    await writeFile(join(directory, 'mark'), '')
    await until('the watcher', () => names.has('mark'))
    watcher.close()
    expect([second.path, (await stat(second.path)).ino, [...names]]).toEqual([
      first.path,
      before.ino,
      ['mark'],
    ])
    await rm(join(directory, 'mark'))
    clock.advance(100)
    await whenEmpty()
  })

  it('keeps no long file', async () => {
    const fetcher = makeFetcher({ keptMs: 1000 })
    const clip = await fetcher.fetch(await servingFile(wav({ samples: 200_000 })), {})
    clip.release()
    await whenEmpty()
  })

  it('keeps few: the one unused longest goes when there is no room', async () => {
    const clock = createFakeClock()
    const fetcher = makeFetcher({ clock, keptMs: 1000 })
    const files = Array.from({ length: 65 }, (_, index) => wav({ samples: 262_000 - index }))
    const served = files.values()
    const server = await serveLocally((_request, response) => response.end(served.next().value))
    closing.push(() => server.close())
    const paths: string[] = []
    for (const _ of files) {
      const clip = await fetcher.fetch(server.url, {})
      paths.push(clip.path)
      clip.release()
    }
    const first = paths[0] ?? ''
    await until('the first to go', async () =>
      access(first).then(
        () => false,
        () => true,
      ),
    )
    await access(paths[1] ?? '')
    await fetcher.stop()
  })

  it.each([
    ['404', { status: 404 }, 'audio_not_found', 'the audio URL responded with status 404'],
    [
      'a redirect',
      { status: 302, headers: { location: '/x' } },
      'audio_not_found',
      'the audio URL responded with status 302',
    ],
    ['silence', { hangs: true }, 'audio_not_found', 'the audio URL did not answer in time'],
    [
      'HTML',
      { body: '<!doctype html><p>no' },
      'audio_not_supported',
      'the audio URL responded with a file that is an HTML page',
    ],
    [
      'FLAC',
      { body: `fLaC${'x'.repeat(500)}` },
      'audio_not_supported',
      'the audio URL responded with a file that is a FLAC file',
    ],
    ['nothing', { body: '' }, 'audio_not_supported', 'the audio URL responded with a file that is empty'],
    [
      'five bytes',
      { body: 'RIFF\x01' },
      'audio_not_supported',
      'the audio URL responded with a file that is a RIFF file that is no WAV file',
    ],
    [
      'no format',
      { body: 'RIFF\x04\0\0\0WAVE' },
      'audio_not_supported',
      'the audio file does not say how it is coded',
    ],
  ] satisfies [string, Reply, string, string][])(
    'refuses %s and leaves no file',
    async (_what, reply, code, message) => {
      const fetcher = makeFetcher('hangs' in reply ? { answerTimeoutMs: 200, totalTimeoutMs: 500 } : {})
      await expect(fetcher.fetch(await serving(reply), {})).rejects.toMatchObject({ code, message })
      await whenEmpty()
    },
  )

  it.each([['ADPCM', wav({ tag: 2, bits: 8 })]])('refuses a WAV file with %s', async (_what, file) => {
    await expect(makeFetcher().fetch(await servingFile(file), {})).rejects.toMatchObject({
      code: 'audio_not_supported',
    })
    await whenEmpty()
  })

  it('refuses a file beyond its bytes', async () => {
    const fetcher = makeFetcher({ maxFileBytes: 1024 * 1024 })
    await expect(fetcher.fetch(await servingFile(wav({ samples: 1_000_000 })), {})).rejects.toMatchObject({
      code: 'audio_not_supported',
      message: 'the audio file is larger than 1 MB',
    })
    await whenEmpty()
  })

  it('has other audio decoded, and lends and counts what came out of it', async () => {
    const jobs: unknown[] = []
    const fetcher = makeFetcher({
      maxHeldBytes: 5000,
      async decode({ kind, target }) {
        jobs.push(kind)
        await writeFile(target, wav({ samples: 2000 }))
        return 4044
      },
    })
    const url = await servingFile(Buffer.from(`ID3${'x'.repeat(900)}`))
    const clip = await fetcher.fetch(url, {})
    expect((await readFile(clip.path)).length).toBe(4044)
    // The same content is decoded only once while it is lent.
    const again = await fetcher.fetch(url, {})
    expect([again.path, jobs]).toEqual([clip.path, ['mp3']])
    const other = await servingFile(wav({ samples: 1000 }))
    await expect(fetcher.fetch(other, {})).rejects.toMatchObject({ code: 'overloaded' })
    clip.release()
    again.release()
    await whenEmpty()
    const next = await fetcher.fetch(other, {})
    next.release()
    await whenEmpty()
  })

  it('refuses more files at a time than it may hold, and takes them again later', async () => {
    const url = await servingFile(wav({ samples: 1000 }))
    const other = await servingFile(wav({ samples: 1001 }))
    const fetcher = makeFetcher({ maxHeldBytes: 3000 })
    const clip = await fetcher.fetch(url, {})
    await expect(fetcher.fetch(other, {})).rejects.toMatchObject({ code: 'overloaded' })
    clip.release()
    const next = await fetcher.fetch(other, {})
    next.release()
    await whenEmpty()
  })

  it('refuses an account more than its share, while another account is still served', async () => {
    const urls = [
      await servingFile(wav({ samples: 2000 })),
      await servingFile(wav({ samples: 150 })),
    ] as const
    const fetcher = makeFetcher({ maxHeldBytes: 5000 })
    const clip = await actingFor('a', () => fetcher.fetch(urls[0], {}))
    await expect(actingFor('a', () => fetcher.fetch(urls[1], {}))).rejects.toMatchObject({
      code: 'account_share',
    })
    const others = await actingFor('b', () => fetcher.fetch(urls[1], {}))
    clip.release()
    others.release()
    await whenEmpty()
    const again = await actingFor('a', () => fetcher.fetch(urls[1], {}))
    again.release()
    await whenEmpty()
  })

  /** Sends the head of an hour-long file, and the rest when the test says so. */
  async function servingSlowly(file: Buffer, { headBytes = 100_000 } = {}) {
    const rest = Promise.withResolvers<'all' | 'cut'>()
    const cut = Promise.withResolvers<void>()
    let requests = 0
    const server = await serveLocally((_request, response) => {
      requests += 1
      response.on('close', () => cut.resolve())
      response.writeHead(200, { 'content-length': file.length })
      response.write(file.subarray(0, headBytes / 2))
      // Runs after the time for which the fetcher waits for a short file.
      const later = setTimeout(() => response.write(file.subarray(headBytes / 2, headBytes)), 800)
      void rest.promise.then((how) => {
        clearTimeout(later)
        if (how === 'cut') response.destroy()
        else response.end(file.subarray(headBytes))
      })
    })
    closing.push(() => server.close())
    return { url: server.url, end: rest.resolve, whenCut: cut.promise, count: () => requests }
  }
  const hour = wav({ samples: 3600 * 8000 })

  it('lends a long file while it is on its way, once to all who want it, until it is whole', async () => {
    const { url, end, count } = await servingSlowly(hour)
    const fetcher = makeFetcher()
    const clip = await fetcher.fetch(url, {})
    expect(await isGrowing(clip.path)).toBe(true)
    const there = await readFile(clip.path)
    expect(there.length).toBeGreaterThanOrEqual(50_000)
    expect(there.equals(hour.subarray(0, there.length))).toBe(true)
    const second = await fetcher.fetch(url, {})
    expect([second.path, count()]).toEqual([clip.path, 2])
    second.release()
    end('all')
    await until('the file to be whole', async () => !(await isGrowing(clip.path)))
    expect((await readFile(clip.path)).equals(hour)).toBe(true)
    clip.release()
    await whenEmpty()
  })

  it('ends what is on its way with its last borrower, and leaves no file', async () => {
    const { url, whenCut } = await servingSlowly(hour)
    const fetcher = makeFetcher({ maxHeldBytes: 150_000 })
    const clip = await fetcher.fetch(url, {})
    clip.release()
    await whenCut
    await whenEmpty()
    // All that the first file held is free again.
    const other = await fetcher.fetch(await servingFile(wav({ samples: 70_000 })), {})
    other.release()
    await whenEmpty()
  })

  it('says in the file why it broke off, and fetches it again for the next who wants it', async () => {
    const { url, end, count } = await servingSlowly(hour)
    const fetcher = makeFetcher()
    const clip = await fetcher.fetch(url, {})
    end('cut')
    await until(
      'the reason',
      async () =>
        await isGrowing(clip.path).then(
          () => false,
          () => true,
        ),
    )
    await expect(isGrowing(clip.path)).rejects.toMatchObject({ code: 'audio_not_found' })
    const before = count()
    await expect(fetcher.fetch(url, {})).rejects.toMatchObject({ code: 'audio_not_found' })
    expect(count()).toBe(before + 1)
    clip.release()
    await whenEmpty()
  })

  it('goes on where the disk does not take the reason', async () => {
    const { url, end } = await servingSlowly(hour)
    const warnings: string[] = []
    const log = createLogger('warn', { write: (line) => void warnings.push(line) })
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', onUnhandled)
    const fetcher = makeFetcher({ log })
    const clip = await fetcher.fetch(url, {})
    await rm(join(cacheDir, 'fetched'), { recursive: true })
    end('cut')
    await until('its end', () => warnings.length + unhandled.length > 0)
    process.off('unhandledRejection', onUnhandled)
    expect([warnings, unhandled]).toEqual([[expect.stringContaining('audio file keeps no reason')], []])
    await mkdir(join(cacheDir, 'fetched'))
    clip.release()
    const other = await fetcher.fetch(await servingFile(wav()), {})
    other.release()
    await whenEmpty()
  })

  it('lends what is decoded of a long file while both grow', async () => {
    const begun = Promise.withResolvers<string>()
    const fetcher = makeFetcher({
      async decode({ source, target }, { signal, onHead }) {
        await writeFile(target, wav({ samples: 40_000 }))
        onHead?.()
        begun.resolve(source)
        await until('the source to be whole', async () => signal.aborted || !(await isGrowing(source)))
        await appendFile(target, Buffer.alloc(1000))
        return 81_044
      },
    })
    const mp3 = Buffer.concat([Buffer.from('ID3'), Buffer.alloc(500_000, 'x')])
    const { url, end } = await servingSlowly(mp3)
    const clip = await fetcher.fetch(url, {})
    expect(await begun.promise).not.toBe(clip.path)
    expect([await isGrowing(clip.path), (await readFile(clip.path)).length]).toEqual([true, 80_044])
    end('all')
    await until('it to be whole', async () => !(await isGrowing(clip.path)))
    expect((await readFile(clip.path)).length).toBe(81_044)
    clip.release()
    await whenEmpty()
  })

  it('lends a file that broke off while its head was decoded to no one else', async () => {
    const broken = Promise.withResolvers<void>()
    let isFirst = true
    const fetcher = makeFetcher({
      async decode({ source, target }, { onHead }) {
        const waits = isFirst
        isFirst = false
        await writeFile(target, wav({ samples: 40_000 }))
        if (waits)
          await until('the source to break off', async () =>
            isGrowing(source).then(
              () => false,
              () => true,
            ),
          )
        broken.resolve()
        onHead?.()
        return new Promise(() => {})
      },
    })
    const mp3 = Buffer.concat([Buffer.from('ID3'), Buffer.alloc(500_000, 'x')])
    let requests = 0
    const server = await serveLocally((_request, response) => {
      requests += 1
      response.writeHead(200, { 'content-length': mp3.length })
      response.write(mp3.subarray(0, 50_000))
      setTimeout(() => response.write(mp3.subarray(50_000, 100_000)), 800)
      if (requests === 1) setTimeout(() => response.destroy(), 1000)
    })
    closing.push(() => server.close())
    const first = await fetcher.fetch(server.url, {})
    await broken.promise
    const second = await fetcher.fetch(server.url, {})
    expect(second.path).not.toBe(first.path)
    closing.push(() => fetcher.stop())
  })

  it('refuses a forbidden address', async () => {
    await expect(makeFetcher().fetch('http://169.254.169.254/latest.wav', {})).rejects.toMatchObject({
      code: 'hook_refused_address',
    })
  })

  it('ends with the reason of its signal and leaves no file', async () => {
    const controller = new AbortController()
    const receiver = await startReceiver(() => ({ hangs: true }))
    closing.push(() => receiver.close())
    const fetching = makeFetcher().fetch(receiver.url, { signal: controller.signal })
    await receiver.arrived(1)
    controller.abort(new Error('hung up'))
    await expect(fetching).rejects.toThrow('hung up')
    await whenEmpty()
  })
})

describe('start', () => {
  it('removes what a killed process left', async () => {
    const fetched = join(cacheDir, 'fetched')
    await mkdir(fetched)
    await writeFile(join(fetched, 'old.part'), 'x')
    await makeFetcher().start()
    expect(await readdir(fetched)).toEqual([])
  })
})
