// Where media goes: symmetric RTP with a latch that a stranger cannot pull over to himself.
// Deviation from RFC 3264 §5.1: media goes where packets come from, not where the SDP says; most phones sit behind NAT.

export interface Endpoint {
  readonly address: string
  readonly port: number
}

export interface Heard extends Endpoint {
  readonly ssrc: number
  readonly sequence: number
  readonly nowMs: number
}

// A phone that changed its network keeps its SSRC and sequence, which a stranger off the path cannot know:
// ten packets of silence from the old place are enough to believe it.
const movedAfterMs = 200
// Anybody else must wait until the latched source is gone for longer than a bad network stays silent.
const replacedAfterMs = 3000
const plausibleSequenceStep = 500

function isSame(a: Endpoint, b: Endpoint): boolean {
  return a.port === b.port && a.address === b.address
}

export class SourceLatch {
  #signalled: Endpoint | undefined
  #latched: Heard | undefined

  /** Where to send: the latched source, or what the SDP said until something was heard. */
  get destination(): Endpoint | undefined {
    return this.#latched ?? this.#signalled
  }

  get latched(): Endpoint | undefined {
    return this.#latched
  }

  /** What an offer or answer says. A new address lets the far end's next packet latch again: signalling is trusted. */
  signal(remote: Endpoint | undefined): void {
    const isUnchanged =
      remote !== undefined && this.#signalled !== undefined && isSame(remote, this.#signalled)
    if (remote === undefined || isUnchanged) return
    this.#signalled = remote
    this.#latched = undefined
  }

  /** Whether the packet is the far end's; latches when it may. */
  accept(heard: Heard): 'known' | 'latched' | 'foreign' {
    const latched = this.#latched
    if (latched !== undefined && isSame(heard, latched)) {
      this.#latched = heard
      return 'known'
    }
    if (latched !== undefined && !this.#mayReplace(latched, heard)) return 'foreign'
    this.#latched = heard
    return 'latched'
  }

  #mayReplace(latched: Heard, heard: Heard): boolean {
    // The place that signalling named wins at once, also over someone who was faster.
    if (this.#signalled !== undefined && isSame(heard, this.#signalled)) return true
    const silentMs = heard.nowMs - latched.nowMs
    const step = (heard.sequence - latched.sequence) & 0xffff
    const isSameStream = heard.ssrc === latched.ssrc && step > 0 && step < plausibleSequenceStep
    return silentMs >= (isSameStream ? movedAfterMs : replacedAfterMs)
  }
}
