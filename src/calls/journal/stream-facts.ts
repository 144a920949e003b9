// Facts of a call whose sound goes to an audio server over a WebSocket.
import type { StreamEnd, StreamFigures, StreamMode } from '../../contracts/audio-stream.ts'

/** The server is given the sound from now on. */
type StreamOpenedFact = {
  readonly type: 'stream-opened'
  /** Which of the call's streams: `listen`, `background` or `dial`. */
  readonly stream: string
  readonly url: string
  readonly mix_type: string
  readonly sample_rate: number
}

/** The server does not take the sound: it loses some until it does. */
type StreamStalledFact = { readonly type: 'stream-stalled'; readonly stream: string }

/** It takes the sound again. A frame is 20 ms. */
type StreamRecoveredFact = {
  readonly type: 'stream-recovered'
  readonly stream: string
  readonly lost_frames: number
}

/** The server sent what makes no sense: told once. */
type StreamMisunderstoodFact = {
  readonly type: 'stream-misunderstood'
  readonly stream: string
  readonly sentence: string
}

/** By a command. `silent`: it is sent silence; `paused`: nothing. */
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
