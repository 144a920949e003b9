// The entry point of the thread that hashes passwords.
import { argon2Sync } from 'node:crypto'
import { constants, getPriority, platform, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { HashReply, HashRequest } from './hash-thread.ts'

/**
 * Lowers the priority of the thread. A hash takes a processor for tens of milliseconds; with few processors all other
 * work comes first. A tenth of a fully loaded one remains, so that a login waits for some hundred milliseconds and not
 * until the load ends.
 */
function comeLast(): void {
  // On Linux the priority applies to the calling thread; elsewhere it would apply to the whole process.
  if (platform() !== 'linux') return
  try {
    setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL))
  } catch {
    // Then all threads have the same priority: logins delay other work longer, but still succeed.
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
