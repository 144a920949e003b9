// The facts about the WebSocket of an application, in the journal of the call that it runs.

/** `connection`: 1 for the first, more after one broke. `dropped`: the number of waiting messages that did not fit. */
type SocketOpenedFact = {
  readonly type: 'socket-opened'
  readonly url: string
  readonly connection: number
  readonly dropped?: number
}

/** The connection broke, and is opened again. */
type SocketLostFact = {
  readonly type: 'socket-lost'
  readonly url: string
  readonly code: number
  readonly because: string
}

/** The connection has ended and is not opened again. `code`: that of its close frame (RFC 6455 §7.4.1). */
type SocketClosedFact = {
  readonly type: 'socket-closed'
  readonly url: string
  readonly code: number
  readonly by: 'application' | 'platform'
  readonly because: string
  /** The socket was never open. The reason is in the failure of the hook request over it. */
  readonly isOpened?: false
}

export type SocketFact = SocketOpenedFact | SocketLostFact | SocketClosedFact
