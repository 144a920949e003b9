// The audio and keys of the demo's phone: one RTP stream of G.711, divided into speech, the tone and silence.
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createLaws } from '../../src/media/codecs/g711.ts'
import { parseRtp, rtpHeaderBytes, writeRtpHeader } from '../../src/media/rtp/packet.ts'
import { toneHz } from '../hello.ts'

export type Sound = 'speech' | 'tone'

export interface PhoneAudio {
  /** The SDP that asks for the stream. */
  readonly offer: string
  /** Receives the SDP of the other side: from then on packets are sent there, one every 20 ms. */
  hear(answer: string): void
  press(keys: string): void
  /** Says samples of 16 bits, 8000 a second. Returns how long that takes, in milliseconds. */
  say(samples: Int16Array): number
  /** Reports the next sound even if it is of the same kind as the last one. */
  forgetLastSound(): void
  close(): Promise<void>
}

const tickMs = 20
const samplesPerPacket = 160
const sampleRate = 8000
const eventPayloadType = 101
/** RFC 4733 §3.2: the events 0 to 15. */
const keypad = '0123456789*#ABCD'
const keyTicks = 4
// RFC 4733 §2.5.1.4: the end of an event is sent three times.
const endTicks = 3
const gapTicks = 1

// The RMS level that counts as sound, of 32,768: above the noise of a quiet line.
const loud = 300
// A sound counts after 100 ms: within a word, speech may resemble a tone for a packet or two.
const packetsOfSound = 5

const { PCMU } = createLaws()
const silence = Buffer.alloc(samplesPerPacket, PCMU.silence)

interface Packet {
  readonly payloadType: number
  readonly payload: Buffer
  readonly marker: boolean
  readonly timestamp: number
}

export async function openPhoneAudio(address: string, onSound: (sound: Sound) => void): Promise<PhoneAudio> {
  const socket = createSocket('udp4')
  socket.bind(0, address)
  await once(socket, 'listening')
  const { port } = socket.address()
  const ssrc = randomBytes(4).readUInt32BE()
  const queue: Packet[] = []
  let sequence = 0
  let timestamp = 0
  let timer: NodeJS.Timeout | undefined
  let reported: Sound | undefined
  let candidate: Sound | undefined
  let packets = 0

  socket.on('message', (datagram) => {
    const packet = parseRtp(datagram)
    if (packet === undefined || packet.payloadType !== 0) return
    const sound = soundOf(packet.payload)
    packets = sound === candidate ? packets + 1 : 1
    candidate = sound
    if (sound === undefined || sound === reported || packets < packetsOfSound) return
    reported = sound
    onSound(sound)
  })
  // The port may already be closed when a call ends.
  socket.on('error', () => undefined)

  function sendTo(host: string, toPort: number): void {
    const {
      payloadType,
      payload,
      marker,
      timestamp: stamp,
    } = queue.shift() ?? {
      payloadType: 0,
      payload: silence,
      marker: false,
      timestamp,
    }
    const datagram = Buffer.alloc(rtpHeaderBytes + payload.length)
    writeRtpHeader(datagram, { marker, payloadType, sequence: sequence & 0xffff, timestamp: stamp, ssrc })
    payload.copy(datagram, rtpHeaderBytes)
    socket.send(datagram, toPort, host)
    sequence += 1
    timestamp += samplesPerPacket
  }

  return {
    offer: toOffer(address, port),
    hear(answer) {
      const host = /^c=IN IP4 (\S+)/m.exec(answer)?.[1]
      const toPort = Number(/^m=audio (\d+)/m.exec(answer)?.[1])
      if (host === undefined || !(toPort > 0)) throw new Error('The platform answered without audio.')
      timer ??= setInterval(() => sendTo(host, toPort), tickMs)
    },
    press(keys) {
      for (const key of keys) queue.push(...eventOf(key, timestamp + queue.length * samplesPerPacket))
    },
    say(samples) {
      const spoken = packetsOf(samples, timestamp + queue.length * samplesPerPacket)
      queue.push(...spoken)
      return spoken.length * tickMs
    },
    forgetLastSound() {
      reported = undefined
      packets = 0
    },
    async close() {
      clearInterval(timer)
      await new Promise<void>((resolve) => socket.close(() => resolve()))
    },
  }
}

function toOffer(address: string, port: number): string {
  return [
    'v=0',
    `o=demo 1 1 IN IP4 ${address}`,
    's=-',
    `c=IN IP4 ${address}`,
    't=0 0',
    `m=audio ${port} RTP/AVP 0 ${eventPayloadType}`,
    'a=rtpmap:0 PCMU/8000',
    `a=rtpmap:${eventPayloadType} telephone-event/8000`,
    `a=fmtp:${eventPayloadType} 0-15`,
    'a=sendrecv',
    '',
  ].join('\r\n')
}

/** Returns a voice as packets; the last one is filled up with silence. */
function packetsOf(samples: Int16Array, timestamp: number): Packet[] {
  return Array.from({ length: Math.ceil(samples.length / samplesPerPacket) }, (_, at): Packet => {
    const payload = Buffer.from(silence)
    for (const [index, sample] of samples
      .subarray(at * samplesPerPacket, (at + 1) * samplesPerPacket)
      .entries())
      payload[index] = PCMU.encode[sample & 0xffff] ?? PCMU.silence
    return { payloadType: 0, payload, marker: at === 0, timestamp: timestamp + at * samplesPerPacket }
  })
}

/** Returns one key: packets of one timestamp and growing duration, the last ones marked as its end; then a pause. */
function eventOf(key: string, timestamp: number): Packet[] {
  const event = keypad.indexOf(key)
  if (event === -1) throw new Error(`${key} is not a key`)
  const pressed = Array.from({ length: keyTicks + endTicks }, (_, tick): Packet => {
    const isEnd = tick >= keyTicks
    const payload = Buffer.from([event, isEnd ? 0x8a : 0x0a, 0, 0])
    payload.writeUInt16BE(Math.min(tick + 1, keyTicks) * samplesPerPacket, 2)
    return { payloadType: eventPayloadType, payload, marker: tick === 0, timestamp }
  })
  const after = timestamp + pressed.length * samplesPerPacket
  const pause = Array.from({ length: gapTicks }, (_, tick): Packet => ({
    payloadType: 0,
    payload: silence,
    marker: false,
    timestamp: after + tick * samplesPerPacket,
  }))
  return [...pressed, ...pause]
}

/** Returns undefined for silence. The tone has nearly all of its energy at one frequency, which speech never has. */
function soundOf(payload: Buffer): Sound | undefined {
  let energy = 0
  let real = 0
  let imaginary = 0
  for (const [index, octet] of payload.entries()) {
    const sample = PCMU.decode[octet] ?? 0
    const angle = (2 * Math.PI * toneHz * index) / sampleRate
    energy += sample * sample
    real += sample * Math.cos(angle)
    imaginary += sample * Math.sin(angle)
  }
  if (Math.sqrt(energy / payload.length) < loud) return undefined
  const share = (2 * (real * real + imaginary * imaginary)) / (energy * payload.length)
  return share > 0.8 ? 'tone' : 'speech'
}
