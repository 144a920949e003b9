// The main thread's end of a database thread, which starts with its first job and runs jobs in order.
import { Worker } from 'node:worker_threads'
import type { Logger } from '../../lib/log.ts'
import type { ThreadJob, ThreadReply, ThreadRequest, ThreadRole } from './sqlite-thread.ts'

export interface ThreadClient {
  run(job: ThreadJob): Promise<unknown>
  /** Ends the thread; jobs that have not ended are rejected. */
  close(): Promise<void>
}

interface Job {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

// More waiting jobs than this mean that the disk has stopped working; failing is better than filling the memory.
const maxWaiting = 1000

export function createThreadClient(path: string, role: ThreadRole, log: Logger): ThreadClient {
  const jobs = new Map<number, Job>()
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
      const job = jobs.get(reply.id)
      jobs.delete(reply.id)
      if (jobs.size === 0) thread.unref()
      if ('error' in reply) job?.reject(reply.error)
      else job?.resolve(reply.result)
    })
    // When a thread dies, its jobs fail; the next job starts another thread.
    const gone = (error: Error): void => {
      if (worker !== thread) return
      worker = undefined
      for (const { reject } of jobs.values()) reject(error)
      jobs.clear()
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
      if (jobs.size >= maxWaiting) return Promise.reject(new Error('database thread has too many jobs'))
      return new Promise((resolve, reject) => {
        const request: ThreadRequest = { id: ++lastId, job }
        const thread = started()
        thread.ref()
        jobs.set(request.id, { resolve, reject })
        thread.postMessage(request)
      })
    },
    async close() {
      closed = true
      await worker?.terminate()
    },
  }
}
