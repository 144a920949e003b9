// The phones of one room, in a separate process: each sends a packet every 20 ms, in its own rhythm. Two speak, with a
// loud packet now and then. All others send silence, and note when they hear which of the two, and how evenly packets
// arrive.
import { fork } from 'node:child_process'
import { createSocket, type Socket } from 'node:dgram'
import { constants, setPriority } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { createLaws } from '../src/media/codecs/g711.ts'

export interface HeardInRoom {
  /** The time from sending a loud packet until its sound arrived, over all listeners. */
  readonly delayMs: { readonly p50: number; readonly p99: number; readonly largest: number }
  /** The time between two packets of one listener. */
  readonly spacingMs: { readonly p1: number; readonly p99: number }
  readonly received: number
  /** The number of times that a listener did not hear a loud packet, out of `due`. */
  readonly missed: number
  readonly due: number
  /** The lateness of the phones themselves, p99. */
  readonly ownLateMs: number
}

export interface RoomCrowd {
  readonly ports: readonly number[]
  talk(to: readonly number[]): Promise<void>
  reset(): Promise<void>
  report(): Promise<HeardInRoom>
  close(): Promise<void>
}

type Command =
  | { readonly kind: 'talk'; readonly to: readonly number[] }
  | { readonly kind: 'reset' }
  | { readonly kind: 'report' }

/** Starts the crowd. Its sockets are bound when this resolves. */
export async function startRoomCrowd(phones: number): Promise<RoomCrowd> {
  const child = fork(fileURLToPath(import.meta.url), [String(phones)], { execArgv: [] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const answer = <T>(): Promise<T> =>
    new Promise((resolve) => child.once('message', (message) => resolve(message as T)))
  const ask = <T>(command: Command): Promise<T> => {
    const answered = answer<T>()
    child.send(command)
    return answered
  }
  const ports = await answer<number[]>()
  return {
    ports,
    talk: (to) => ask({ kind: 'talk', to }),
    reset: () => ask({ kind: 'reset' }),
    report: () => ask({ kind: 'report' }),
    async close() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

const packetMs = 20
const frameBytes = 160
// The interval of loud packets of each speaker, in packets; those of the other speaker fall halfway between them.
const loudEvery = 50
const speakers = 2
// Louder than anything else the two send, and quiet enough that the sum of both is not clipped.
const loudLevel = 12_000
const voiceLevel = 600

interface Phone {
  readonly socket: Socket
  readonly index: number
  to: number | undefined
  sent: number
  startMs: number
  lastMs: number | undefined
}

function runCrowd(count: number): void {
  try {
    setPriority(constants.priority.PRIORITY_HIGH)
  } catch {
    // Only some users may do this; without it the figures are a little worse.
  }
  const { encode, decode } = createLaws().PCMU
  const octetOf = (sample: number): number => encode[sample & 0xffff] ?? 0
  const silence = Buffer.alloc(frameBytes, 0xff)
  const loud = [Buffer.alloc(frameBytes, octetOf(loudLevel)), Buffer.alloc(frameBytes, octetOf(-loudLevel))]
  const voice = Buffer.alloc(frameBytes)
  for (let at = 0; at < frameBytes; at += 1)
    voice[at] = octetOf(Math.round(voiceLevel * Math.sin((2 * Math.PI * 400 * at) / 8000)))
  /** The time of each speaker's last loud packet, and the phones that have heard it. */
  const said = [
    { atMs: 0, heardBy: new Set<number>() },
    { atMs: 0, heardBy: new Set<number>() },
  ]
  let delays: number[] = []
  let spacings: number[] = []
  let received = 0
  let missed = 0
  let louds = 0
  const lateness = monitorEventLoopDelay({ resolution: 1 })
  lateness.enable()

  const soundOf = ({ index, sent }: Phone): Buffer => {
    const own = said[index]
    if (own === undefined) return silence
    if (sent % loudEvery !== (index * loudEvery) / speakers) return voice
    if (own.atMs > 0) {
      louds += 1
      missed += count - speakers - own.heardBy.size
    }
    own.atMs = performance.now()
    own.heardBy = new Set()
    return loud[index] ?? voice
  }

  const send = (phone: Phone): void => {
    if (phone.to === undefined) return
    const packet = Buffer.alloc(12 + frameBytes)
    packet.writeUInt8(0x80, 0)
    packet.writeUInt16BE(phone.sent & 0xffff, 2)
    packet.writeUInt32BE((phone.sent * frameBytes) >>> 0, 4)
    packet.writeUInt32BE(phone.index + 1, 8)
    soundOf(phone).copy(packet, 12)
    phone.sent += 1
    phone.socket.send(packet, phone.to, '127.0.0.1')
  }

  const hear = (phone: Phone, datagram: Buffer): void => {
    if (datagram.length !== 12 + frameBytes || phone.index < speakers) return
    const nowMs = performance.now()
    received += 1
    if (phone.lastMs !== undefined) spacings.push(nowMs - phone.lastMs)
    phone.lastMs = nowMs
    const sample = decode[datagram[12 + frameBytes / 2] ?? 0] ?? 0
    if (Math.abs(sample) < loudLevel / 2) return
    const speaker = said[sample > 0 ? 0 : 1]
    if (speaker === undefined || speaker.heardBy.has(phone.index)) return
    speaker.heardBy.add(phone.index)
    delays.push(nowMs - speaker.atMs)
  }

  const phones = Array.from({ length: count }, (_, index): Phone => {
    const socket = createSocket({ type: 'udp4', lookup: (host, _options, found) => found(null, host, 4) })
    const phone = { socket, index, to: undefined, sent: 0, startMs: 0, lastMs: undefined }
    socket.on('message', (datagram) => hear(phone, datagram))
    return phone
  })

  const beat = (): void => {
    const nowMs = performance.now()
    for (const phone of phones)
      while (phone.to !== undefined && phone.startMs + phone.sent * packetMs <= nowMs) send(phone)
    setTimeout(beat, 1)
  }

  const forget = (): void => {
    delays = []
    spacings = []
    received = missed = louds = 0
    lateness.reset()
  }

  const answers: { readonly [K in Command['kind']]: (command: Command & { kind: K }) => unknown } = {
    talk({ to }) {
      const nowMs = performance.now()
      for (const phone of phones) {
        phone.to = to[phone.index]
        phone.sent = 0
        phone.startMs = nowMs + (phone.index * packetMs) / count
      }
      return null
    },
    reset() {
      forget()
      return null
    },
    report(): HeardInRoom {
      return {
        delayMs: { p50: part(delays, 0.5), p99: part(delays, 0.99), largest: part(delays, 1) },
        spacingMs: { p1: part(spacings, 0.01), p99: part(spacings, 0.99) },
        received,
        missed,
        due: louds * (count - speakers),
        ownLateMs: lateness.percentile(99) / 1e6,
      }
    },
  }

  process.on('message', (command: Command) => process.send?.(answers[command.kind](command as never) ?? null))
  // A bind that needs no name look-up completes immediately.
  const bound = phones.map(
    ({ socket }) =>
      new Promise<number>((resolve) => {
        socket.bind(0, '127.0.0.1', () => resolve(socket.address().port))
      }),
  )
  void Promise.all(bound).then((ports) => process.send?.(ports))
  beat()
}

function part(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

if (process.argv[1] === fileURLToPath(import.meta.url)) runCrowd(Number(process.argv[2]))
