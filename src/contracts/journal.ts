// An event of a call's journal as it is kept. Which types and facts there are, the call engine says.

/** Another version of the platform may have written it. */
export interface StoredEvent {
  /** 1, 2, 3 ... without gaps within a call. */
  readonly seq: number
  /** Epoch ms. */
  readonly at: number
  readonly type: string
  readonly [fact: string]: unknown
}
