// An event of a call's journal as it is stored. The call engine defines the types and facts.

/** An event, possibly written by another version of the platform. */
export interface StoredEvent {
  /** 1, 2, 3 ... without gaps within a call. */
  readonly seq: number
  /** Epoch ms. */
  readonly at: number
  readonly type: string
  readonly [fact: string]: unknown
}
