// Two legs whose far ends hear each other.
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import { oneOfTwo, partyOf } from '../leg/leg-story.ts'

export class Bridge {
  readonly #legs: readonly [Leg, Leg]
  readonly #muted = new Set<Leg>()
  readonly #stops: (() => void)[] = []
  #isJoined = false

  constructor(a: Leg, b: Leg) {
    this.#legs = [a, b]
  }

  /** Lets the two hear each other. Keys from INFO are sent to the other side, and so are
   *  keys in RTP if it does not accept those. Other keys go with the audio. */
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

  /** Mutes or unmutes the far end of this leg. */
  async mute(leg: Leg, isMuted: boolean): Promise<void> {
    if (isMuted) this.#muted.add(leg)
    else this.#muted.delete(leg)
    for (const { journal, hasEnded } of this.#legs)
      if (!hasEnded) journal.note({ type: isMuted ? 'muted' : 'unmuted', ...oneOfTwo(leg) })
    if (this.#isJoined) await leg.media.sound.mute(isMuted)
  }

  /** Ends the connection of the two. `because` is the reason in the journal. Never rejects. */
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

/** Passes keys from one leg to the other. Returns the function that stops this. */
function passKeys(from: Leg, to: Leg): () => void {
  return from.onDigit((digit, { source, durationMs }) => {
    // Tones always go with the audio, and so do keys in RTP if the other side accepts those.
    if (source !== 'info' && (source === 'tone' || to.media.keyWay === 'rfc2833')) return
    // Many far ends do not accept keys. The two continue to talk.
    to.keys.press(digit, durationMs).catch((error: unknown) => noteProblem(to, error))
  })
}
