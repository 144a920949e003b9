// Finishes files, each in a thread of its own: encoding ten minutes of a call takes a processor for a second.
import { Worker } from 'node:worker_threads'
import type { Finished, FinishJob } from './finish.ts'

/** Rejects with the error of the thread, or with the reason of the signal. */
export function finishInThread(job: FinishJob, signal: AbortSignal): Promise<Finished> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<Finished>()
  const worker = new Worker(new URL('./finish-worker.ts', import.meta.url), {
    name: 'recording',
    workerData: job,
  })
  const abort = (): void => {
    reject(signal.reason)
    void worker.terminate()
  }
  signal.addEventListener('abort', abort, { once: true })
  worker.on('message', resolve)
  worker.on('error', reject)
  worker.on('exit', () => {
    signal.removeEventListener('abort', abort)
    reject(new Error('the thread that finishes recordings has ended'))
  })
  return promise
}
