// The types of audio streams: WebSockets that are given what a call says and hears, and may speak in it. They live in a thread
// of their own, so that a slow or hostile server is heard by no one else.

/**
 * Frames of 20 ms in memory that threads share, a ring of lib/audio-ring.ts: at 8000 Hz, or at 16000 or 8000 where there is room
 * for the samples of both.
 */
export interface SharedRing {
  readonly id: string
  readonly memory: SharedArrayBuffer
}

export interface StreamOrder {
  /** ws or wss. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The first frame, as text. */
  readonly hello: string
  /** What it is given, of one or two channels: with room for 16000 Hz where its rate is as high. */
  readonly given: SharedRing
  readonly channels: 1 | 2
  /** Hz, of what it is sent. */
  readonly rate: number
  /** Undefined: nothing of it is heard. */
  readonly says?: SpeechOrder | undefined
}

export interface SpeechOrder {
  /** Of one channel. */
  readonly ring: SharedRing
  /** A beep says that the server hears the call. */
  readonly beeps?: boolean
  /** What the server says is not heard. */
  readonly isOneWay?: boolean
  /** Binary frames are heard as they come, at this rate; undefined: they are not heard. */
  readonly streamedRate?: number | undefined
}

/** `silent`: it is sent silence; `paused`: nothing. */
export type StreamMode = 'on' | 'silent' | 'paused'

/** An alias: journals take it as a plain record. */
export type StreamFigures = {
  /** Of 20 ms. */
  readonly sent_frames: number
  /** It did not take them in time. */
  readonly lost_frames: number
  /** Of what it said. */
  readonly heard_ms: number
}

export interface StreamEnd {
  /** `server`: it closed the socket; `disconnect`: it said so; `failed`: no socket, or one that broke; `lost`: our thread died. */
  readonly by: 'server' | 'disconnect' | 'closed' | 'failed' | 'lost'
  /** In words for a journal. */
  readonly because: string
  readonly figures: StreamFigures
}

export type StreamEvent =
  | { readonly type: 'opened' }
  /** It does not take what it is sent; it loses frames until it does. */
  | { readonly type: 'stalled' }
  | { readonly type: 'recovered'; readonly lost_frames: number }
  /** Once: later ones are ignored without a word. */
  | { readonly type: 'misunderstood'; readonly because: string }
  /** Nothing follows. */
  | { readonly type: 'ended'; readonly end: StreamEnd }

export interface AudioStream {
  /** A text frame. */
  send(text: string): void
  setMode(mode: StreamMode): void
  /** `ended` follows. Idempotent. */
  close(): void
}

export interface Streams {
  /** Throws AppError overloaded or account_share. Events follow later, never before it has returned. */
  open(order: StreamOrder, onEvent: (event: StreamEvent) => void): AudioStream
}

export const noFigures: StreamFigures = { sent_frames: 0, lost_frames: 0, heard_ms: 0 }
