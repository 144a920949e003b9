// The audio of one session for other threads: what its far end says and hears, frame by frame. Taps decode with voices
// of their own, so that taps do not change what others hear: a bridge that passes packets on continues to do so.
import { AudioRing } from '../../lib/audio/audio-ring.ts'
import { rateOf, type Encoding, type Rate } from '../codecs/codecs.ts'
import type { Coders } from '../codecs/coders.ts'
import { Voice } from '../receive/voice.ts'
import type { Side } from '../recording/recording-ring.ts'
import { RecordingTap } from '../recording/recording-tap.ts'
import type { RtpPacket } from '../rtp/packet.ts'
import type { Frame } from '../frames/frame.ts'
import { MixedFrame } from './mixed-frame.ts'
import type { Tap } from '../wiring.ts'

interface Open {
  readonly of: Exclude<Tap['of'], 'recording'>
  readonly rate: Rate
  readonly ring: AudioRing
}

export class Taps {
  readonly #coders: Coders
  #open: readonly Open[] = []
  #recording: RecordingTap | undefined
  #isMuted = false
  /** The voices of the far end and of the packets passed on to it. Each exists only while its sound must be decoded. */
  #said: Voice | undefined
  #passed: Voice | undefined
  /** Whether the recording takes the packets as they are, so that nothing need be decoded for it. */
  #saysPackets = false
  #passesPackets = false
  #wasPassed = false
  /**
   * The voice of the session whose packets are passed on, if it has one. It is the same sound, decoded once for both.
   */
  #shared: Voice | undefined
  readonly #joint = new MixedFrame()
  readonly #mixed = new MixedFrame()
  /** The rate of the far end's codec. */
  #farRate: Rate = 8000
  /** The highest rate that a tap wants. */
  #rate: Rate = 8000

  constructor(coders: Coders) {
    this.#coders = coders
  }

  get isOpen(): boolean {
    return this.#open.length > 0 || this.#recording !== undefined
  }

  agree(encoding: Encoding): void {
    this.#farRate = rateOf(encoding)
  }

  wire(taps: readonly Tap[], isMuted: boolean, nowMs: number): void {
    this.#open = taps.flatMap(({ of, rate = 8000, ring }) =>
      of === 'recording' ? [] : { of, rate, ring: new AudioRing(ring.memory) },
    )
    this.#rate = this.#open.some(({ rate }) => rate === 16_000) ? 16_000 : 8000
    const recorded = taps.find(({ of }) => of === 'recording')?.ring
    if (recorded?.id !== this.#recording?.id) this.#recording = recorded && new RecordingTap(recorded)
    this.#isMuted = isMuted
    this.#said = this.#ears(this.#said, 'in')
    this.#passed = this.#ears(this.#passed, 'out')
    this.#said?.setGain(isMuted ? 0 : 1, nowMs)
  }

  /** Takes a packet from its far end. */
  hear(packet: RtpPacket, encoding: Encoding, nowMs: number): void {
    const isTaken = this.#recording?.takes(packet, encoding) === true
    if (isTaken !== this.#saysPackets) {
      this.#saysPackets = isTaken
      this.#said = this.#ears(this.#said, 'in')
    }
    // In a recording, muted packets are left out, and fade as lost ones do.
    if (isTaken && !this.#isMuted) this.#recording?.put('in', packet, encoding, nowMs)
    this.#said?.hear(packet, encoding, nowMs)
  }

  /**
   * Takes a packet that was passed on to its far end. `isHeard`: the session that it came from has decoded it for its
   * taps.
   */
  pass(packet: RtpPacket, encoding: Encoding, nowMs: number, isHeard: boolean): void {
    const isTaken = this.#recording?.takes(packet, encoding) === true
    if (isTaken !== this.#passesPackets) {
      this.#passesPackets = isTaken
      this.#passed = this.#ears(this.#passed, 'out')
    }
    if (isTaken) this.#recording?.put('out', packet, encoding, nowMs)
    if (!isHeard) this.#passed?.hear(packet, encoding, nowMs)
  }

  /** Notes that the far end presses a key. */
  live(nowMs: number): void {
    this.#said?.live(nowMs)
  }

  /** Returns whether the voice of another session serves for the packets passed on as well as its own would. */
  shares(ears: Voice | undefined): ears is Voice {
    return ears !== undefined && (ears.rate === this.#rate || this.#farRate === 8000)
  }

  /** The voice that decodes its far end for taps; undefined while no tap needs it. */
  get ears(): Voice | undefined {
    return this.#said
  }

  /**
   * Writes the frames of this tick. `heard` is what the far end hears, or `passed` while packets are passed on to it;
   * `ears` is the voice of the session that they come from.
   */
  tick(tick: number, nowMs: number, heard: Frame | 'passed' | undefined, ears?: Voice): void {
    if (heard === 'passed') this.#shared = this.shares(ears) ? ears : undefined
    const said = this.#said?.frame(tick, nowMs)
    const out = this.#passed === undefined ? undefined : this.#heard(tick, nowMs, heard)
    for (const { of, rate: most, ring } of this.#open) {
      const rate = this.#farRate === 8000 ? 8000 : most
      if (of === 'stereo') ring.writePair(said?.samples(rate), out?.samples(rate))
      else ring.write((of === 'in' ? said : of === 'out' ? out : this.#mix(said, out))?.samples(rate))
    }
    this.#record(said, out, heard)
  }

  close(): void {
    this.#open = []
    this.#recording = undefined
    this.#said = this.#ears(this.#said, 'in')
    this.#passed = this.#ears(this.#passed, 'out')
  }

  #record(said: Frame | undefined, out: Frame | undefined, heard: Frame | 'passed' | undefined): void {
    const recording = this.#recording
    if (recording === undefined) return
    if (!this.#saysPackets) recording.putSamples('in', said?.samples())
    if (!this.#passesPackets) recording.putSamples('out', out?.samples())
    else if (heard !== 'passed') recording.putSamples('out', heard?.samples())
    recording.next()
  }

  /** Returns the voice for a side, at the rate of the taps: a narrow rate makes a wide codec cheaper to decode. */
  #ears(voice: Voice | undefined, side: Side): Voice | undefined {
    const isInPackets = side === 'in' ? this.#saysPackets : this.#passesPackets
    const isRecorded = this.#recording !== undefined && !isInPackets
    if (isRecorded || this.#open.some(({ of }) => of === side || of === 'mixed' || of === 'stereo')) {
      const ears = voice ?? this.#newEars(side)
      ears.hearAt(this.#rate)
      return ears
    }
    voice?.close()
    return undefined
  }

  #newEars(side: Side): Voice {
    const voice = new Voice(this.#coders, this.#rate)
    if (side === 'in' && this.#isMuted) voice.setGain(0, 0)
    return voice
  }

  #heard(tick: number, nowMs: number, heard: Frame | 'passed' | undefined): Frame | undefined {
    const wasPassed = this.#wasPassed
    this.#wasPassed = heard === 'passed'
    if (heard !== 'passed' && !wasPassed) return heard
    const passed = (this.#shared ?? this.#passed)?.frame(tick, nowMs)
    if (heard === 'passed') return passed
    // Packets are no longer passed on. The last of them are still in the buffer and are faded out within the frame.
    return this.#joint.of(
      ...(passed === undefined ? [] : [{ frame: passed, from: 1, to: 0 }]),
      ...(heard === undefined ? [] : [{ frame: heard, from: 0, to: 1 }]),
    )
  }

  #mix(said: Frame | undefined, heard: Frame | undefined): Frame | undefined {
    if (said === undefined || heard === undefined) return said ?? heard
    return this.#mixed.of({ frame: said, from: 1, to: 1 }, { frame: heard, from: 1, to: 1 })
  }
}
