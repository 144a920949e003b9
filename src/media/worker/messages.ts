// The messages between the main thread and a media worker: ids, control and facts; never audio.
import type { WorkerLoad } from '../tick-clock.ts'
import type { KeysToSend } from '../keys/key-sender.ts'
import type { ErrorCode } from '../../lib/errors.ts'
import type { MirrorWiring, WorkerWiring } from '../wiring.ts'
import type { MediaEvent, PlayResult, StreamStats } from '../media.ts'
import type { Agreement } from '../sdp/agreement.ts'

export type WorkerRequest =
  | { readonly kind: 'open'; readonly session: string }
  | { readonly kind: 'live' | 'doubt'; readonly session: string }
  | { readonly kind: 'agree'; readonly session: string; readonly agreement: Agreement }
  | {
      readonly kind: 'play'
      readonly session: string
      readonly play: number
      readonly path: string
      readonly offsetMs: number
      readonly rounds: number
      readonly follows: boolean
    }
  | { readonly kind: 'stop-play'; readonly session: string; readonly play: number }
  | { readonly kind: 'wire'; readonly session: string; readonly wiring: WorkerWiring }
  /** A session of another worker. Without a wiring it is no longer needed here. */
  | { readonly kind: 'mirror'; readonly session: string; readonly wiring: MirrorWiring | undefined }
  | (KeysToSend & { readonly kind: 'send-keys'; readonly session: string })
  | { readonly kind: 'stats'; readonly session: string }
  | { readonly kind: 'close'; readonly session: string }
  | { readonly kind: 'ping' }
  | { readonly kind: 'stop' }

/** The reply to each kind of request. */
export interface WorkerReplies {
  readonly open: { readonly port: number }
  readonly live: null
  readonly doubt: null
  readonly agree: null
  readonly play: PlayResult
  readonly 'stop-play': null
  readonly wire: null
  readonly mirror: null
  readonly 'send-keys': null
  readonly stats: StreamStats
  readonly close: StreamStats
  readonly ping: WorkerLoad
  readonly stop: null
}

export type RequestKind = keyof WorkerReplies
export type RequestOf<Kind extends RequestKind> = Extract<WorkerRequest, { kind: Kind }>

export interface Envelope {
  readonly id: number
  readonly request: WorkerRequest
}

export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'reply'; readonly id: number; readonly value: WorkerReplies[RequestKind] }
  | {
      readonly kind: 'failure'
      readonly id: number
      readonly code: ErrorCode
      readonly message: string
      /** Only for the log. */
      readonly stack: string | undefined
    }
  | { readonly kind: 'event'; readonly session: string; readonly event: MediaEvent }
