// The thread of streams from outside: started with the first stream, again when it has died; how many streams there may be.
import { Worker } from 'node:worker_threads'
import { actingTenant } from '../lib/acting-for.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import { TenantPool } from '../lib/tenant-pool.ts'
import type { FromThread, ThreadSetup, ToThread } from './messages.ts'
import { noFigures } from '../contracts/audio-stream.ts'
import type { AudioStream, StreamEvent, Streams } from '../contracts/audio-stream.ts'

export interface StreamsOptions extends ThreadSetup {
  readonly log: Logger
  /** The most of them that may be of one account while no other has any, in percent. */
  readonly sharePercent?: number | undefined
  readonly createThread?: (setup: ThreadSetup) => Worker
}

/** What one thread carries at 8 kHz in both directions, on a processor of its own. */
const maxStreams = 400
const stopLimitMs = 2000

interface Open {
  readonly onEvent: (event: StreamEvent) => void
  readonly tenant: string | undefined
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
    createThread = createStreamThread,
  } = options
  const pool = new TenantPool({ size: maxStreams, percent, tooMany: 'too many audio streams are open' })
  const open = new Map<number, Open>()
  let thread: Worker | undefined
  let lastId = 0

  function tell(id: number, event: StreamEvent): void {
    const stream = open.get(id)
    if (stream === undefined) return
    if (event.type === 'ended') {
      open.delete(id)
      pool.give(stream.tenant, 1)
    }
    stream.onEvent(event)
  }

  function lose(dead: Worker): void {
    if (thread !== dead) return
    thread = undefined
    const end = { by: 'lost', because: 'the thread of the stream ended', figures: noFigures } as const
    for (const id of [...open.keys()]) tell(id, { type: 'ended', end })
  }

  function running(): Worker {
    if (thread !== undefined) return thread
    const started = createThread({ allow, nameServers, limits })
    started.on('message', ({ id, event }: FromThread) => tell(id, event))
    started.on('error', (error) => {
      log.error({ err: error }, 'thread of streams failed')
      lose(started)
    })
    started.on('exit', () => lose(started))
    thread = started
    return started
  }

  return {
    name: 'streams',
    start: () => Promise.resolve(),
    open(order, onEvent): AudioStream {
      const tenant = actingTenant()
      pool.take(tenant, 1)
      lastId += 1
      const id = lastId
      open.set(id, { onEvent, tenant })
      const own = running()
      const post = (message: ToThread): void => {
        // One that has died takes nothing, and its streams have ended.
        if (thread === own && open.has(id)) own.postMessage(message)
      }
      post({ kind: 'open', id, order })
      return {
        send: (text) => post({ kind: 'send', id, text }),
        setMode: (mode) => post({ kind: 'mode', id, mode }),
        close: () => post({ kind: 'close', id }),
      }
    },
    async stop() {
      const ending = thread
      if (ending === undefined) return
      const gone = new Promise<void>((resolve) => ending.once('exit', () => resolve()))
      ending.postMessage({ kind: 'stop' } satisfies ToThread)
      const timer = setTimeout(() => void ending.terminate(), stopLimitMs)
      await gone
      clearTimeout(timer)
    },
  }
}
