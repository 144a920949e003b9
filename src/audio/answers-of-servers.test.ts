// RFC 9110 and RFC 9112 let a server send much before and around a file: what is played is the same whatever it is.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { answering, crlf, lengthOf, toAnswer, ways, type Way } from '../../test/support/http-answers.ts'
import { until } from '../../test/support/wait.ts'
import { wavHeader } from '../lib/audio/wav-header.ts'
import { isGrowing } from '../lib/growing-file.ts'
import { silentLogger } from '../lib/log.ts'
import { createOutgoing } from '../outgoing/create-outgoing.ts'
import { createAudioFetcher } from './create-audio-fetcher.ts'

let cacheDir = ''
const closing: { close(): Promise<void> }[] = []

beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'switchhook-audio-'))
})

afterEach(async () => {
  for (const one of closing.splice(0)) await one.close()
  await rm(cacheDir, { recursive: true, force: true })
})

function wav(bytes: number): Buffer {
  return Buffer.concat([wavHeader(8000, bytes), Buffer.alloc(bytes, 'sound')])
}
const short = wav(1600)
/** A file that is played from its head on, while the rest is being received. */
const long = wav(3 * 1024 * 1024)

/** Ways of files alone. */
const waysOfFiles: Readonly<Record<string, Way>> = {
  'no content type': { headers: [] },
  'the content type of another kind': { headers: ['Content-Type: text/html; charset=utf-8'] },
  'a content type that cannot be read': { headers: ['Content-Type: /;;'] },
  'a file name and ranges that it would serve': {
    headers: ['Content-Disposition: attachment; filename="a.exe"', 'Accept-Ranges: bytes', 'ETag: W/"1"'],
  },
  'another form, made by a proxy': { status: '203 Non-Authoritative Information' },
}

async function serving(answer: Buffer, ends = false): Promise<string> {
  const server = await answering(answer, ends)
  closing.push(server)
  return server.url
}

async function fetching(url: string): Promise<Buffer> {
  const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger })
  closing.push(outgoing)
  const fetcher = createAudioFetcher({
    outgoing,
    cacheDir,
    log: silentLogger,
    answerTimeoutMs: 60_000,
    totalTimeoutMs: 60_000,
  })
  closing.push({ close: () => fetcher.stop() })
  const clip = await fetcher.fetch(url, {})
  await until('the file to be whole', async () => !(await isGrowing(clip.path)))
  const file = await readFile(clip.path)
  clip.release()
  return file
}

const redirect = (location: string): Buffer =>
  Buffer.from(
    `HTTP/1.1 100 Continue${crlf}${crlf}HTTP/1.1 302 Found${crlf}Location: ${location}${crlf}Content-Length: 5${crlf}${crlf}moved`,
  )

describe('the answer of a server of audio', () => {
  it.each(Object.entries({ ...ways, ...waysOfFiles }))('is played with %s', async (_, way) => {
    for (const file of [short, long]) {
      const url = await serving(toAnswer(way, file), way.ends)
      expect((await fetching(url)).equals(file)).toBe(true)
      // The same behind a redirect that has an interim response and a body.
      expect((await fetching(await serving(redirect(url)))).equals(file)).toBe(true)
    }
  })

  it.each<[string, Buffer, string, string]>([
    [
      'two lengths',
      Buffer.concat([
        Buffer.from(`HTTP/1.1 200 OK${crlf}Content-Length: ${short.length}${crlf}`),
        lengthOf(short),
      ]),
      'audio_not_found',
      'the audio URL did not answer with valid HTTP',
    ],
    [
      'a length that is a list',
      Buffer.concat([
        Buffer.from(`HTTP/1.1 200 OK${crlf}Content-Length: ${short.length}, ${short.length}${crlf}${crlf}`),
        short,
      ]),
      'audio_not_found',
      'the audio URL did not answer with valid HTTP',
    ],
    [
      'an encoding that was not asked for',
      toAnswer({ headers: ['Content-Type: audio/wav', 'Content-Encoding: gzip'] }, gzipSync(short)),
      'audio_not_supported',
      'the audio URL responded with a file that is a file compressed with gzip',
    ],
    [
      'a part that was not asked for',
      toAnswer({ status: '206 Partial Content', headers: ['Content-Range: bytes 0-1643/1644'] }, short),
      'audio_not_found',
      'the audio URL responded with status 206',
    ],
    [
      'no content',
      Buffer.from(`HTTP/1.1 204 No Content${crlf}${crlf}`),
      'audio_not_found',
      'the audio URL responded with status 204',
    ],
    [
      'a redirect to nowhere',
      Buffer.from(`HTTP/1.1 302 Found${crlf}Content-Length: 0${crlf}${crlf}`),
      'audio_not_found',
      'the audio URL responded with status 302',
    ],
    [
      'an answer that is cut short',
      toAnswer({ framed: (body) => lengthOf(Buffer.concat([body, Buffer.alloc(9)])).subarray(0, -9) }, short),
      'audio_not_found',
      'the audio URL closed the connection before it had answered',
    ],
    [
      'chunks that are cut short',
      Buffer.concat([
        Buffer.from(
          `HTTP/1.1 200 OK${crlf}Transfer-Encoding: chunked${crlf}${crlf}${short.length.toString(16)}${crlf}`,
        ),
        short,
        Buffer.from(crlf),
      ]),
      'audio_not_found',
      'the audio URL closed the connection before it had answered',
    ],
  ])('is refused by name with %s', async (_, answer, code, message) => {
    await expect(fetching(await serving(answer, true))).rejects.toMatchObject({ code, message })
  })
})
