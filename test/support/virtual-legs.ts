// Legs in virtual time: streams of one worker on sockets in memory, and phones that speak and hear over a network that
// is as bad as a test wants. The audio that a phone heard is put together by the timestamps of the packets, as a phone
// does it.
import type { Clips } from '../../src/media/clips/clips.ts'
import { createCoders } from '../../src/media/codecs/coders.ts'
import { createLaws, type Law } from '../../src/media/codecs/g711.ts'
import { Graph } from '../../src/media/graph/graph.ts'
import type { WorkerWiring } from '../../src/media/wiring.ts'
import type { MediaEvent } from '../../src/media/media.ts'
import { BrowserGates } from '../../src/media/browsers/gates.ts'
import type { SocketPair } from '../../src/media/transport/ports.ts'
import { parseRtp, writeRtpHeader, type RtpPacket, isRtcp } from '../../src/media/rtp/packet.ts'
import type { Endpoint } from '../../src/media/rtp/source.ts'
import type { Agreement } from '../../src/media/sdp/agreement.ts'
import { Stream } from '../../src/media/stream/stream.ts'
import { openTransport } from '../../src/media/transport/forms.ts'
import type { Audio } from './audio.ts'

export const laws = createLaws()
const payloadTypes: Readonly<Record<Law, number>> = { PCMU: 0, PCMA: 8 }

export interface HeardPacket extends RtpPacket {
  readonly atMs: number
}

/** A phone's speech, and what the network does to its packets. */
export interface Speaking {
  /** Returns the sample at this time, -1 to 1. */
  readonly sound: (seconds: number) => number
  readonly packetMs?: number
  /** Returns the delay of the packet with this number; undefined if it is lost. */
  readonly delayMs?: (packet: number) => number | undefined
}

export interface LegOptions {
  readonly law?: Law
  readonly agreement?: Partial<Agreement>
  /** Whether offer and answer are done; otherwise a test makes them. */
  readonly isAgreed?: boolean
}

export const sine =
  (hz: number, level = 0.5) =>
  (seconds: number): number =>
    level * Math.sin(2 * Math.PI * hz * seconds)

interface OnTheWay {
  readonly atMs: number
  readonly datagram: Buffer
}

export class VirtualPhone {
  readonly stream: Stream
  readonly heard: HeardPacket[] = []
  readonly events: MediaEvent[] = []
  /** The number of RTCP packets that it was sent. */
  reports = 0
  law: Law
  readonly endpoint: Endpoint
  ssrc: number
  sequence = 1000
  timestamp = 5_000_000
  readonly #legs: VirtualLegs
  #onRtp: (datagram: Buffer, from: Endpoint) => void = () => undefined
  #speaking: Speaking | undefined
  #sinceMs = 0
  #nextMs = 0
  #spoken = 0
  readonly #agreed: Partial<Agreement>
  #onTheWay: OnTheWay[] = []

  constructor(legs: VirtualLegs, id: string, { law = 'PCMU', agreement = {}, isAgreed = true }: LegOptions) {
    this.#legs = legs
    this.law = law
    this.ssrc = 7000 + legs.phones.length
    this.endpoint = { address: `192.0.2.${legs.phones.length + 1}`, port: 5004 }
    const sockets: Pick<SocketPair, 'listen' | 'sendRtp' | 'sendRtcp' | 'close'> = {
      listen: (onRtp) => void (this.#onRtp = onRtp),
      sendRtp: (packet, bytes) => this.#note(Buffer.from(packet.subarray(0, bytes))),
      sendRtcp: () => {
        this.reports += 1
        return true
      },
      close: () => Promise.resolve(),
    }
    this.stream = new Stream({
      id,
      openTransport: (form) => openTransport(form, sockets as unknown as SocketPair, new BrowserGates()),
      graph: legs.graph,
      coders: legs.coders,
      limits: { mediaMs: 0, heldMs: 0 },
      onEvent: (event) => this.events.push(event),
      now: () => legs.epochMs,
    })
    legs.graph.add(this.stream)
    this.#agreed = agreement
    if (isAgreed) this.agree({})
  }

  /** Repeats offer and answer. */
  agree(agreement: Partial<Agreement>): void {
    const audio = payloadTypes[this.law]
    this.stream.agree({
      encoding: this.law,
      remote: this.endpoint,
      remoteRtcp: undefined,
      peer: this.endpoint.address,
      hasRtcpMux: false,
      protection: { form: 'plain' },
      send: { audio, event: { payloadType: 101, clockRate: 8000 }, packetMs: 20 },
      receive: {
        codecs: [
          { encoding: 'PCMU', payloadType: 0 },
          { encoding: 'PCMA', payloadType: 8 },
        ],
        events: [{ payloadType: 101, clockRate: 8000 }],
        noises: [13],
      },
      maySend: true,
      mayReceive: true,
      ...this.#agreed,
      ...agreement,
    })
  }

  wire(wiring: Partial<WorkerWiring>): void {
    this.stream.wire({ hears: [], ...wiring })
  }

  /** Starts to speak; with undefined it stops and sends nothing. */
  speak(speaking: Speaking | undefined): void {
    this.#speaking = speaking
    this.#sinceMs = this.#legs.nowMs
    this.#nextMs = this.#legs.nowMs
    this.#spoken = 0
  }

  /** Sends a packet with this header now. */
  send(header: Partial<RtpPacket>): void {
    this.#onRtp(this.#packet(header), this.endpoint)
  }

  /** Presses one key for this number of packets, and sends its end three times; in virtual time. */
  press(event: number, packets: number): void {
    this.timestamp += 160
    for (let count = 1; count <= packets + 2; count += 1) {
      const payload = Buffer.from([event, count >= packets ? 0x8a : 0x0a, 0, 0])
      payload.writeUInt16BE(Math.min(count, packets) * 160, 2)
      this.send({ payloadType: 101, payload, marker: count === 1 })
      this.sequence += 1
      this.#legs.run(20)
    }
    this.timestamp += (packets + 2) * 160
  }

  /** Runs one millisecond. */
  step(nowMs: number): void {
    while (this.#speaking !== undefined && this.#nextMs <= nowMs) this.#say(this.#speaking)
    const arrived = this.#onTheWay.filter(({ atMs }) => atMs <= nowMs).sort((a, b) => a.atMs - b.atMs)
    if (arrived.length === 0) return
    this.#onTheWay = this.#onTheWay.filter(({ atMs }) => atMs > nowMs)
    for (const { datagram } of arrived) this.#onRtp(datagram, this.endpoint)
  }

  /** Returns the packets of speech that came in this time. */
  between(fromMs: number, toMs = Infinity): HeardPacket[] {
    return this.heard.filter(({ atMs, payloadType }) => atMs >= fromMs && atMs < toMs && payloadType !== 101)
  }

  /** Returns what it heard in this time, by the timestamps, with silence where nothing came. */
  audio(fromMs: number, toMs = Infinity): Audio {
    const packets = this.between(fromMs, toMs)
    const start = packets[0]?.timestamp ?? 0
    const places = packets.map(({ timestamp }) => (timestamp - start) | 0)
    const samples = new Float64Array(
      Math.max(0, ...packets.map(({ payload }, at) => (places[at] ?? 0) + payload.length)),
    )
    for (const [index, { payload, payloadType }] of packets.entries()) {
      const { decode } = laws[payloadType === 8 ? 'PCMA' : 'PCMU']
      for (const [at, octet] of payload.entries())
        samples[(places[index] ?? 0) + at] = (decode[octet] ?? 0) / 32_768
    }
    return { sampleRate: 8000, samples }
  }

  #note(datagram: Buffer): boolean {
    const packet = isRtcp(datagram) ? undefined : parseRtp(datagram)
    if (packet !== undefined) this.heard.push({ ...packet, atMs: this.#legs.nowMs })
    return true
  }

  #say({ sound, packetMs = 20, delayMs = () => 0 }: Speaking): void {
    const { encode } = laws[this.law]
    const fromSeconds = (this.#nextMs - this.#sinceMs) / 1000
    const payload = Buffer.from(
      Uint8Array.from({ length: packetMs * 8 }, (_, index) => {
        const sample = Math.round(sound(fromSeconds + index / 8000) * 32_767)
        return encode[sample & 0xffff] ?? 0
      }),
    )
    const delay = delayMs(this.#spoken)
    if (delay !== undefined)
      this.#onTheWay.push({ atMs: this.#nextMs + delay, datagram: this.#packet({ payload }) })
    this.#spoken += 1
    this.sequence += 1
    this.timestamp += payload.length
    this.#nextMs += packetMs
  }

  #packet(header: Partial<RtpPacket>): Buffer {
    const { payload = Buffer.alloc(160, 0xff) } = header
    const packet = Buffer.concat([Buffer.alloc(12), payload])
    writeRtpHeader(packet, {
      marker: false,
      payloadType: payloadTypes[this.law],
      sequence: this.sequence & 0xffff,
      timestamp: this.timestamp >>> 0,
      ssrc: this.ssrc,
      ...header,
    })
    return packet
  }
}

export class VirtualLegs {
  readonly coders = createCoders(laws)
  readonly graph: Graph
  readonly phones: VirtualPhone[] = []
  nowMs = 0
  #tick = 100

  constructor(clips: Clips = {} as Clips) {
    this.graph = new Graph({
      clips,
      laws,
      coders: this.coders,
      onTalk: (id, isTalking) =>
        this.phones.find(({ stream }) => stream.id === id)?.events.push({ type: 'talk', isTalking }),
    })
  }

  get epochMs(): number {
    return 1_700_000_000_000 + this.nowMs
  }

  leg(id: string, options: LegOptions = {}): VirtualPhone {
    const phone = new VirtualPhone(this, id, options)
    this.phones.push(phone)
    return phone
  }

  /** Runs the legs. Ticks fall between packets sent on time, so that nothing depends on their order. */
  run(ms: number): void {
    for (const end = this.nowMs + ms; this.nowMs < end; this.nowMs += 1) {
      for (const phone of this.phones) phone.step(this.nowMs)
      if (this.nowMs % 20 !== 7) continue
      this.#tick += 1
      for (const { stream } of this.phones) stream.tick(this.#tick, this.epochMs)
    }
  }
}

/** Connects two phones so that each hears only the other. */
export function bridge(a: VirtualPhone, b: VirtualPhone): void {
  a.wire({ hears: [{ id: 'far', from: { kind: 'session', id: b.stream.id } }] })
  b.wire({ hears: [{ id: 'far', from: { kind: 'session', id: a.stream.id } }] })
}

/** Returns the level in dB; a sine of the level `reference` has 0. */
export function levelDb({ samples }: Audio, reference = 0.5): number {
  const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length
  return 10 * Math.log10((2 * power) / reference ** 2 + 1e-12)
}

/**
 * Returns the breaks of a sine: the places where a sample is not the one that the two before it predict. A step of the
 * wave, or its sudden end, is a break; a change of loudness over some milliseconds is not. Two breaks are at least 3 ms
 * apart.
 */
export function clicks({ samples }: Audio, hz: number, { level = 0.5, tolerance = 0.2 } = {}): number[] {
  const turn = 2 * Math.cos((2 * Math.PI * hz) / 8000)
  const found: number[] = []
  for (let at = 2; at < samples.length; at += 1) {
    const promised = turn * (samples[at - 1] ?? 0) - (samples[at - 2] ?? 0)
    if (Math.abs((samples[at] ?? 0) - promised) < tolerance * level) continue
    if (at - (found.at(-1) ?? -Infinity) >= 24) found.push(at)
  }
  return found
}

/** Returns the longest time without sound, in ms, to 10 ms. */
export function longestGapMs({ sampleRate, samples }: Audio, threshold = 0.05): number {
  const frameSamples = sampleRate / 100
  let longest = 0
  let gap = 0
  for (let from = 0; from + frameSamples <= samples.length; from += frameSamples) {
    const isLoud = samples.subarray(from, from + frameSamples).some((sample) => Math.abs(sample) > threshold)
    gap = isLoud ? 0 : gap + 10
    longest = Math.max(longest, gap)
  }
  return longest
}
