// The audio of a recording: the party's voice and the audio it hears, each as an RTP stream to the recording server.
// The streams are separate media sessions, fed by rings that the leg's media session writes.
import { createRing } from '../../lib/audio/audio-ring.ts'
import { AppError } from '../../lib/errors.ts'
import { telephoneCodecs } from '../../media/codecs/codecs.ts'
import type { Media, MediaSession } from '../../media/media.ts'
import type { LegSound } from '../leg/leg-sound.ts'
import { joinSdp, splitSdp, type RecordingDirection } from './recording-sdp.ts'

export interface RecordingMediaOptions {
  readonly media: Pick<Media, 'open'>
  /** The sound of the recorded leg. */
  readonly sound: Pick<LegSound, 'join' | 'part'>
}

interface Line {
  readonly of: 'in' | 'out'
  /** The label of the line in the metadata. */
  readonly label: string
  readonly session: MediaSession
}

/** The labels of what is said and what is heard, in the order of the lines. */
export const labels = { in: '1', out: '2' } as const

const tapName = 'siprec'
// 20 ms at 8000 Hz, the frame size of taps.
const frameSamples = 160

export class RecordingMedia {
  readonly #sound: RecordingMediaOptions['sound']
  readonly #lines: readonly Line[]
  #version = 0
  #isRunning = false
  #isClosed = false

  private constructor(sound: RecordingMediaOptions['sound'], lines: readonly Line[]) {
    this.#sound = sound
    this.#lines = lines
  }

  /** Opens two streams. Throws AppError if there is no room for them. */
  static async open({ media, sound }: RecordingMediaOptions): Promise<RecordingMedia> {
    const said = await media.open({ offers: telephoneCodecs })
    try {
      const heard = await media.open({ offers: telephoneCodecs })
      return new RecordingMedia(sound, [
        { of: 'in', label: labels.in, session: said },
        { of: 'out', label: labels.out, session: heard },
      ])
    } catch (error) {
      await said.close()
      throw error
    }
  }

  /** Sets the address that signalling is exchanged with. */
  face(peer: string): void {
    for (const { session } of this.#lines) session.face(peer)
  }

  /** Calls the listener when a media worker has died. */
  onLost(listener: () => void): void {
    for (const { session } of this.#lines)
      session.onEvent((event) => (event.type === 'lost' ? listener() : undefined))
  }

  async offer(direction: RecordingDirection): Promise<string> {
    return this.#join(await Promise.all(this.#lines.map(({ session }) => session.offer())), direction)
  }

  /**
   * Applies an answer. Throws media_not_acceptable unless both lines are accepted: half of a talk is not a recording.
   */
  async accept(answer: string): Promise<void> {
    const parts = splitSdp(answer)
    for (const [index, { session }] of this.#lines.entries()) {
      const part = parts[index]
      if (part === undefined)
        throw new AppError('media_not_acceptable', 'the recording server has not answered both streams')
      await session.acceptAnswer(part)
    }
  }

  /** Returns the answer to an offer of the recording server. Throws media_not_acceptable. */
  async answer(offer: string, direction: RecordingDirection): Promise<string> {
    const parts = splitSdp(offer)
    const answers: string[] = []
    for (const [index, { session }] of this.#lines.entries()) {
      const part = parts[index]
      if (part === undefined)
        throw new AppError('media_not_acceptable', 'the recording server offers to take one stream')
      answers.push((await session.answer(part)).sdp)
    }
    return this.#join(answers, direction)
  }

  /** Starts or stops the audio of the streams. */
  async run(isOn: boolean): Promise<void> {
    if (isOn === this.#isRunning || this.#isClosed) return
    this.#isRunning = isOn
    if (!isOn) return this.#silence()
    const rings = this.#lines.map(({ of, session }) => ({
      of,
      session,
      ring: createRing({ samples: frameSamples }),
    }))
    for (const { of, session, ring } of rings)
      await session.wire({ hears: [{ id: of, from: { kind: 'ring', ring } }] })
    // The session may have ended meanwhile.
    if (!this.#isClosed)
      await this.#sound.join(tapName, { taps: rings.map(({ of, ring }) => ({ of, ring })) })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#sound.part(tapName)
    await Promise.all(this.#lines.map(({ session }) => session.close()))
  }

  async #silence(): Promise<void> {
    this.#sound.part(tapName)
    for (const { session } of this.#lines) await session.wire({ hears: [] })
  }

  #join(texts: readonly string[], direction: RecordingDirection): string {
    this.#version += 1
    const parts = texts.map((sdp, index) => ({ sdp, label: this.#lines[index]?.label ?? '' }))
    return joinSdp(parts, { direction, version: this.#version })
  }
}
