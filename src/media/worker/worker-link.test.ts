import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { toWav, tone } from '../../../test/support/audio.ts'
import { freePorts } from '../../../test/support/ports.ts'
import { RtpPeer } from '../../../test/support/rtp-peer.ts'
import { Inbox, until, within } from '../../../test/support/wait.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { silentLogger } from '../../lib/log.ts'
import { createMedia } from '../create-media.ts'
import type { Media, MediaEvent } from '../media.ts'
import type { WorkerSetup } from '../worker-setup.ts'
import { WorkerLink } from './worker-link.ts'

let firstPort: number
let folder: string
const threads: Worker[] = []
let media: Media | undefined

function mediaWith(options: Partial<Parameters<typeof createMedia>[0]>): Media {
  media = createMedia({
    bind: '127.0.0.1',
    publicAddress: undefined,
    ports: { first: firstPort, last: firstPort + 19 },
    workers: 1,
    limits: { mediaMs: 60_000, heldMs: 60_000 },
    scratchDir: join(tmpdir(), `switchhook-media-${process.pid}-${firstPort}`),
    log: silentLogger,
    createWorker: (setup) => {
      const thread = new Worker(new URL('./worker.ts', import.meta.url), { workerData: setup })
      threads.push(thread)
      return thread
    },
    ...options,
  })
  return media
}

/** Returns a worker that reports ready and then never replies. */
function createDeafWorker(): Worker {
  const thread = new Worker(
    `const { parentPort } = require('node:worker_threads')
     parentPort.on('message', () => undefined)
     parentPort.postMessage({ kind: 'ready' })`,
    { eval: true },
  )
  threads.push(thread)
  return thread
}

beforeAll(async () => {
  // RTP uses the even ones.
  const free = await freePorts(21)
  firstPort = free + (free % 2)
  folder = await mkdtemp(join(tmpdir(), 'switchhook-worker-'))
  await writeFile(join(folder, 'tone.wav'), toWav(tone(440, 1000)))
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

afterEach(async () => {
  await media?.stop()
  media = undefined
  threads.length = 0
})

describe('a worker that dies', () => {
  it('is replaced later where the system has no thread for another one at once', async () => {
    const clock = createFakeClock()
    let attempts = 0
    const createWorker = (): Worker => {
      attempts += 1
      if (attempts === 2) throw new Error('EAGAIN')
      return createDeafWorker()
    }
    const plane = mediaWith({ clock, createWorker })
    await plane.start()
    await threads[0]!.terminate()
    await until('another worker', () => {
      clock.advance(50)
      return threads.length === 2
    })
    expect(attempts).toBe(3)
  })

  it('after a long life is followed by fewer and fewer attempts while the system has no thread', async () => {
    const clock = createFakeClock()
    let attempts = 0
    const createWorker = (): Worker => {
      attempts += 1
      if (attempts > 1) throw new Error('EAGAIN')
      return createDeafWorker()
    }
    const plane = mediaWith({ clock, createWorker })
    await plane.start()
    clock.advance(120_000)
    await threads[0]!.terminate()
    await until('the first try', () => {
      clock.advance(50)
      return attempts === 2
    })
    for (let passedMs = 0; passedMs < 60_000; passedMs += 50) {
      clock.advance(50)
      await Promise.resolve()
    }
    expect(attempts).toBeLessThan(15)
  })

  it('ends its playbacks, reports to its calls, is replaced, and leaves other workers alone', async () => {
    const plane = mediaWith({ workers: 2 })
    await plane.start()
    const peer = await RtpPeer.open()
    const [lost, kept] = [await plane.open(), await plane.open()]
    await lost.answer(peer.offer())
    const events = new Inbox<MediaEvent>()
    lost.onEvent((event) => events.push(event))
    const playing = lost.play({ clip: { path: join(folder, 'tone.wav') }, rounds: Infinity })
    const refused = expect(within('the failure', 10_000, playing)).rejects.toMatchObject({ code: 'internal' })
    // Sessions are spread over the workers; the first one is in the first.
    await threads[0]?.terminate()
    await refused
    expect(await events.next('the loss', ({ type }) => type === 'lost')).toEqual({ type: 'lost' })
    expect(plane.openSessions).toBe(1)
    expect((await lost.close()).codec).toBe('PCMU')
    expect((await kept.stats()).packetsSent).toBe(0)
    await until('the new worker', async () => {
      const session = await plane.open()
      const isOnFirst = session.port < firstPort + 10
      await session.close()
      return isOnFirst
    })
    expect(threads.length).toBe(3)
    await peer.close()
  })
})

describe('the end of a session', () => {
  it('wakes the worker with the next request, or after 20 ms', async () => {
    const clock = createFakeClock()
    const sent: unknown[] = []
    const plane = mediaWith({
      clock,
      createWorker: (setup) => {
        const thread = new Worker(new URL('./worker.ts', import.meta.url), { workerData: setup })
        const post = thread.postMessage.bind(thread)
        thread.postMessage = (message: readonly { request: { kind: string } }[]) => {
          sent.push(message.map(({ request }) => request.kind))
          post(message)
        }
        return thread
      },
    })
    await plane.start()
    const [first, second] = [await plane.open(), await plane.open()]
    const closing = first.close()
    expect(sent).toEqual([['open'], ['open']])
    await plane.open()
    await closing
    expect(sent.slice(2)).toEqual([['close', 'open']])
    const alone = second.close()
    clock.advance(20)
    await alone
    expect(sent.slice(3)).toEqual([['close']])
  })
})

describe('a worker that hangs', () => {
  it('leaves no key of a request in the error, which is logged', async () => {
    const clock = createFakeClock()
    const link = new WorkerLink({
      createWorker: createDeafWorker,
      setup: {} as WorkerSetup,
      index: 0,
      clock,
      log: silentLogger,
      onEvent: () => undefined,
      onLost: () => undefined,
    })
    await link.start()
    const keys = { kind: 'send-keys', session: 's', digits: '4111', durationMs: 100, isTone: false } as const
    const asked = link.request<'send-keys'>(keys, 100)
    clock.advance(100)
    const error: unknown = await asked.catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'overloaded', detail: { kind: 'send-keys' } })
    expect(JSON.stringify(error)).not.toContain('4111')
    await threads.at(-1)?.terminate()
    await link.stop()
  })

  it('never keeps a request waiting, and is ended and replaced', async () => {
    const clock = createFakeClock()
    const plane = mediaWith({ clock, createWorker: createDeafWorker })
    await plane.start()
    const opening = plane.open()
    const refused = expect(opening).rejects.toMatchObject({ code: 'overloaded' })
    await until('the request', () => clock.pending >= 2)
    clock.advance(3000)
    await refused
    await until('a second worker', () => {
      clock.advance(50)
      return threads.length >= 2
    })
  })

  it('and is stopped while it restarts stays stopped', async () => {
    const clock = createFakeClock()
    // All workers except the first one are silent.
    const createWorker = (): Worker => {
      if (threads.length === 0) return createDeafWorker()
      const thread = new Worker('setInterval(() => undefined, 1000)', { eval: true })
      threads.push(thread)
      return thread
    }
    const plane = mediaWith({ clock, createWorker })
    await plane.start()
    await threads[0]!.terminate()
    await until('a second worker', () => {
      clock.advance(50)
      return threads.length === 2
    })
    await plane.stop()
    clock.advance(60_000)
    expect(threads).toHaveLength(2)
  })

  it('does not start', async () => {
    const clock = createFakeClock()
    const silent = (): Worker => new Worker('setInterval(() => undefined, 1000)', { eval: true })
    const starting = mediaWith({ clock, createWorker: silent }).start()
    const refused = expect(starting).rejects.toMatchObject({ code: 'internal' })
    await until('the wait for the worker', () => clock.pending >= 1)
    clock.advance(10_000)
    await refused
  })
})
