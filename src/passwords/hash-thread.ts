// A separate thread for password hashes, so that its priority can be lowered: the threads of the pool also open files,
// look up names and sync the database.
import { Worker } from 'node:worker_threads'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import type { Derive, DeriveJob } from './password.ts'

export interface HashRequest {
  readonly id: number
  readonly job: DeriveJob
}

export type HashReply =
  { readonly id: number; readonly key: Uint8Array } | { readonly id: number; readonly error: Error }

export interface HashThread extends Part {
  /** Derives keys one after another; the caller bounds how many wait. */
  readonly derive: Derive
}

interface Job {
  readonly resolve: (key: Buffer) => void
  readonly reject: (error: unknown) => void
}

/** Creates the thread, which starts with the first password: until the first login it costs no memory. */
export function createHashThread(log: Logger): HashThread {
  const running = new Map<number, Job>()
  let worker: Worker | undefined
  let lastId = 0
  let isStopped = false

  function started(): Worker {
    if (worker !== undefined) return worker
    const thread = new Worker(new URL('./hash-worker.ts', import.meta.url), { name: 'passwords' })
    thread.on('message', (reply: HashReply) => {
      const job = running.get(reply.id)
      running.delete(reply.id)
      if (running.size === 0) thread.unref()
      if ('error' in reply) job?.reject(reply.error)
      else job?.resolve(Buffer.from(reply.key))
    })
    // When a thread dies, its jobs fail; the next password starts another thread.
    const gone = (error: Error): void => {
      if (worker !== thread) return
      worker = undefined
      for (const { reject } of running.values()) reject(error)
      running.clear()
    }
    thread.on('error', (error) => {
      log.error({ err: error }, 'password thread failed')
      gone(error)
    })
    thread.on('exit', () => gone(new Error('password thread ended')))
    worker = thread
    return thread
  }

  return {
    name: 'passwords',
    derive: (job) =>
      new Promise((resolve, reject) => {
        if (isStopped) return reject(new Error('password thread is stopped'))
        const thread = started()
        const request: HashRequest = { id: ++lastId, job }
        running.set(request.id, { resolve, reject })
        thread.ref()
        thread.postMessage(request)
      }),
    start: () => Promise.resolve(),
    async stop() {
      isStopped = true
      await worker?.terminate()
    },
  }
}
