// The entry of a thread that finishes one file.
import { parentPort, workerData } from 'node:worker_threads'
import { finish, type FinishJob } from './finish.ts'

if (parentPort === null) throw new Error('finish-worker.ts runs in a worker thread only')
parentPort.postMessage(await finish(workerData as FinishJob))
