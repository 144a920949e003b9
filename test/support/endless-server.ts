// A server that never comes to the end of what it sends, in a thread of its own, so that the processor time of the
// test's thread is that of the reader; and what the reader took.
import { once } from 'node:events'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { Worker } from 'node:worker_threads'

export const endlessAnswers = [
  'trailers',
  'headers',
  'a long header',
  'a long reason',
  'line ends',
  'chunks of one byte',
  'a chunk extension',
  'chunk extensions',
  'a chunk size',
  'interim responses',
  'long interim responses',
  'a body',
] as const

export const endlessFrames = [
  'fragments of a message',
  'a message that is too long',
  'a message of 2^63 bytes',
  'text that is not UTF-8',
  'frames with reserved bits',
  'frames of no known kind',
  'a masked frame',
  'frames after its close',
  'frames after our close',
] as const

export type EndlessKind = (typeof endlessAnswers)[number] | (typeof endlessFrames)[number]

export interface EndlessServer {
  /** Returns the URL whose answer, or WebSocket, is of this kind. */
  urlOf(kind: EndlessKind): string
  /** Resolves with the code of the next close frame of a reader of this kind. */
  closeCode(kind: EndlessKind): Promise<number>
  close(): Promise<void>
}

export async function startEndlessServer(): Promise<EndlessServer> {
  const thread = new Worker(new URL('./endless-server-thread.ts', import.meta.url))
  const [port] = (await once(thread, 'message')) as [number]
  return {
    urlOf: (kind) => `http://127.0.0.1:${port}/${encodeURIComponent(kind)}`,
    closeCode: (kind) =>
      new Promise((resolve) => {
        const take = (close: { readonly kind: EndlessKind; readonly code: number }): void => {
          if (close.kind !== kind) return
          thread.off('message', take)
          resolve(close.code)
        }
        thread.on('message', take)
      }),
    close: async () => void (await thread.terminate()),
  }
}

export interface Taken {
  /** The bytes that all connections made meanwhile have read. */
  readonly bytes: number
  /** The processor time of this thread. */
  readonly cpuMs: number
  readonly elapsedMs: number
}

/** Returns what the work has read from connections that it made, and the processor time that it took. */
export async function takenBy(work: () => Promise<unknown>): Promise<Taken> {
  const sockets: Socket[] = []
  const note = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket)
  subscribe('net.client.socket', note)
  const startedMs = performance.now()
  const before = process.threadCpuUsage()
  try {
    await work()
    const { user, system } = process.threadCpuUsage(before)
    const elapsedMs = performance.now() - startedMs
    return {
      bytes: sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
      cpuMs: (user + system) / 1000,
      elapsedMs,
    }
  } finally {
    unsubscribe('net.client.socket', note)
  }
}
