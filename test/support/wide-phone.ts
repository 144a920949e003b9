// Phones with Opus, G.722 and G.711 in virtual time, and a measure of how loud a tone comes through.
import { setImmediate } from 'node:timers/promises'
import { clockRateOf, type Encoding } from '../../src/media/codecs/codecs.ts'
import { frameSamplesAt } from '../../src/media/codecs/coders.ts'
import type { Agreement } from '../../src/media/sdp/agreement.ts'
import type { Audio } from './audio.ts'
import type { VirtualLegs, VirtualPhone } from './virtual-legs.ts'

const numbers: Readonly<Record<Encoding, number>> = { PCMU: 0, PCMA: 8, G722: 9, OPUS: 96 }
const eventClock = (encoding: Encoding): number => (encoding === 'OPUS' ? 48_000 : 8000)

export function agreedOn(encoding: Encoding): Partial<Agreement> {
  const event = { payloadType: 101, clockRate: eventClock(encoding) }
  const payloadType = numbers[encoding]
  return {
    encoding,
    send: { audio: payloadType, event, packetMs: 20 },
    receive: { codecs: [{ encoding, payloadType }], events: [event], noises: [13] },
  }
}

/** A phone that speaks and hears in any codec. */
export class WidePhone {
  readonly leg: VirtualPhone
  readonly #legs: VirtualLegs
  #encoding: Encoding
  #said = 0

  constructor(legs: VirtualLegs, id: string, encoding: Encoding, isAgreed = true) {
    this.#legs = legs
    this.#encoding = encoding
    this.leg = legs.leg(id, { agreement: agreedOn(encoding), isAgreed })
  }

  /** Changes the codec by an offer and an answer in the middle of its call. */
  change(encoding: Encoding): void {
    this.#encoding = encoding
    const { receive, ...agreed } = agreedOn(encoding)
    const codecs = Object.entries(numbers).map(([name, payloadType]) => ({
      encoding: name as Encoding,
      payloadType,
    }))
    this.leg.agree({ ...agreed, receive: { noises: [13], events: [], ...receive, codecs } })
  }

  /** Speaks for `ms` and returns the packets; `isLost` drops by number. Opus is coded as a voice, for this loss. */
  async say(
    sound: (seconds: number) => number,
    ms: number,
    isLost = (_packet: number) => false,
    lossPercent = 10,
  ): Promise<Buffer[]> {
    const sent = await this.speech(sound, ms, lossPercent)
    for (const [packet, payload] of sent.entries()) {
      this.sendNext(payload, isLost(packet))
      // The codec library creates its states in promises.
      await setImmediate()
      this.#legs.run(20)
    }
    return sent
  }

  /** Returns packets of `ms` of sound. */
  async speech(sound: (seconds: number) => number, ms: number, lossPercent = 0): Promise<Buffer[]> {
    const encoder = this.#legs.coders.encoder(this.#encoding)
    await setImmediate()
    encoder.expectLoss?.(lossPercent)
    const samples = frameSamplesAt(encoder.rate)
    const into = new Uint8Array(encoder.maxOctets)
    const packets = Array.from({ length: ms / 20 }, (_, packet) => {
      const frame = Int16Array.from({ length: samples }, (_sample, at) =>
        Math.round(sound((packet * samples + at) / encoder.rate) * 32_767),
      )
      return Buffer.from(into.slice(0, encoder.encode(frame, into, 0)))
    })
    encoder.close()
    return packets
  }

  /** Sends the next packet of its speech, which may be lost on its way. */
  sendNext(payload: Buffer, isLost = false): void {
    if (!isLost) this.leg.send({ ...this.#next(), payload, payloadType: numbers[this.#encoding] })
    this.#said += 1
  }

  #next(): { sequence: number; timestamp: number } {
    return {
      sequence: 100 + this.#said,
      timestamp: 5000 + (this.#said * clockRateOf(this.#encoding)) / 50,
    }
  }

  /** Returns what it heard from this time on, in its codec. */
  async heard(fromMs: number): Promise<Audio> {
    const decoder = this.#legs.coders.decoder(this.#encoding)
    await setImmediate()
    const packets = this.leg.between(0)
    const samples = frameSamplesAt(decoder.rate)
    const frame = new Int16Array(samples)
    const heard = packets.flatMap(({ payload, atMs }) => {
      decoder.decode(payload, frame, 0)
      return atMs < fromMs ? [] : [...frame].map((sample) => sample / 32_768)
    })
    decoder.close()
    return { sampleRate: decoder.rate, samples: Float64Array.from(heard) }
  }
}

/** Returns the level of this tone in what was heard, in dB relative to a sine of the level 0.5. */
export function toneDb({ sampleRate, samples }: Audio, hz: number): number {
  let [real, imaginary] = [0, 0]
  for (const [at, sample] of samples.entries()) {
    real += sample * Math.cos((2 * Math.PI * hz * at) / sampleRate)
    imaginary += sample * Math.sin((2 * Math.PI * hz * at) / sampleRate)
  }
  return 20 * Math.log10((2 * Math.hypot(real, imaginary)) / samples.length / 0.5 + 1e-9)
}
