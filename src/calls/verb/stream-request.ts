// The requests of verbs to stream the audio of a call to an audio server.

export interface StreamOptions {
  /** ws, wss, or a path on the application's host. */
  readonly url: string
  readonly auth?: { readonly username: string; readonly password: string }
  /** `mono`: audio from the far end; `mixed`: with the audio that it hears; `stereo`: both, its own on the left. */
  readonly mixType: 'mono' | 'mixed' | 'stereo'
  /** The sample rate in Hz. */
  readonly sampleRate: number
  /** Members of the first frame. They override those of the call. */
  readonly metadata: object
  readonly passesKeys: boolean
  readonly beeps: boolean
  /** Whether audio from the server is heard. */
  readonly isBidirectional: boolean
  /** The rate of binary frames, which are played as they arrive. */
  readonly streamedRate?: number
}

/** A stream whose address is resolved, with its credentials. */
export interface StreamPlan extends StreamOptions {
  readonly headers: Readonly<Record<string, string>>
}

/** `background`: runs until it is switched off; `conference`: runs while the call is in a conference. */
export type BesideName = 'background' | 'conference'

export interface ListenRequest {
  readonly plan: StreamPlan
  /** The keys that end it. */
  readonly finishOnKey: string
  readonly maxMs?: number
  readonly signal: AbortSignal
}

export interface ListenOutcome {
  readonly durationMs: number
  /** The key that ended it, or an empty string. */
  readonly digits: string
  /** Whether no socket could be opened, the socket broke, or the streaming thread died. */
  readonly hasFailed: boolean
}

export interface Streaming {
  /** Resolves the address. Throws AppError hook_invalid_payload if it is not one of a WebSocket. */
  plan(options: StreamOptions): StreamPlan
  /** Streams, and resolves when the stream has ended. Throws AppError overloaded or account_share. */
  listen(request: ListenRequest): Promise<ListenOutcome>
  /** Begins a stream beside the running verb, in place of one of this name. Failures are journalled. */
  begin(name: BesideName, plan: StreamPlan): void
  end(name: BesideName): void
}
