// Servers of customers whose answers have no end, or are made of the smallest pieces, and each part of the platform that
// asks them: what is read, and the processor time that reading takes, are bounded, and the failure says why.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAudioFetcher } from '../../src/audio/create-audio-fetcher.ts'
import { ThreadTime } from '../../src/lib/bounds/thread-time.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { AppError } from '../../src/lib/errors.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { createOutgoing } from '../../src/outgoing/create-outgoing.ts'
import { createSockets } from '../../src/outgoing/create-sockets.ts'
import type { Outgoing } from '../../src/outgoing/outgoing.ts'
import { callVendor, converseWithVendor } from '../../src/speech/vendor-call.ts'
import { createAppEnv } from '../../src/webhooks/create-app-env.ts'
import { createHooks } from '../../src/webhooks/create-hooks.ts'
import {
  endlessAnswers,
  startEndlessServer,
  takenBy,
  type EndlessKind,
  type EndlessServer,
  type Taken,
} from '../support/endless-server.ts'

const allow = ['127.0.0.0/8']
const clock = systemClock
const threadTime = new ThreadTime({ clock })
const cacheDir = mkdtempSync(join(tmpdir(), 'switchhook-endless-'))
let server: EndlessServer
let outgoing: Outgoing

beforeAll(async () => {
  server = await startEndlessServer()
  outgoing = createOutgoing({ allow, log: silentLogger, threadTime })
  // The libraries are loaded at their first use, which is not to be measured.
  for (const ask of Object.values(askers)) await ask('a long header').catch(() => undefined)
})
afterAll(async () => {
  await outgoing.close()
  await server.close()
  rmSync(cacheDir, { recursive: true })
})

const socketUrlOf = (kind: EndlessKind): string => server.urlOf(kind).replace('http', 'ws')

const askers: Readonly<Record<string, (kind: EndlessKind) => Promise<unknown>>> = {
  'a hook': (kind) =>
    createHooks({
      outgoing,
      signingSecret: () => Promise.resolve('wh_secret_test'),
      clock,
      log: silentLogger,
      userAgent: 'test',
      threadTime,
    }).ask({
      account_sid: 'account',
      hook: { url: `${server.urlOf(kind)}#rc=3&rp=all`, method: 'POST', username: null, password: null },
      payload: {},
    }),
  'the variables of an application': (kind) => createAppEnv({ outgoing, threadTime }).ask(server.urlOf(kind)),
  'a file to play': async (kind) => {
    const fetcher = createAudioFetcher({ outgoing, cacheDir, log: silentLogger })
    try {
      await fetcher.fetch(server.urlOf(kind), {})
    } finally {
      await fetcher.stop()
    }
  },
  'a speech vendor': (kind) =>
    callVendor(outgoing, {}, { vendor: 'the vendor', method: 'GET', url: server.urlOf(kind), accepts: /./ }),
  'a speech vendor over a WebSocket': (kind) =>
    converseWithVendor(outgoing, {
      vendor: 'the vendor',
      url: socketUrlOf(kind),
      messages: [],
      hear: () => false,
    }),
  'an audio server': (kind) =>
    createSockets({ allow, resolve: () => Promise.resolve([]), clock }).open({
      url: socketUrlOf(kind),
      headers: {},
      protocols: [],
      subject: 'the audio server',
      handshakeMs: 5000,
      maxRedirects: 2,
      maxMessageBytes: 1024,
      heard: () => undefined,
      closed: () => undefined,
    }),
}

/** The sentences of the refusals. The bodies of a handshake and of a file of no known kind are not read. */
const reasons =
  /answered with (too many|more than 100 interim)|more bytes than are accepted|not answer with valid HTTP|status 200|responded with a file that is/

describe.each(Object.keys(askers))('%s', (asker) => {
  it.each(endlessAnswers)('is given up soon when the answer is endless: %s', async (kind) => {
    const runs: Taken[] = []
    let failure: unknown
    // The compiler and the garbage collector slow some runs down, never all of them.
    while (runs.length < 4 && (runs.at(-1)?.cpuMs ?? Infinity) > enoughMs)
      runs.push(
        await takenBy(async () => {
          failure = await askers[asker]?.(kind).catch((error: unknown) => error)
        }),
      )
    if (asker === 'the variables of an application') expect(failure).toEqual({ outcome: 'none' })
    else {
      expect(failure).toBeInstanceOf(AppError)
      expect((failure as AppError).message).toMatch(reasons)
    }
    for (const { bytes } of runs) expect(bytes).toBeLessThan(maxBytesOf(kind))
    expect(Math.min(...runs.map(({ cpuMs }) => cpuMs))).toBeLessThan(maxMsOf(asker, kind))
  })
})

/** Several times what an answer takes on a slow machine. Without bounds, most kinds took a second and more. */
const maxMs = 120
const enoughMs = 30

/** A file is handed on piece by piece, of which two thousand a second are read. */
function maxMsOf(asker: string, kind: EndlessKind): number {
  return asker === 'a file to play' && kind.startsWith('chunks of one byte') ? 300 : maxMs
}

/** A body is read up to its own bound, which is 12 MiB for speech. */
function maxBytesOf(kind: EndlessKind): number {
  return kind === 'a body' ? 16_000_000 : 300_000
}
