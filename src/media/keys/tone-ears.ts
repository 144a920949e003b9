// A listener for keys in the sound of one far end. It decodes with a voice of its own, so that what others hear does
// not change.
import type { Encoding } from '../codecs/codecs.ts'
import type { Coders } from '../codecs/coders.ts'
import type { Digit } from './digit-receiver.ts'
import { Voice } from '../receive/voice.ts'
import type { RtpPacket } from '../rtp/packet.ts'
import { ToneDetector } from './tone-detector.ts'

export class ToneEars {
  readonly #voice: Voice
  readonly #detector = new ToneDetector()

  constructor(coders: Coders) {
    this.#voice = new Voice(coders, 8000)
  }

  hear(packet: RtpPacket, encoding: Encoding, nowMs: number): void {
    this.#voice.hear(packet, encoding, nowMs)
  }

  /** Returns the keys whose press ended in this tick. */
  tick(tick: number, nowMs: number): readonly Digit[] {
    return this.#detector.hear(this.#voice.frame(tick, nowMs)?.samples())
  }

  close(): void {
    this.#voice.close()
  }
}
