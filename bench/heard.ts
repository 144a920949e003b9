// Audio quality, measured on the received RTP: a tone through a bridge and a whisper, at changes of the wiring, and
// over a network that loses and delays packets.
//   node bench/heard.ts
import { createSocket, type Socket } from 'node:dgram'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { rms, slice, tone, toWav, type Audio } from '../test/support/audio.ts'
import { createRandomBelow } from '../test/support/random.ts'
import { silentLogger } from '../src/lib/log.ts'
import { createLaws, type Law } from '../src/media/codecs/g711.ts'
import { createMedia } from '../src/media/create-media.ts'
import type { Layer } from '../src/media/wiring.ts'
import type { Media, MediaSession } from '../src/media/media.ts'
import { parseRtp, type RtpPacket } from '../src/media/rtp/packet.ts'
import { toTable, type Figure } from './figure.ts'

const sampleRate = 8000
const frameSamples = 160
const tickMs = 20
// A packet does not hold a whole number of waves, because a cut between two such packets would not be audible.
const hz = 437
const level = 0.3
const laws = createLaws()
const payloadTypes: Readonly<Record<Law, number>> = { PCMU: 0, PCMA: 8 }

interface Network {
  /** The lost packets, in percent. */
  readonly lostPercent: number
  readonly jitterMs: number
}

/** A phone that sends an endless tone, and keeps all that it receives. */
class Phone {
  readonly #socket: Socket
  readonly #law: Law
  readonly #network: Network
  readonly #below: (below: number) => number
  readonly #heard: RtpPacket[] = []
  readonly #ssrc: number
  #timer: NodeJS.Timeout | undefined
  #frames = 0
  #isClosed = false

  constructor(socket: Socket, law: Law, network: Network, seed: number) {
    this.#socket = socket
    this.#law = law
    this.#network = network
    this.#ssrc = seed
    this.#below = createRandomBelow(seed)
    socket.on('message', (datagram: Buffer) => {
      const packet = parseRtp(datagram)
      if (packet?.payloadType === payloadTypes[law]) this.#heard.push(packet)
    })
  }

  static async open(law: Law, network: Network = { lostPercent: 0, jitterMs: 0 }, seed = 1): Promise<Phone> {
    const socket = createSocket('udp4')
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    return new Phone(socket, law, network, seed)
  }

  get offer(): string {
    const { port } = this.#socket.address()
    const payloadType = payloadTypes[this.#law]
    return `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio ${port} RTP/AVP ${payloadType}\r\n`
  }

  /** Sends by an absolute schedule, so that its own lateness never accumulates. */
  say(to: number): void {
    const startMs = performance.now()
    const beat = (): void => {
      while (this.#frames * tickMs <= performance.now() - startMs) this.#send(to)
      this.#timer = setTimeout(beat, 2)
    }
    beat()
  }

  #send(to: number): void {
    const packet = Buffer.alloc(12 + frameSamples)
    packet.writeUInt8(0x80, 0)
    packet.writeUInt8(payloadTypes[this.#law], 1)
    packet.writeUInt16BE(this.#frames & 0xffff, 2)
    packet.writeUInt32BE((this.#frames * frameSamples) >>> 0, 4)
    packet.writeUInt32BE(this.#ssrc, 8)
    for (let at = 0; at < frameSamples; at += 1) {
      const angle = (2 * Math.PI * hz * (this.#frames * frameSamples + at)) / sampleRate
      const sample = Math.round(level * 32_767 * Math.sin(angle))
      packet[12 + at] = laws[this.#law].encode[sample & 0xffff] ?? 0
    }
    this.#frames += 1
    const { lostPercent, jitterMs } = this.#network
    if (this.#below(100) < lostPercent) return
    const send = (): void => {
      if (!this.#isClosed) this.#socket.send(packet, to, '127.0.0.1')
    }
    if (jitterMs === 0) send()
    else setTimeout(send, this.#below(jitterMs + 1))
  }

  /** Returns all audio received so far, each packet at the place given by its timestamp. */
  heard(): Audio {
    const [first] = this.#heard
    if (first === undefined) return { sampleRate, samples: new Float64Array() }
    const placeOf = ({ timestamp }: RtpPacket): number => (timestamp - first.timestamp) | 0
    const samples = new Float64Array(Math.max(...this.#heard.map(placeOf)) + frameSamples)
    const { decode } = laws[this.#law]
    for (const packet of this.#heard)
      for (const [at, octet] of packet.payload.entries()) {
        const place = placeOf(packet) + at
        if (place >= 0) samples[place] = (decode[octet] ?? 0) / 32_768
      }
    return { sampleRate, samples }
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#isClosed = true
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()))
  }
}

interface Stage {
  readonly media: Media
  /** A file with another tone. */
  readonly file: string
}

interface Bridged {
  readonly phones: readonly [Phone, Phone]
  readonly sessions: readonly [MediaSession, MediaSession]
}

const farOf = ({ id }: MediaSession): Layer => ({ id: 'far', from: { kind: 'session', id } })

async function bridge({ media }: Stage, laws: readonly [Law, Law], network?: Network): Promise<Bridged> {
  const phones = [await Phone.open(laws[0], network, 1), await Phone.open(laws[1], undefined, 2)] as const
  const sessions = [await media.open(), await media.open()] as const
  for (const at of [0, 1] as const) {
    await sessions[at].answer(phones[at].offer)
    phones[at].say(sessions[at].port)
  }
  await sessions[0].wire({ hears: [farOf(sessions[1])] })
  await sessions[1].wire({ hears: [farOf(sessions[0])] })
  return { phones, sessions }
}

async function end({ phones, sessions }: Bridged): Promise<void> {
  await Promise.all(sessions.map((session) => session.close()))
  await Promise.all(phones.map((phone) => phone.close()))
}

/** Returns the gain in dB relative to the sent level, measured in the middle, where nothing begins or ends. */
function gainDb(heard: Audio, said: number): number {
  const lengthMs = (heard.samples.length / sampleRate) * 1000
  return 20 * Math.log10(rms(slice(heard, lengthMs / 2, lengthMs - 200)) / (said / Math.SQRT2))
}

/** Returns the largest second difference of samples. A tone has its own, given by its level and frequency. */
function jumpOf({ samples }: Audio): number {
  let largest = 0
  for (let at = 2; at < samples.length; at += 1) {
    const [a = 0, b = 0, c = 0] = [samples[at - 2], samples[at - 1], samples[at]]
    largest = Math.max(largest, Math.abs(a - 2 * b + c))
  }
  return largest
}

/** Returns the longest stretch below a tenth of the level. */
function longestGapMs(heard: Audio): number {
  const stepMs = 2.5
  const lengthMs = (heard.samples.length / sampleRate) * 1000
  let longest = 0
  let gapMs = 0
  for (let at = 0; at + stepMs <= lengthMs; at += stepMs) {
    gapMs = rms(slice(heard, at, at + stepMs)) < level / 10 ? gapMs + stepMs : 0
    longest = Math.max(longest, gapMs)
  }
  return longest
}

const from = (heard: Audio, ms: number): Audio => slice(heard, ms, Infinity)

async function measureLevels(stage: Stage): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [name, kinds] of [
    ['packets passed on as they come', ['PCMU', 'PCMU']],
    ['of two codecs, on the beat', ['PCMU', 'PCMA']],
  ] as const) {
    const bridged = await bridge(stage, kinds)
    await delay(3000)
    const heard = gainDb(bridged.phones[1].heard(), level)
    await end(bridged)
    figures.push(levelOf(`level of a tone through a bridge, ${name}`, heard))
  }
  const bridged = await bridge(stage, ['PCMU', 'PCMU'])
  await bridged.sessions[1].wire({ hears: [] })
  await bridged.sessions[1].play({ clip: { path: stage.file } })
  figures.push(levelOf('level of a whisper', gainDb(bridged.phones[1].heard(), level)))
  await end(bridged)
  return figures
}

function levelOf(what: string, db: number): Figure {
  return { what, target: 'within 1 dB', figure: `${db.toFixed(2)} dB`, isMet: Math.abs(db) < 1 }
}

/** Changes whispers, layers, gains and mutes while the tone is heard, often enough to hit many phases of the tone. */
async function measureClicks(stage: Stage): Promise<Figure> {
  const bridged = await bridge(stage, ['PCMU', 'PCMU'])
  const [a, b] = bridged.sessions
  const far = farOf(a)
  const music: Layer = {
    id: 'music',
    from: { kind: 'clip', path: stage.file, rounds: Infinity },
    gainDb: -12,
  }
  await delay(1500)
  const own = jumpOf(from(bridged.phones[1].heard(), 500))
  const changes = [
    () => b.wire({ hears: [far, music] }),
    () => b.wire({ hears: [far] }),
    () => b.wire({ hears: [far], hearsGainDb: -6 }),
    () => b.wire({ hears: [] }),
    () => b.wire({ hears: [far] }),
    () => a.wire({ hears: [farOf(b)], isMuted: true }),
    () => a.wire({ hears: [farOf(b)], isMuted: false }),
  ]
  const rounds = 12
  for (let round = 0; round < rounds; round += 1)
    for (const change of changes) {
      await change()
      await delay(157)
    }
  const largest = jumpOf(from(bridged.phones[1].heard(), 500))
  await end(bridged)
  return {
    what: `jump of a sample at ${rounds * changes.length} changes of wiring, against that of the tone itself`,
    target: 'at most 3 times: no click',
    figure: `${(largest / own).toFixed(1)} times (a cut is ${((2 * level) / own).toFixed(0)} times)`,
    isMet: largest <= 3 * own,
  }
}

async function measureGaps(stage: Stage): Promise<Figure> {
  const network = { lostPercent: 5, jitterMs: 30 }
  const bridged = await bridge(stage, ['PCMU', 'PCMA'], network)
  await delay(20_000)
  const gapMs = longestGapMs(from(bridged.phones[1].heard(), 1000))
  await end(bridged)
  return {
    what: `longest gap of a tone in 20 s, with ${network.lostPercent} % loss and ${network.jitterMs} ms jitter`,
    target: 'at most 40 ms',
    figure: `${gapMs.toFixed(0)} ms`,
    isMet: gapMs <= 40,
  }
}

export async function benchHeard(firstPort = 31_000): Promise<Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), 'heard-bench-'))
  const file = join(directory, 'tone.wav')
  await writeFile(file, toWav(tone(hz, 3000, { level })))
  const media = createMedia({
    bind: '127.0.0.1',
    publicAddress: undefined,
    ports: { first: firstPort, last: firstPort + 19 },
    workers: 1,
    limits: { mediaMs: 0, heldMs: 0 },
    scratchDir: join(directory, 'scratch'),
    log: silentLogger,
  })
  const stage = { media, file }
  try {
    await media.start()
    return [...(await measureLevels(stage)), await measureClicks(stage), await measureGaps(stage)]
  } finally {
    await media.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.stdout.write(`${toTable(await benchHeard())}\n`)
