// A relay in Node and nothing more: a thread with one socket for each phone, which forwards each packet to the phone's
// partner without reading it. The platform's figure is compared with it.
import { createSocket } from 'node:dgram'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'

export interface BareRelay {
  /** The port to which each phone sends. */
  readonly ports: readonly number[]
  close(): Promise<void>
}

/** Starts the relay. Its thread is named like media workers, so that it is measured like one. */
export async function startBareRelay(phones: readonly number[]): Promise<BareRelay> {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: phones, name: 'media-bare' })
  const ports = await new Promise<number[]>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  return { ports, close: async () => void (await worker.terminate()) }
}

async function relay(phones: readonly number[]): Promise<number[]> {
  const sockets = phones.map(() =>
    createSocket({ type: 'udp4', lookup: (host, _options, found) => found(null, host, 4) }),
  )
  for (const [index, socket] of sockets.entries()) {
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    socket.on('message', (datagram) =>
      sockets[index ^ 1]?.send(datagram, phones[index ^ 1] ?? 0, '127.0.0.1'),
    )
  }
  return sockets.map((socket) => socket.address().port)
}

if (!isMainThread && parentPort !== null) parentPort.postMessage(await relay(workerData as number[]))
