// The entry of the recording thread. A stalled disk stops only this thread, and no call.
import { parentPort, workerData } from 'node:worker_threads'
import { RecorderHost, type FromRecorder, type ToRecorder } from './recorder-host.ts'

/** The rings hold forty times this much. */
const tickMs = 100

if (parentPort === null) throw new Error('recorder-worker.ts runs in a worker thread only')
const port = parentPort
const { room } = workerData as { readonly room: number }
const host = new RecorderHost((message: FromRecorder) => port.postMessage(message), room)
port.on('message', (message: ToRecorder) => host.take(message))
setInterval(() => host.tick(), tickMs)
