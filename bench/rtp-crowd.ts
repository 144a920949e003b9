// Many phones in a separate process, two by two: each sends a packet every 20 ms, in its own rhythm: silence with a
// loud one now and then. Each notes when its partner's loud packet is heard.
import { fork } from 'node:child_process'
import { createSocket, type Socket } from 'node:dgram'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { SrtpReceiver, SrtpSender } from '../src/media/srtp/srtp.ts'
import type { SuiteName } from '../src/media/srtp/suites.ts'
import { giveOwnShare, pin } from './cores.ts'

export interface Heard {
  readonly sent: number
  readonly received: number
  /** The time from sending a loud packet until its sound arrived. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly loud: number
  /** The delay of sent packets behind their rhythm: the lateness of the phones themselves. */
  readonly lateP99Ms: number
  readonly lateMaxMs: number
}

/** The keys with which a phone encrypts and decrypts, in base64. */
export interface PhoneKeys {
  readonly suite: SuiteName
  readonly sends: string
  readonly hears: string
}

export interface Crowd {
  readonly ports: readonly number[]
  /**
   * Sets the port to which each phone sends, and its payload type, 0 or 8; without a port the phones fall silent. With
   * keys they use SRTP, and packets that are not authentic are not counted.
   */
  talk(to: readonly number[], payloadTypes: readonly number[], keys?: readonly PhoneKeys[]): Promise<void>
  /** Forgets all that was received so far. */
  reset(): Promise<void>
  report(): Promise<Heard>
  close(): Promise<void>
}

type Command =
  | {
      readonly kind: 'talk'
      readonly to: readonly number[]
      readonly payloadTypes: readonly number[]
      readonly keys: readonly PhoneKeys[]
    }
  | { readonly kind: 'reset' }
  | { readonly kind: 'report' }

// The interval of loud packets of each phone, in packets.
const loudEvery = 50
const protectedPacket = Buffer.alloc(1500)
const silences: Readonly<Record<number, number>> = { 0: 0xff, 8: 0xd5 }
const louds: Readonly<Record<number, number>> = { 0: 0x80, 8: 0xaa }

/** Starts the crowd. Its sockets are bound when this resolves. */
export async function startCrowd(phones: number, { core }: { core?: number } = {}): Promise<Crowd> {
  const child = fork(fileURLToPath(import.meta.url), [String(phones)], { execArgv: [], detached: true })
  if (child.pid !== undefined) giveOwnShare(child.pid)
  if (core !== undefined && child.pid !== undefined) pin(child.pid, core)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const next = <T>(): Promise<T> =>
    new Promise((resolve) => child.once('message', (message) => resolve(message as T)))
  const ask = <T>(command: Command): Promise<T> => {
    const answer = next<T>()
    child.send(command)
    return answer
  }
  const ports = await next<number[]>()
  return {
    ports,
    talk: async (to, payloadTypes, keys = []) => void (await ask({ kind: 'talk', to, payloadTypes, keys })),
    reset: async () => void (await ask({ kind: 'reset' })),
    report: () => ask<Heard>({ kind: 'report' }),
    close: async () => {
      child.kill()
      await exited
    },
  }
}

interface Protection {
  readonly sender: SrtpSender
  readonly receiver: SrtpReceiver
}

function protectionOf({ suite, sends, hears }: PhoneKeys): Protection {
  const master = (base64: string): { suite: SuiteName; key: Buffer } => ({
    suite,
    key: Buffer.from(base64, 'base64'),
  })
  return { sender: new SrtpSender(master(sends)), receiver: new SrtpReceiver(master(hears)) }
}

interface Phone {
  readonly socket: Socket
  readonly packet: Buffer
  to: number
  payloadType: number
  protection: Protection | undefined
  packets: number
  /** The time of the phone's last loud packet, until it is heard. */
  loudMs: number | undefined
}

class Phones {
  readonly #phones: Phone[] = []
  #sent = 0
  #received = 0
  #delays: number[] = []
  #lateness: number[] = []
  #startMs = 0
  #step = 0
  #timer: NodeJS.Timeout | undefined

  async open(count: number): Promise<number[]> {
    for (let index = 0; index < count; index += 1) {
      const socket = createSocket({
        type: 'udp4',
        recvBufferSize: 256 * 1024,
        lookup: (host, _options, found) => found(null, host, 4),
      })
      socket.on('message', (datagram) => this.#onPacket(index, datagram))
      await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
      const packet = Buffer.alloc(172)
      packet.writeUInt8(0x80, 0)
      packet.writeUInt32BE(index + 1, 8)
      this.#phones.push({
        ...{ socket, packet, to: 0, payloadType: 0, packets: 0 },
        ...{ protection: undefined, loudMs: undefined },
      })
    }
    return this.#phones.map(({ socket }) => socket.address().port)
  }

  talk(to: readonly number[], payloadTypes: readonly number[], keys: readonly PhoneKeys[]): void {
    clearTimeout(this.#timer)
    for (const [index, phone] of this.#phones.entries()) {
      phone.to = to[index] ?? 0
      phone.payloadType = payloadTypes[index] ?? 0
      const own = keys[index]
      phone.protection = own && protectionOf(own)
    }
    if (to.length === 0) return
    this.#startMs = performance.now()
    this.#step = 0
    this.#beat()
  }

  reset(): void {
    this.#sent = 0
    this.#received = 0
    this.#delays = []
    this.#lateness = []
  }

  report(): Heard {
    const sorted = Float64Array.from(this.#delays).sort()
    const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? NaN
    const lateness = Float64Array.from(this.#lateness).sort()
    return {
      sent: this.#sent,
      received: this.#received,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      loud: sorted.length,
      lateP99Ms: lateness[Math.floor(lateness.length * 0.99)] ?? NaN,
      lateMaxMs: lateness.at(-1) ?? NaN,
    }
  }

  /** Lets a twentieth of the phones send in every millisecond. */
  #beat(): void {
    const elapsedMs = performance.now() - this.#startMs
    this.#lateness.push(Math.max(0, elapsedMs - this.#step))
    const due = Math.floor(elapsedMs)
    for (; this.#step <= due; this.#step += 1)
      for (let index = this.#step % 20; index < this.#phones.length; index += 20)
        this.#send(this.#phones[index])
    this.#timer = setTimeout(() => this.#beat(), 1)
  }

  #send(phone: Phone | undefined): void {
    // A phone without a place to send to is silent.
    if (phone === undefined || phone.to === 0) return
    const { packet, payloadType, protection } = phone
    phone.packets += 1
    const isLoud = phone.packets % loudEvery === 0
    packet.fill((isLoud ? louds : silences)[payloadType] ?? 0, 12)
    packet.writeUInt8(payloadType, 1)
    packet.writeUInt16BE(phone.packets & 0xffff, 2)
    packet.writeUInt32BE((phone.packets * 160) >>> 0, 4)
    if (isLoud) phone.loudMs = performance.now()
    // The socket keeps a packet that it cannot send immediately.
    const bytes = protection?.sender.protect(packet, packet.length, protectedPacket)
    const sent =
      bytes === undefined
        ? isLoud
          ? Buffer.from(packet)
          : packet
        : Buffer.from(protectedPacket.subarray(0, bytes))
    phone.socket.send(sent, phone.to, '127.0.0.1')
    this.#sent += 1
  }

  #onPacket(index: number, datagram: Buffer): void {
    if (datagram.length < 100) return
    const packet = this.#phones[index]?.protection?.receiver.unprotect(datagram) ?? datagram
    if (typeof packet === 'string') return
    this.#received += 1
    const partner = this.#phones[index ^ 1]
    if (partner?.loudMs === undefined) return
    const loud = louds[(packet[1] ?? 0) & 0x7f] ?? 0
    if (!packet.includes(loud, 12)) return
    this.#delays.push(performance.now() - partner.loudMs)
    partner.loudMs = undefined
  }
}

async function run(count: number): Promise<void> {
  try {
    setPriority(constants.priority.PRIORITY_HIGHEST)
  } catch {
    // Without the right to do so, the figures include the lateness of this process.
  }
  const phones = new Phones()
  process.on('disconnect', () => process.exit())
  process.on('message', (command: Command) => {
    if (command.kind === 'report') return process.send?.(phones.report())
    if (command.kind === 'talk') phones.talk(command.to, command.payloadTypes, command.keys)
    else phones.reset()
    return process.send?.(true)
  })
  process.send?.(await phones.open(count))
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.send !== undefined)
  await run(Number(process.argv[2]))
