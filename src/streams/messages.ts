// The messages between the main thread and the thread of streams: ids, texts and facts. Audio goes through rings.
import type { HearingLimits } from './hearing.ts'
import type { RecognitionEvent, RecognitionOrder } from '../contracts/recognition.ts'
import type { StreamEvent, StreamMode, StreamOrder } from '../contracts/audio-stream.ts'

export type ToThread =
  | { readonly kind: 'open'; readonly id: number; readonly order: StreamOrder }
  | { readonly kind: 'recognise'; readonly id: number; readonly order: RecognitionOrder }
  | { readonly kind: 'finalize'; readonly id: number }
  | { readonly kind: 'send'; readonly id: number; readonly text: string }
  | { readonly kind: 'mode'; readonly id: number; readonly mode: StreamMode }
  | { readonly kind: 'close'; readonly id: number }
  /** The response is `pong`. */
  | { readonly kind: 'ping' }
  | { readonly kind: 'stop' }

export type FromThread = 'pong' | { readonly id: number; readonly event: StreamEvent | RecognitionEvent }

/** The data that the thread gets when it starts. */
export interface ThreadSetup {
  /** CIDR ranges that may be reached although they are not public unicast. */
  readonly allow: readonly string[]
  readonly nameServers: readonly string[] | undefined
  readonly limits?: Partial<HearingLimits> | undefined
}
