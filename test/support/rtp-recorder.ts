// Many far ends in a separate process: measures how evenly packets arrive, undisturbed by the process under test.
import { fork } from 'node:child_process'
import { createSocket, type Socket } from 'node:dgram'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'

export interface Pacing {
  readonly packets: number
  /** The spacing of packets of one stream. */
  readonly p50Ms: number
  readonly p1Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** The number of packets that never came, by their sequence numbers. */
  readonly lost: number
  /** The drift of the RTP timestamps against the receiver's clock over the run, for the worst stream. */
  readonly driftMs: number
  /** The most packets of one stream within 5 ms. */
  readonly largestBurst: number
}

interface Stream {
  ssrc: number | undefined
  readonly arrivals: number[]
  readonly timestamps: number[]
  readonly sequences: number[]
}

export interface Recorder {
  readonly ports: readonly number[]
  /** Sends silence from each port to the port with the same index from now on, each with its own rhythm of 20 ms. */
  talk(to: readonly number[]): Promise<void>
  /** Discards the packets so far. */
  reset(): Promise<void>
  report(): Promise<Pacing>
  close(): Promise<void>
}

type Command = 'reset' | 'report' | { readonly talkTo: readonly number[] }

/** Starts the process; its sockets are bound when this resolves. */
export async function startRecorder(streams: number): Promise<Recorder> {
  const child = fork(fileURLToPath(import.meta.url), [String(streams)], { execArgv: [] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const next = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      child.once('message', (message) => resolve(message as T))
      child.once('error', reject)
    })
  const ask = <T>(command: Command): Promise<T> => {
    const answer = next<T>()
    child.send(command)
    return answer
  }
  const ports = await next<number[]>()
  return {
    ports,
    talk: async (to) => {
      await ask<true>({ talkTo: to })
    },
    reset: async () => {
      await ask<true>('reset')
    },
    report: () => ask<Pacing>('report'),
    close: async () => {
      child.kill()
      await exited
    },
  }
}

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Returns the slope of lateness over the stream, from medians of both ends: single late packets are not drift. */
function driftOf({ arrivals, timestamps }: Stream): number {
  const lateness = arrivals.map(
    (at, index) => at - (((timestamps[index] ?? 0) - (timestamps[0] ?? 0)) | 0) / 8,
  )
  const part = Math.max(1, Math.floor(lateness.length / 10))
  const median = (values: number[]): number => percentile(Float64Array.from(values).sort(), 0.5)
  return Math.abs(median(lateness.slice(-part)) - median(lateness.slice(0, part)))
}

function burstOf({ arrivals }: Stream): number {
  let largest = 0
  for (let from = 0, to = 0; to < arrivals.length; to += 1) {
    while ((arrivals[to] ?? 0) - (arrivals[from] ?? 0) > 5) from += 1
    largest = Math.max(largest, to - from + 1)
  }
  return largest
}

function toPacing(streams: readonly Stream[]): Pacing {
  const heard = streams.filter(({ arrivals }) => arrivals.length > 1)
  const gaps = Float64Array.from(
    heard.flatMap(({ arrivals }) => arrivals.slice(1).map((at, index) => at - (arrivals[index] ?? 0))),
  ).sort()
  const lost = heard.map(({ sequences }) => {
    const first = sequences[0] ?? 0
    return (
      (((sequences.at(-1) ?? 0) - first) & 0xffff) +
      1 -
      new Set(sequences.map((one) => (one - first) & 0xffff)).size
    )
  })
  return {
    packets: streams.reduce((sum, { arrivals }) => sum + arrivals.length, 0),
    p50Ms: percentile(gaps, 0.5),
    p1Ms: percentile(gaps, 0.01),
    p99Ms: percentile(gaps, 0.99),
    maxMs: gaps.at(-1) ?? Number.NaN,
    lost: lost.reduce((sum, one) => sum + Math.max(0, one), 0),
    driftMs: Math.max(0, ...heard.map(driftOf)),
    largestBurst: Math.max(0, ...heard.map(burstOf)),
  }
}

/** Raises the priority: the measurement must not be late itself. Without root the figures include its own lateness. */
function comeFirst(): void {
  try {
    setPriority(constants.priority.PRIORITY_HIGHEST)
  } catch {
    // Without root the priority stays as it was.
  }
}

/** Sends: every millisecond a twentieth of the sockets. */
function talk(sockets: readonly Socket[], to: readonly number[]): void {
  const startMs = performance.now()
  let step = 0
  const beat = (): void => {
    for (const due = performance.now() - startMs; step <= due; step += 1)
      for (let index = step % 20; index < sockets.length; index += 20) {
        const packet = Buffer.alloc(172, 0xff)
        const sent = Math.floor(step / 20)
        packet.writeUInt16BE(0x8000, 0)
        packet.writeUInt16BE(sent & 0xffff, 2)
        packet.writeUInt32BE((sent * 160) >>> 0, 4)
        packet.writeUInt32BE(index + 1, 8)
        sockets[index]?.send(packet, to[index], '127.0.0.1')
      }
    setTimeout(beat, 1)
  }
  beat()
}

async function record(count: number): Promise<void> {
  comeFirst()
  const empty = (): Stream => ({ ssrc: undefined, arrivals: [], timestamps: [], sequences: [] })
  let streams = Array.from({ length: count }, empty)
  const sockets = await Promise.all(
    streams.map(async (_, index) => {
      const socket = createSocket({
        type: 'udp4',
        recvBufferSize: 256 * 1024,
        lookup: (host, _options, found) => found(null, host, 4),
      })
      socket.on('message', (datagram) => {
        const stream = streams[index]
        // The port had another owner before; packets for that one are not measured.
        if (stream === undefined || datagram.length < 12 || datagram[0] !== 0x80) return
        stream.ssrc ??= datagram.readUInt32BE(8)
        if (stream.ssrc !== datagram.readUInt32BE(8)) return
        stream.arrivals.push(performance.now())
        stream.timestamps.push(datagram.readUInt32BE(4))
        stream.sequences.push(datagram.readUInt16BE(2))
      })
      await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
      return socket
    }),
  )
  process.on('message', (command: Command) => {
    if (command === 'report') return process.send?.(toPacing(streams))
    if (command !== 'reset') talk(sockets, command.talkTo)
    else streams = Array.from({ length: count }, empty)
    return process.send?.(true)
  })
  // The parent has exited.
  process.on('disconnect', () => process.exit())
  process.send?.(sockets.map((socket) => socket.address().port))
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.send !== undefined)
  await record(Number(process.argv[2]))
