// Two legs whose far ends hear each other.
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import { oneOfTwo, partyOf } from './leg-story.ts'

export class Bridge {
  readonly #legs: readonly [Leg, Leg]
  readonly #muted = new Set<Leg>()
  readonly #stops: (() => void)[] = []
  #isJoined = false

  constructor(a: Leg, b: Leg) {
    this.#legs = [a, b]
  }

  /** From now on either hears the other. Keys that come as INFO are pressed on the other side, as are
   *  those in RTP where it takes none; others go with the sound. */
  async join(): Promise<void> {
    const [a, b] = this.#legs
    this.#isJoined = true
    a.journal.note({ type: 'bridged', with: b.call_sid, party: partyOf(b) })
    b.journal.note({ type: 'bridged', with: a.call_sid, party: partyOf(a) })
    for (const leg of this.#legs) leg.events.tell('bridged')
    this.#stops.push(passKeys(a, b), passKeys(b, a))
    await Promise.all([
      a.media.sound.hear(b.media, this.#muted.has(a)),
      b.media.sound.hear(a.media, this.#muted.has(b)),
    ])
  }

  /** The far end of this leg is no longer heard, or is heard again. */
  async mute(leg: Leg, isMuted: boolean): Promise<void> {
    if (isMuted) this.#muted.add(leg)
    else this.#muted.delete(leg)
    for (const { journal, hasEnded } of this.#legs)
      if (!hasEnded) journal.note({ type: isMuted ? 'muted' : 'unmuted', ...oneOfTwo(leg) })
    if (this.#isJoined) await leg.media.sound.mute(isMuted)
  }

  /** Neither hears the other any more. `because`: in words for the journal. Never rejects. */
  async part(because: string): Promise<void> {
    if (!this.#isJoined) return
    this.#isJoined = false
    const [a, b] = this.#legs
    for (const stop of this.#stops.splice(0)) stop()
    a.journal.note({ type: 'unbridged', with: b.call_sid, because })
    b.journal.note({ type: 'unbridged', with: a.call_sid, because })
    const left = this.#legs.filter((leg) => !leg.hasEnded)
    await Promise.all(
      left.map((leg) => leg.media.sound.hear(undefined).catch((error: unknown) => noteProblem(leg, error))),
    )
  }
}

/** Returns the function that stops it. */
function passKeys(from: Leg, to: Leg): () => void {
  return from.onDigit((digit, { source, durationMs }) => {
    // Those in RTP and in the sound go with it, where the other side takes them from there.
    if (source !== 'info' && (source === 'tone' || to.media.keyWay === 'rfc2833')) return
    // Far ends that take no keys are many, and the two talk on.
    to.keys.press(digit, durationMs).catch((error: unknown) => noteProblem(to, error))
  })
}
