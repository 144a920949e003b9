// The thread of streams from outside: its start with the first stream, its restart when it died or hangs, and the limit
// on streams.
import { Worker } from 'node:worker_threads'
import { actingTenant } from '../lib/acting-for.ts'
import { systemClock, type Clock } from '../lib/clock.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import { telephoneRate } from '../lib/audio/resampler.ts'
import { TenantPool } from '../lib/bounds/tenant-pool.ts'
import {
  soundVendor,
  type RecognitionEvent,
  type RecognitionOrder,
  type Recognisers,
  type Recognising,
} from '../contracts/recognition.ts'
import { adviceFor } from './recognition/not-heard.ts'
import { heardVendors, vendorNameOf } from './recognition/vendor-names.ts'
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

type AnyEvent = StreamEvent | RecognitionEvent

interface Open {
  readonly onEvent: (event: AnyEvent) => void
  /** Returns the last event for a thread that died. */
  readonly lost: (because: string) => AnyEvent
  readonly tenant: string | undefined
  readonly cost: number
}

type OpeningOrder =
  | { readonly kind: 'open'; readonly order: StreamOrder }
  | { readonly kind: 'recognise'; readonly order: RecognitionOrder }

function createStreamThread(workerData: ThreadSetup): Worker {
  return new Worker(new URL('./thread.ts', import.meta.url), { workerData, name: 'streams' })
}

export function createStreams(options: StreamsOptions): Streams & Recognisers & Part {
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

  function tell(id: number, event: AnyEvent): void {
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
    for (const [id, { lost }] of [...open]) tell(id, lost(because))
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

  /** Opens a stream or a recogniser in the thread. Throws if there is no room for it. */
  function begin(one: Pick<Open, 'onEvent' | 'lost' | 'cost'>, order: OpeningOrder) {
    const tenant = actingTenant()
    // First, since it throws if the system has no thread left.
    const own = running()
    pool.take(tenant, one.cost)
    lastId += 1
    const id = lastId
    open.set(id, { ...one, tenant })
    const post = (message: ToThread): void => {
      // A dead thread gets no messages, and its streams have ended.
      if (thread === own && open.has(id)) own.worker.postMessage(message)
    }
    post({ ...order, id })
    own.watch.begin()
    return { id, post }
  }

  return {
    name: 'streams',
    start: () => Promise.resolve(),
    open(order, onEvent): AudioStream {
      const lost = (because: string): StreamEvent => ({
        type: 'ended',
        end: { by: 'lost', because, figures: noFigures },
      })
      const told = onEvent as Open['onEvent']
      const { id, post } = begin({ onEvent: told, lost, cost: costOf(order) }, { kind: 'open', order })
      return {
        send: (text) => post({ kind: 'send', id, text }),
        setMode: (mode) => post({ kind: 'mode', id, mode }),
        close: () => post({ kind: 'close', id }),
      }
    },
    whyNot: (vendor) =>
      vendor !== soundVendor && !heardVendors.has(vendorNameOf(vendor))
        ? (adviceFor(vendor) ?? `${vendor} is not a vendor that can recognise speech here`)
        : undefined,
    recognise(order: RecognitionOrder, onEvent): Recognising {
      const lost = (because: string): RecognitionEvent => ({
        type: 'ended',
        end: { by: 'lost', because, audio_ms: 0, socket_ms: 0 },
      })
      const told = onEvent as Open['onEvent']
      const cost = costOf({ rate: order.side.rate, channels: 1 })
      const { id, post } = begin({ onEvent: told, lost, cost }, { kind: 'recognise', order })
      return {
        finalize: () => post({ kind: 'finalize', id }),
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
