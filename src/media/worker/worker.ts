// The entry of a media worker thread: connects its host to the port of the main thread.
import { constants, platform, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { Envelope } from './messages.ts'
import type { WorkerSetup } from '../worker-setup.ts'
import { WorkerHost } from './worker-host.ts'

/** Raises the thread's priority if the system allows it: a late packet can be heard, a late database row cannot. */
function comeFirst(): void {
  // On Linux the priority is the calling thread's. Elsewhere it would be the whole process's, which gains nothing.
  if (platform() !== 'linux') return
  try {
    setPriority(constants.priority.PRIORITY_HIGH)
  } catch {
    // Without CAP_SYS_NICE all threads have one priority, which does not matter on a machine that is not overloaded.
  }
}

if (parentPort === null) throw new Error('worker.ts runs in a worker thread only')
const port = parentPort
// Both ends of this port belong to one version of the platform, so the types of messages.ts hold without a check.
const host = new WorkerHost(workerData as WorkerSetup, (message) => port.postMessage(message))
port.on('message', (envelopes: readonly Envelope[]) => {
  for (const envelope of envelopes)
    void host.accept(envelope).then(() => {
      if (envelope.request.kind === 'stop') port.close()
    })
})
comeFirst()
host.start()
