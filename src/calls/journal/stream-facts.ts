// The facts of a call whose audio is streamed to an audio server over a WebSocket.
import type { StreamEnd, StreamFigures, StreamMode } from '../../contracts/audio-stream.ts'

/** The stream of audio to the server has begun. */
type StreamOpenedFact = {
  readonly type: 'stream-opened'
  /** The name of the stream in its call: `listen`, `background`, `dial` or `conference`. */
  readonly stream: string
  readonly url: string
  readonly mix_type: string
  readonly sample_rate: number
}

/** The server does not read the audio. Frames are lost until it does. */
type StreamStalledFact = { readonly type: 'stream-stalled'; readonly stream: string }

/** The server reads the audio again. A frame is 20 ms. */
type StreamRecoveredFact = {
  readonly type: 'stream-recovered'
  readonly stream: string
  readonly lost_frames: number
}

/** The server sent a message that could not be read. Reported once. */
type StreamMisunderstoodFact = {
  readonly type: 'stream-misunderstood'
  readonly stream: string
  readonly sentence: string
}

/** A command has changed the mode. `silent`: the server is sent silence; `paused`: nothing. */
type StreamModeFact = { readonly type: 'stream-mode'; readonly stream: string; readonly mode: StreamMode }

type StreamEndedFact = StreamFigures & {
  readonly type: 'stream-ended'
  readonly stream: string
  readonly by: StreamEnd['by']
  readonly because: string
}

export type StreamFact =
  | StreamOpenedFact
  | StreamStalledFact
  | StreamRecoveredFact
  | StreamMisunderstoodFact
  | StreamModeFact
  | StreamEndedFact
