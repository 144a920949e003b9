// The entry of a media worker thread: joins its host to the port of the main thread.
import { constants, platform, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { Envelope } from './messages.ts'
import type { WorkerSetup } from './worker-setup.ts'
import { WorkerHost } from './worker-host.ts'

/** A late packet is heard, a late database row is not: where the operator allows it, packets come first. */
function comeFirst(): void {
  // On Linux the priority is the calling thread's; elsewhere it would be the whole process's, which gains nothing.
  if (platform() !== 'linux') return
  try {
    setPriority(constants.priority.PRIORITY_HIGH)
  } catch {
    // Without CAP_SYS_NICE all threads are equal, which a machine that is not overloaded does not notice.
  }
}

if (parentPort === null) throw new Error('worker.ts runs in a worker thread only')
const port = parentPort
// Both ends of this port are ours and of one version: the types of messages.ts hold without a check.
const host = new WorkerHost(workerData as WorkerSetup, (message) => port.postMessage(message))
port.on('message', (envelopes: readonly Envelope[]) => {
  for (const envelope of envelopes)
    void host.accept(envelope).then(() => {
      if (envelope.request.kind === 'stop') port.close()
    })
})
comeFirst()
host.start()
