// The entry of the thread that hashes passwords.
import { argon2Sync } from 'node:crypto'
import { constants, getPriority, platform, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { HashReply, HashRequest } from './hash-thread.ts'

/**
 * A hash takes a processor for tens of milliseconds: where there are few, all other work comes first. A tenth of a
 * full one is left to it, so that a login waits for some hundred milliseconds and not for the load to end.
 */
function comeLast(): void {
  // On Linux the priority is the calling thread's; elsewhere it would be the whole process's.
  if (platform() !== 'linux') return
  try {
    setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL))
  } catch {
    // Then all threads are equal: logins delay others longer, and are no less right.
  }
}

if (parentPort === null) throw new Error('hash-worker.ts runs in a worker thread only')
const port = parentPort
comeLast()
port.on('message', ({ id, job }: HashRequest) => {
  let reply: HashReply
  try {
    reply = { id, key: argon2Sync('argon2id', job) }
  } catch (error) {
    reply = { id, error: error instanceof Error ? error : new Error(String(error)) }
  }
  port.postMessage(reply)
})
