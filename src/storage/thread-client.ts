// The main thread's end of a database thread: started at its first job, jobs answered in order.
import { Worker } from 'node:worker_threads'
import type { Logger } from '../lib/log.ts'
import type { ThreadJob, ThreadReply, ThreadRequest, ThreadRole } from './sqlite-thread.ts'

export interface ThreadClient {
  run(job: ThreadJob): Promise<unknown>
  /** Ends the thread after the jobs it has. */
  close(): Promise<void>
}

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

// A thread that answers slower than this is asked no more: the caller is told instead of the memory filling up.
const maxWaiting = 1000

export function createThreadClient(path: string, role: ThreadRole, log: Logger): ThreadClient {
  const waiting = new Map<number, Waiting>()
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
      const asked = waiting.get(reply.id)
      waiting.delete(reply.id)
      if (waiting.size === 0) thread.unref()
      if ('error' in reply) asked?.reject(reply.error)
      else asked?.resolve(reply.result)
    })
    // A thread that died takes its jobs with it; the next job starts another.
    const gone = (error: Error): void => {
      if (worker === thread) worker = undefined
      for (const { reject } of waiting.values()) reject(error)
      waiting.clear()
    }
    thread.on('error', (error) => {
      log.error({ err: error, role }, 'database thread failed')
      gone(error)
    })
    thread.on('exit', () => gone(new Error('database thread ended')))
    worker = thread
    return thread
  }

  return {
    run(job) {
      if (closed) return Promise.reject(new Error('storage is stopped'))
      if (waiting.size >= maxWaiting) return Promise.reject(new Error('database thread has too many jobs'))
      const id = ++lastId
      return new Promise((resolve, reject) => {
        const thread = started()
        thread.ref()
        waiting.set(id, { resolve, reject })
        const request: ThreadRequest = { id, job }
        thread.postMessage(request)
      })
    },
    async close() {
      closed = true
      await worker?.terminate()
    },
  }
}
