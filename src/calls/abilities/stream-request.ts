// What a verb asks for when the sound of a call is to go to an audio server.

export interface StreamOptions {
  /** ws, wss, or a path on the application's host. */
  readonly url: string
  readonly auth?: { readonly username: string; readonly password: string }
  /** `mono`: what this one says; `mixed`: with what it hears; `stereo`: both, what it says on the left. */
  readonly mixType: 'mono' | 'mixed' | 'stereo'
  /** Hz. */
  readonly sampleRate: number
  /** Members of the first frame, in place of those of the call. */
  readonly metadata: object
  readonly passesKeys: boolean
  readonly beeps: boolean
  /** What the server says is heard. */
  readonly isBidirectional: boolean
  /** Binary frames are heard as they come, at this rate. */
  readonly streamedRate?: number
}

/** Its address resolved, with the credentials for it. */
export interface StreamPlan extends StreamOptions {
  readonly headers: Readonly<Record<string, string>>
}

/** `background`: until it is switched off; `conference`: while the call is in one. */
export type BesideName = 'background' | 'conference'

export interface ListenRequest {
  readonly plan: StreamPlan
  /** Any of these keys ends it. */
  readonly finishOnKey: string
  readonly maxMs?: number
  readonly signal: AbortSignal
}

export interface ListenOutcome {
  readonly durationMs: number
  /** The key that ended it, or none. */
  readonly digits: string
  /** There was no socket, or it broke; or our thread died. */
  readonly hasFailed: boolean
}

export interface Streaming {
  /** Throws AppError hook_invalid_payload for an address that is none of a WebSocket. */
  plan(options: StreamOptions): StreamPlan
  /** Resolves when it is over. Throws AppError overloaded or account_share. */
  listen(request: ListenRequest): Promise<ListenOutcome>
  /** Beside what runs, in place of the one of this name. What fails is written to the journal. */
  begin(name: BesideName, plan: StreamPlan): void
  end(name: BesideName): void
}
