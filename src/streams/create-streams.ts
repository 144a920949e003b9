// The thread of streams from outside: its start with the first stream, its restart when it died or hangs, and the limit
// on streams.
import { Worker } from 'node:worker_threads'
import { actingTenant } from '../lib/acting-for.ts'
import { systemClock, type Clock } from '../lib/clock.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import { telephoneRate } from '../lib/audio/resampler.ts'
import { TenantPool } from '../lib/bounds/tenant-pool.ts'
import type { FromThread, ThreadSetup, ToThread } from './messages.ts'
import { ThreadWatch } from './thread-watch.ts'
import {
  noFigures,
  type AudioStream,
  type StreamEvent,
  type StreamOrder,
  type Streams,
} from '../contracts/audio-stream.ts'

export interface StreamsOptions extends ThreadSetup {
  readonly log: Logger
  readonly clock?: Clock
  /** The share of all streams that one account may have while no other has any, in percent. */
  readonly sharePercent?: number | undefined
  readonly createThread?: (setup: ThreadSetup) => Worker
}

/** The streams that one thread can carry with one channel at 8 kHz in both directions, on a processor of its own. */
const maxStreams = 400
/** The cost of such a stream. Half of it is the same for each stream, half grows with the samples that are sent. */
const unitsOfOne = 2

function costOf({ rate, channels }: Pick<StreamOrder, 'rate' | 'channels'>): number {
  return 1 + Math.ceil((rate * channels) / telephoneRate)
}
const stopLimitMs = 2000
const ended = 'the thread of the stream ended'

/** A running thread, and its watch. */
interface Running {
  readonly worker: Worker
  readonly watch: ThreadWatch
}

interface Open {
  readonly onEvent: (event: StreamEvent) => void
  readonly tenant: string | undefined
  readonly cost: number
}

function createStreamThread(workerData: ThreadSetup): Worker {
  return new Worker(new URL('./thread.ts', import.meta.url), { workerData, name: 'streams' })
}

export function createStreams(options: StreamsOptions): Streams & Part {
  const {
    log,
    allow,
    nameServers,
    limits,
    sharePercent: percent,
    clock = systemClock,
    createThread = createStreamThread,
  } = options
  const pool = new TenantPool({
    size: unitsOfOne * maxStreams,
    percent,
    tooMany: 'too many audio streams are open',
  })
  const open = new Map<number, Open>()
  let thread: Running | undefined
  let lastId = 0

  function tell(id: number, event: StreamEvent): void {
    const stream = open.get(id)
    if (stream === undefined) return
    if (event.type === 'ended') {
      open.delete(id)
      pool.give(stream.tenant, stream.cost)
      if (open.size === 0) thread?.watch.end()
    }
    stream.onEvent(event)
  }

  function lose(dead: Worker, because: string): void {
    if (thread?.worker !== dead) return
    thread.watch.end()
    thread = undefined
    const end = { by: 'lost', because, figures: noFigures } as const
    for (const id of [...open.keys()]) tell(id, { type: 'ended', end })
  }

  function running(): Running {
    if (thread !== undefined) return thread
    const worker = createThread({ allow, nameServers, limits })
    const watch = new ThreadWatch({
      clock,
      ping: () => worker.postMessage({ kind: 'ping' } satisfies ToThread),
      onHung() {
        log.error('thread of streams hangs and is ended')
        lose(worker, 'the thread of the stream hung, and was ended')
        void worker.terminate()
      },
    })
    worker.on('message', (message: FromThread) => {
      watch.heard()
      if (message !== 'pong') tell(message.id, message.event)
    })
    worker.on('error', (error) => {
      log.error({ err: error }, 'thread of streams failed')
      lose(worker, ended)
    })
    worker.on('exit', () => lose(worker, ended))
    thread = { worker, watch }
    return thread
  }

  return {
    name: 'streams',
    start: () => Promise.resolve(),
    open(order, onEvent): AudioStream {
      const tenant = actingTenant()
      // First, since it throws if the system has no thread left.
      const own = running()
      const cost = costOf(order)
      pool.take(tenant, cost)
      lastId += 1
      const id = lastId
      open.set(id, { onEvent, tenant, cost })
      const post = (message: ToThread): void => {
        // A dead thread gets no messages, and its streams have ended.
        if (thread === own && open.has(id)) own.worker.postMessage(message)
      }
      post({ kind: 'open', id, order })
      own.watch.begin()
      return {
        send: (text) => post({ kind: 'send', id, text }),
        setMode: (mode) => post({ kind: 'mode', id, mode }),
        close: () => post({ kind: 'close', id }),
      }
    },
    async stop() {
      if (thread === undefined) return
      const { worker: ending, watch } = thread
      watch.end()
      const gone = new Promise<void>((resolve) => ending.once('exit', () => resolve()))
      ending.postMessage({ kind: 'stop' } satisfies ToThread)
      const timer = setTimeout(() => void ending.terminate(), stopLimitMs)
      await gone
      clearTimeout(timer)
    },
  }
}
