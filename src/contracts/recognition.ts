// Recognition of speech in calls. A recogniser hears one side of a call through a ring, and reports words. It runs in the
// thread of streams, so that neither audio nor a vendor's messages reach the main thread.
import type { SharedRing, StreamMode } from './audio-stream.ts'

/**
 * The vendor that hears no words: it reports `voice` and `tone`, as events of a vendor. It needs neither a credential nor
 * a network.
 */
export const soundVendor = 'none'

/** A word or phrase that the caller is likely to say. */
export interface Hint {
  readonly phrase: string
  readonly boost?: number | undefined
}

/** The request of an application to a recogniser. */
export interface RecognitionWishes {
  /** A BCP 47 tag, or `multi`. */
  readonly language: string
  readonly hints: readonly Hint[]
  /** The other languages of the speaker. */
  readonly altLanguages: readonly string[]
  readonly model?: string | undefined
  readonly punctuation?: boolean | undefined
  readonly profanityFilter?: boolean | undefined
  /** The object `<vendor>Options` of the verb, as it was sent. */
  readonly vendorOptions: Readonly<Record<string, unknown>>
}

/** The audio of one side of a call. */
export interface HeardSide {
  readonly ring: SharedRing
  /** The rate of the ring, in Hz. */
  readonly rate: 8000 | 16_000
  /** 1: the party whose verbs run; 2: the one it talks with. */
  readonly channel: 1 | 2
}

export interface RecognitionRequest extends RecognitionWishes {
  readonly account_sid: string
  readonly vendor: string
  readonly label: string | null
  /** False: words that may still change are not reported. */
  readonly wantsPartials: boolean
  readonly side: HeardSide
}

/** A request with the settings of its credential. */
export interface RecognitionOrder extends Omit<RecognitionRequest, 'account_sid' | 'label'> {
  readonly settings: Readonly<Record<string, unknown>>
}

export interface Alternative {
  readonly transcript: string
  /** From 0 to 1; 0 from vendors that have none. */
  readonly confidence: number
}

/** Words, in the form in which hooks get them. */
export interface SpeechResult {
  readonly language_code: string
  readonly channel_tag: 1 | 2
  readonly is_final: boolean
  readonly alternatives: readonly Alternative[]
  /** `evt`: the message of the vendor, or the list of those that were joined. */
  readonly vendor: { readonly name: string; readonly evt: unknown }
}

/** When words were said, in milliseconds of the audio in the ring. */
export interface Span {
  readonly startMs: number
  readonly endMs: number
}

/** The end of a turn, for vendors that decide it: what comes before it may be withdrawn. */
export type TurnSign = 'eager' | 'resumed' | 'end'

export interface RecognitionEnd {
  /** `failed`: the vendor refused, or broke off more often than is tried. `lost`: the thread died. */
  readonly by: 'closed' | 'failed' | 'lost'
  /** The reason, in words for a journal. */
  readonly because: string
  /** The audio that the vendor was sent. */
  readonly audio_ms: number
  /** The time for which sockets were open. */
  readonly socket_ms: number
}

export type RecognitionEvent =
  | { readonly type: 'opened'; readonly after_ms: number }
  | {
      readonly type: 'heard'
      readonly result: SpeechResult
      readonly span?: Span | undefined
      readonly turn?: TurnSign | undefined
      /** The time between the last sound that was sent and this result. Present with finals. */
      readonly latency_ms?: number | undefined
    }
  /** An event of the vendor besides words, such as UtteranceEnd. */
  | { readonly type: 'vendor'; readonly event: Readonly<Record<string, unknown>> & { readonly type: string } }
  /** The connection broke; the audio since the last final is sent again over a new one. */
  | { readonly type: 'reconnecting'; readonly because: string }
  /** The last event. */
  | { readonly type: 'ended'; readonly end: RecognitionEnd }

export interface Recognising {
  /** With `silent` the vendor hears silence, with `paused` nothing. */
  setMode(mode: StreamMode): void
  /** Asks for the final of what was said so far, where the vendor can be asked. */
  finalize(): void
  /** Closes: the vendor has 1.5 s for one last final, then `ended` follows. Idempotent. */
  close(): void
}

/** The thread that recognisers run in. */
export interface Recognisers {
  /** Returns why no recogniser hears for this vendor, with what to take instead, or undefined if one does. */
  whyNot(vendor: string): string | undefined
  /** Throws AppError overloaded or account_share. Events come only after it has returned. */
  recognise(order: RecognitionOrder, onEvent: (event: RecognitionEvent) => void): Recognising
}

/** Recognition as calls use it: it finds vendor and credential. */
export interface Recognition {
  /** Throws AppError recognizer_unknown, recognizer_not_provisioned, overloaded or account_share. */
  begin(request: RecognitionRequest, onEvent: (event: RecognitionEvent) => void): Promise<Recognising>
}
