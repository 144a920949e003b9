// An hour of audio, from an application's server to a phone's ear, while most of it has not been sent yet.
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAudioFetcher } from '../../src/audio/create-audio-fetcher.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { wavHeader, wavHeaderBytes } from '../../src/lib/audio/wav-header.ts'
import { createMedia } from '../../src/media/create-media.ts'
import { createAudioDecoder } from '../../src/media/files/audio-decoder.ts'
import { createOutgoing } from '../../src/outgoing/create-outgoing.ts'
import { tone, toneSegments, toWav } from '../support/audio.ts'
import { serveLocally } from '../support/local-http.ts'
import { freePorts } from '../support/ports.ts'
import { RtpPeer } from '../support/rtp-peer.ts'
import { until } from '../support/wait.ts'

const hourSeconds = 3600
const cleanUps: (() => Promise<unknown>)[] = []
let directory: string
let first: number

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'long-audio-'))
  const free = await freePorts(5)
  first = free + (free % 2)
})

afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
  await rm(directory, { recursive: true, force: true })
})

/** Starts a server that sends the head of a file, declares its whole length, and keeps the rest back. */
async function withholding(head: Buffer, wholeBytes: number): Promise<string> {
  const server = await serveLocally((_request, response) => {
    response.writeHead(200, { 'content-length': wholeBytes })
    const half = head.length >> 1
    response.write(head.subarray(0, half))
    // A short file would have been complete by then.
    const timer = setTimeout(() => response.write(head.subarray(half)), 800)
    response.on('close', () => clearTimeout(timer))
  })
  cleanUps.push(() => server.close())
  return `${server.url}/reading`
}

async function start() {
  const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger })
  const decoder = createAudioDecoder({ clock: systemClock })
  const audio = createAudioFetcher({
    outgoing,
    cacheDir: join(directory, 'audio'),
    decode: (job, options) => decoder.decode(job, options),
    log: silentLogger,
  })
  const media = createMedia({
    bind: '127.0.0.1',
    publicAddress: undefined,
    ports: { first, last: first + 3 },
    workers: 1,
    limits: { mediaMs: 0, heldMs: 0 },
    scratchDir: join(directory, 'scratch'),
    log: silentLogger,
  })
  await media.start()
  cleanUps.push(
    () => outgoing.close(),
    () => decoder.stop(),
    () => audio.stop(),
    () => media.stop(),
  )
  return { audio, media }
}

/** The kinds of file. The server sends ten seconds of each. */
const kinds = {
  WAV: () => {
    const sound = toWav(tone(440, 10_000)).subarray(wavHeaderBytes)
    const wholeBytes = hourSeconds * 16_000
    return {
      head: Buffer.concat([wavHeader(8000, wholeBytes), sound]),
      wholeBytes: wholeBytes + wavHeaderBytes,
    }
  },
  MP3: () => {
    const half = readFileSync(join(import.meta.dirname, '../support/audio/mono-16k.mp3'))
    return { head: Buffer.concat(Array<Buffer>(20).fill(half)), wholeBytes: 2 * hourSeconds * half.length }
  },
}

describe('an hour of sound', () => {
  it('an hour of audio is heard while most is on its way, and its download ends with its listener', async () => {
    const { audio, media } = await start()
    for (const make of [kinds.WAV, kinds.MP3]) {
      const { head, wholeBytes } = make()
      const clip = await audio.fetch(await withholding(head, wholeBytes), {})
      const peer = await RtpPeer.open()
      const session = await media.open()
      await session.answer(peer.offer())
      const playing = session.play({ clip })
      await until(
        'two seconds of the tone',
        () => {
          const segments = toneSegments(peer.audio('PCMU', 0), 440)
          return segments.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0) > 2000
        },
        { everyMs: 200 },
      )
      await session.close()
      await expect(playing).resolves.toMatchObject({ reason: 'stopped' })
      await peer.close()
      clip.release()
      const fetched = join(directory, 'audio', 'fetched')
      await until('the files to go', async () => (await readdir(fetched)).length === 0)
    }
  })
})
