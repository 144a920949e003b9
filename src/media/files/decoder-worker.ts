// The entry of a thread that decodes one file.
import { constants, getPriority, platform, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { AppError, type ErrorCode } from '../../lib/errors.ts'
import { decodeFile, type DecodeJob } from './decode.ts'

export type FromDecoder =
  | { readonly kind: 'progress' }
  | { readonly kind: 'head' }
  | { readonly kind: 'done'; readonly bytes: number }
  | { readonly kind: 'failure'; readonly code: ErrorCode; readonly message: string; readonly cure: string }

if (parentPort === null) throw new Error('decoder-worker.ts runs in a worker thread only')
const port = parentPort
const post = (message: FromDecoder): void => port.postMessage(message)

// The MP3 library writes a line for each broken frame.
Object.assign(globalThis.console, { error: () => undefined })

/**
 * Lowers the thread's priority: a long file needs many seconds of a processor and is heard for an hour, so other work
 * comes first.
 */
function comeLast(): void {
  // On Linux the priority is the calling thread's; elsewhere it would be the whole process's.
  if (platform() !== 'linux') return
  try {
    setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL))
  } catch {
    // All threads then have the same priority.
  }
}

try {
  comeLast()
  const bytes = await decodeFile(workerData as DecodeJob, {
    onProgress: () => post({ kind: 'progress' }),
    onHead: () => post({ kind: 'head' }),
  })
  post({ kind: 'done', bytes })
} catch (error) {
  const { code, message, cure } =
    error instanceof AppError ? error : new AppError('audio_not_supported', 'the file cannot be decoded')
  post({ kind: 'failure', code, message, cure })
}
