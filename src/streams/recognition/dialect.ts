// The interface of a vendor that hears over a WebSocket: what it is sent, and what its messages mean. One file per vendor,
// with a table and two mappers; connections, replays and time-outs are those of `VendorSocket`.
import type { RecognitionOrder, TurnSign } from '../../contracts/recognition.ts'
import type { Outgoing, OutgoingRequest } from '../../outgoing/outgoing.ts'

/** One message of a vendor may mean several things. */
export type Heard =
  /** Audio may be sent. Only from vendors that must be waited for. */
  | { readonly type: 'ready' }
  | HeardWords
  /** An event that applications may want to see, such as UtteranceEnd. */
  | { readonly type: 'event'; readonly event: Readonly<Record<string, unknown>> & { readonly type: string } }
  /** The vendor ends its session, as it does after some time. Another one goes on. */
  | { readonly type: 'over' }
  /** The vendor has said everything after `end`. */
  | { readonly type: 'done' }
  | {
      readonly type: 'failed'
      readonly because: string
      /** True if another connection would fail for the same reason: a key, a quota, a parameter. */
      readonly isFinal: boolean
    }

export interface HeardWords {
  readonly type: 'words'
  readonly text: string
  readonly isFinal: boolean
  readonly confidence: number
  /** The language that was detected, if the vendor says it. */
  readonly language?: string | undefined
  /** Milliseconds of the audio sent on this connection. */
  readonly startMs?: number | undefined
  readonly endMs?: number | undefined
  readonly turn?: TurnSign | undefined
  /** Further members of the object `vendor` of the result. */
  readonly ofVendor?: Readonly<Record<string, unknown>> | undefined
  /** Further members of the alternative. */
  readonly more?: Readonly<Record<string, unknown>> | undefined
  /** The message, as applications get it. */
  readonly evt: unknown
  /** Alternatives besides the first. */
  readonly others?: readonly { readonly transcript: string; readonly confidence: number }[] | undefined
}

/** An address with headers that are known only then. */
export interface Address {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** One conversation with a vendor. A new one is made for each connection, as their messages have a memory. */
export interface Dialect {
  /**
   * ws or wss, or the method of a gRPC call. A function if it is known only after a request, or is signed for this
   * moment. Throws AppError.
   */
  readonly url: string | ((outgoing: Outgoing) => Promise<string | Address>)
  /** True for a gRPC call instead of a WebSocket: an empty message ends what is sent. */
  readonly isGrpc?: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly protocols?: readonly string[]
  /** Sent when the socket is open, before any audio. */
  readonly first: readonly (string | Uint8Array)[]
  /** True if audio may be sent only after `ready`. */
  readonly waits?: boolean
  /** The rate in Hz and the form of the audio; little-endian samples of 16 bit if left out. */
  readonly rate: number
  /** Wraps audio that is not sent as a binary message. */
  encode?(octets: Uint8Array): string | Uint8Array
  /** The least audio of one message, if the vendor refuses shorter ones. */
  readonly minChunkMs?: number
  /** Present if the vendor goes on where a former connection broke: the audio that it has. Its times go on, too. */
  readonly resumesAtMs?: number | undefined
  /** Throws UnreadableJson for what is no message of the vendor. */
  hear(message: string | Buffer): readonly Heard[]
  /** Returns the words so far of an utterance whose end has not come, and forgets them. */
  rest?(): HeardWords | undefined
  /** Sent after so long without audio. */
  readonly keepAlive?: { readonly frame: string | Uint8Array; readonly everyMs: number }
  /** Asks for a final of what was sent. */
  finalize?(): string | Uint8Array | undefined
  /** Sent at the end, after the last audio. If it is empty, the socket is closed. */
  end(): readonly (string | Uint8Array)[]
  /** A reason for a close code, in words for a journal; undefined if another connection may help. */
  refusedBy?(code: number): string | undefined
  /** The longest life of a connection. Another takes its place before that. */
  readonly maxSessionMs?: number
}

export interface VendorOfEars {
  readonly name: string
  /** Throws AppError recognizer_unknown if the order lacks something, such as a key. */
  dialectOf(order: RecognitionOrder): Dialect
  /** Returns how whole utterances are posted, if this order is served that way. Throws like `dialectOf`. */
  postOf?(order: RecognitionOrder): Post | undefined
}

/** The interface of a vendor that hears whole utterances, over HTTP. */
export interface Post {
  /** Returns the request for an utterance, of little-endian samples of 16 bit. */
  requestOf(utterance: {
    readonly sampleRate: number
    readonly bytes: Uint8Array
  }): Promise<Pick<OutgoingRequest, 'url' | 'headers' | 'body'>>
  /** Reads the body of a good response. Throws UnreadableJson for what is none of the vendor. */
  hear(body: Buffer): HeardWords
  /** The silence that ends an utterance, in milliseconds. */
  readonly endMs?: number | undefined
  /** The voice that begins one. */
  readonly onsetMs?: number | undefined
}
