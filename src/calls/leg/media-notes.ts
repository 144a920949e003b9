// The journal entries about the media of one leg: those that are written once, and the state that explains its end.
import type { FarEnd, MediaEvent, MediaSession, StreamStats } from '../../media/media.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import { toClosedFact, toMediaFact, toSilenceFact } from './media-facts.ts'

const keysInClear =
  'the keys of SRTP travelled in SIP without TLS: who reads the signalling can hear the call; let the far end signal over TLS'

/** The address that signalling comes from, and whether signalling is encrypted. */
export interface Signalling {
  readonly peer: string | undefined
  readonly isSecure: boolean
}

export class MediaNotes {
  readonly #journal: JournalWriter
  #isOpenNoted = false
  #areKeysNoted = false
  #wasHeard = false
  #hasIgnored = false

  constructor(journal: JournalWriter) {
    this.#journal = journal
  }

  /** Journals the first agreement on media. Later offers and answers change it without a new entry. */
  open(
    { address, port }: MediaSession,
    { codec, remote, encryption }: FarEnd,
    { peer, isSecure }: Signalling,
  ): void {
    if (!this.#isOpenNoted)
      this.#journal.note({
        type: 'media-open',
        codec,
        address,
        port,
        ...(remote === undefined ? {} : { remote_address: remote.address, remote_port: remote.port }),
        ...(peer === undefined ? {} : { sip_address: peer }),
        ...(encryption === undefined ? {} : { encryption }),
      })
    this.#isOpenNoted = true
    // With DTLS-SRTP, SIP has the fingerprint of a certificate, and no keys: RFC 5763 §3.
    if (encryption !== undefined && encryption !== 'DTLS-SRTP' && !isSecure) this.#noteKeys()
  }

  held(isHeld: boolean): void {
    this.#journal.note({ type: isHeld ? 'media-held' : 'media-resumed' })
  }

  event(event: MediaEvent): void {
    if (event.type === 'first-packet') this.#wasHeard = true
    if (event.type === 'ignored') this.#hasIgnored = true
    const fact = toMediaFact(event)
    if (fact !== undefined) this.#journal.note(fact)
  }

  /** Journals that the call ends because its far end is silent. Returns the explanation. */
  silence(event: MediaEvent & { type: 'timeout' }): string {
    const fact = toSilenceFact(event, { wasHeard: this.#wasHeard, hasIgnored: this.#hasIgnored })
    this.#journal.note(fact)
    return fact.because
  }

  closed(stats: StreamStats): void {
    this.#journal.note(toClosedFact(stats))
  }

  /** Journals once that an encrypted stream can be read by everyone who has seen its keys in the signalling. */
  #noteKeys(): void {
    if (this.#areKeysNoted) return
    this.#areKeysNoted = true
    this.#journal.note({ type: 'note', sentence: keysInClear })
  }
}
