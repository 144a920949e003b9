// The main thread's end of a database thread: started at its first job, jobs answered in order.
import { Worker } from 'node:worker_threads'
import { demandPresence, goneError } from '../lib/asker.ts'
import type { Asker } from '../lib/asker.ts'
import type { Logger } from '../lib/log.ts'
import type { ThreadJob, ThreadReply, ThreadRequest, ThreadRole } from './sqlite-thread.ts'

export interface ThreadClient {
  /** A job that has not begun when whoever asks has gone is not run, and rejects with `goneError`. */
  run(job: ThreadJob, asker?: Asker): Promise<unknown>
  /** Ends the thread after the jobs it has. */
  close(): Promise<void>
}

interface Job {
  readonly job: ThreadJob
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
  readonly asker: Asker | undefined
  /** When whoever asks goes before the job is sent. */
  readonly callOff: () => void
}

// A thread that answers slower than this is asked no more: the caller is told instead of the memory filling up.
const maxWaiting = 1000
// One runs and one is there when it ends. The others wait here, where they can still be called off.
const maxSent = 2

export function createThreadClient(path: string, role: ThreadRole, log: Logger): ThreadClient {
  const queue = new Set<Job>()
  const sent = new Map<number, Job>()
  let worker: Worker | undefined
  let lastId = 0
  let closed = false

  function started(): Worker {
    if (worker !== undefined) return worker
    const thread = new Worker(new URL('./sqlite-thread.ts', import.meta.url), {
      workerData: { path, role },
      name: `database ${role}`,
    })
    thread.on('message', (reply: ThreadReply) => {
      const asked = sent.get(reply.id)
      sent.delete(reply.id)
      send()
      if (sent.size === 0) thread.unref()
      if ('error' in reply) asked?.reject(reply.error)
      else asked?.resolve(reply.result)
    })
    // A thread that died takes along the jobs it was sent; the next one starts another thread.
    const gone = (error: Error): void => {
      if (worker !== thread) return
      worker = undefined
      for (const { reject } of sent.values()) reject(error)
      sent.clear()
      send()
    }
    thread.on('error', (error) => {
      log.error({ err: error, role }, 'database thread failed')
      gone(error)
    })
    thread.on('exit', () => gone(new Error('database thread ended')))
    worker = thread
    return thread
  }

  function send(): void {
    for (const next of queue) {
      if (sent.size >= maxSent) return
      queue.delete(next)
      next.asker?.offGone(next.callOff)
      const request: ThreadRequest = { id: ++lastId, job: next.job }
      const thread = started()
      thread.ref()
      sent.set(request.id, next)
      thread.postMessage(request)
    }
  }

  return {
    run(job, asker) {
      if (closed) return Promise.reject(new Error('storage is stopped'))
      if (queue.size + sent.size >= maxWaiting)
        return Promise.reject(new Error('database thread has too many jobs'))
      return new Promise((resolve, reject) => {
        demandPresence(asker)
        const callOff = (): void => {
          if (queue.delete(asked)) reject(goneError())
        }
        const asked: Job = { job, resolve, reject, asker, callOff }
        queue.add(asked)
        asker?.onGone(callOff)
        send()
      })
    },
    async close() {
      closed = true
      for (const { reject } of queue) reject(new Error('storage is stopped'))
      queue.clear()
      await worker?.terminate()
    },
  }
}
