// A hook: the URL of an application that a call asks, or that is notified of what has happened.

/** For HTTP Basic authentication; null: none is sent. */
export interface HookCredentials {
  readonly username: string | null
  readonly password: string | null
}

export interface Hook extends HookCredentials {
  readonly url: string
  readonly method: 'GET' | 'POST'
}

/** A hook that a call waits for: asked within a budget, signed, answered with JSON. */
export interface HookRequest {
  readonly account_sid: string
  /** Its URL is absolute. */
  readonly hook: Hook
  readonly payload: object
  readonly signal?: AbortSignal
}

export interface HookAnswer {
  /** Absolute, without fragment: the base of later relative hooks. */
  readonly url: string
  readonly status: number
  readonly durationMs: number
  readonly attempts: number
  /** The content type that the answer names, for a sentence about an answer that carried no JSON. */
  readonly contentType?: string
  /** The parsed JSON document; undefined when the answer carried none. */
  readonly body: unknown
  /** It carried one, under a content type that does not say so, and it was not read. */
  readonly isUnread?: boolean
}

export interface Hooks {
  /** Throws AppError hook_* with a public sentence, or the signal's reason. */
  ask(request: HookRequest): Promise<HookAnswer>
}
