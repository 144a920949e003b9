// A hook: a URL of an application. A call requests verbs there, or events are reported to it.

/** For HTTP Basic authentication. Null if none are sent. */
export interface HookCredentials {
  readonly username: string | null
  readonly password: string | null
}

export interface Hook extends HookCredentials {
  readonly url: string
  readonly method: 'GET' | 'POST'
}

/** A hook that a call waits for: sent within a time budget, signed, and answered with JSON. */
export interface HookRequest {
  readonly account_sid: string
  /** The URL of the hook is absolute. */
  readonly hook: Hook
  readonly payload: object
  readonly signal?: AbortSignal
}

export interface HookAnswer {
  /** Absolute, without fragment. It is the base of later relative hooks. */
  readonly url: string
  readonly status: number
  readonly durationMs: number
  readonly attempts: number
  /** The content type of the answer, for a sentence about an answer without JSON. */
  readonly contentType?: string
  /** The parsed JSON document, or undefined if the answer had none. */
  readonly body: unknown
  /** True if it contained JSON that was not read, because of its content type. */
  readonly isUnread?: boolean
}

export interface Hooks {
  /** Throws AppError hook_* with a public sentence, or the signal's reason. */
  ask(request: HookRequest): Promise<HookAnswer>
}
