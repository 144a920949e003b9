// The detection of duplicate digits from phones that send each press twice: as an RTP event, as INFO or as tones.

export interface KeyPress {
  readonly digit: string
  readonly durationMs: number
  readonly source: 'rtp' | 'info' | 'tone'
}

interface Heard {
  readonly digit: string
  /** The sources that have reported the press. */
  readonly sources: Set<KeyPress['source']>
  /** The time in which the key was down, in monotonic ms. */
  readonly from: number
  readonly to: number
}

/** The longest time between the two reports of one press, in ms. */
const sameKeyMs = 200
/**
 * The same for a phone that is known to send both: a lost INFO is sent again after 500 ms, and a second time one second
 * later.
 */
const lateReportMs = 2_000
const maxHeard = 32

export class KeyPresses {
  /** The latest presses, which other sources may report too. */
  #heard: Heard[] = []
  #sendsBoth = false

  get sendsBoth(): boolean {
    return this.#sendsBoth
  }

  /** Returns false for the second report of a press that has been counted. `now` is monotonic. */
  isNew(press: KeyPress, now: number): boolean {
    // RFC 4733 §2.5.1.2: an event is reported when it has ended, and so is a tone. An INFO comes with the press or with
    // the release.
    const from = press.source === 'info' ? now : now - press.durationMs
    const toleranceMs = this.#sendsBoth ? lateReportMs : sameKeyMs
    this.#heard = this.#heard.filter(({ to }) => to >= from - lateReportMs).slice(-maxHeard)
    const twin = this.#heard.find(
      (other) =>
        !other.sources.has(press.source) &&
        other.digit === press.digit &&
        other.from - toleranceMs <= now &&
        from - toleranceMs <= other.to,
    )
    if (twin === undefined) {
      this.#heard.push({ digit: press.digit, sources: new Set([press.source]), from, to: now })
      return true
    }
    twin.sources.add(press.source)
    this.#sendsBoth = true
    return false
  }
}
