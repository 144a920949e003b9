// The types of audio streams: WebSockets that get the audio of a call, and may speak in it. They run in a thread of
// their own, so that a slow or hostile server affects nothing else.

/**
 * A ring of frames of 20 ms in shared memory (lib/audio/audio-ring.ts), at 8000 Hz, or, with room for 16000 Hz, at either
 * rate.
 */
export interface SharedRing {
  readonly id: string
  readonly memory: SharedArrayBuffer
}

export interface StreamOrder {
  /** ws or wss. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The first frame, a text. */
  readonly hello: string
  /** The audio for the server, of one or two channels; with room for 16000 Hz if `rate` is as high. */
  readonly given: SharedRing
  readonly channels: 1 | 2
  /** The rate of the audio that is sent, in Hz. */
  readonly rate: number
  /** Undefined if the call does not hear the server. */
  readonly says?: SpeechOrder | undefined
}

export interface SpeechOrder {
  /** A ring of one channel. */
  readonly ring: SharedRing
  /** True if a beep announces the server. */
  readonly beeps?: boolean
  /** True if the call does not hear the server. */
  readonly isOneWay?: boolean
  /** The rate of binary frames, or undefined if they are not played. */
  readonly streamedRate?: number | undefined
}

/** With `silent` the server is sent silence, with `paused` nothing. */
export type StreamMode = 'on' | 'silent' | 'paused'

/** An alias, since journals accept it as a plain record. */
export type StreamFigures = {
  /** Frames of 20 ms. */
  readonly sent_frames: number
  /** Frames that the server did not accept in time. */
  readonly lost_frames: number
  /** The audio of the server that was played. */
  readonly heard_ms: number
}

export interface StreamEnd {
  /**
   * `server`: it closed the socket. `disconnect`: it sent that. `failed`: the socket did not open, or broke. `lost`:
   * the thread died.
   */
  readonly by: 'server' | 'disconnect' | 'closed' | 'failed' | 'lost'
  /** The reason, in words for a journal. */
  readonly because: string
  readonly figures: StreamFigures
}

export type StreamEvent =
  | { readonly type: 'opened' }
  /** The server does not accept its frames. It loses frames until it does. */
  | { readonly type: 'stalled' }
  | { readonly type: 'recovered'; readonly lost_frames: number }
  /** Reported once; later invalid messages are ignored silently. */
  | { readonly type: 'misunderstood'; readonly because: string }
  /** The last event. */
  | { readonly type: 'ended'; readonly end: StreamEnd }

export interface AudioStream {
  /** Sends a text frame. */
  send(text: string): void
  setMode(mode: StreamMode): void
  /** Closes the stream. `ended` follows. Idempotent. */
  close(): void
}

export interface Streams {
  /** Throws AppError overloaded or account_share. Events come only after it has returned. */
  open(order: StreamOrder, onEvent: (event: StreamEvent) => void): AudioStream
}

export const noFigures: StreamFigures = { sent_frames: 0, lost_frames: 0, heard_ms: 0 }
