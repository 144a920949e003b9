// Facts of the socket of an application over WebSocket, in the journal of the call that it runs.

/** `connection`: 1 for the first one, more where one before it broke. `dropped`: messages that waited for it and did not fit. */
type SocketOpenedFact = {
  readonly type: 'socket-opened'
  readonly url: string
  readonly connection: number
  readonly dropped?: number
}

/** It broke, and is opened again. */
type SocketLostFact = {
  readonly type: 'socket-lost'
  readonly url: string
  readonly code: number
  readonly because: string
}

/** It is over for good. `code`: that of its close frame (RFC 6455 §7.4.1). */
type SocketClosedFact = {
  readonly type: 'socket-closed'
  readonly url: string
  readonly code: number
  readonly by: 'application' | 'platform'
  readonly because: string
  /** It never was open: why is what the question over it failed with. */
  readonly isOpened?: false
}

export type SocketFact = SocketOpenedFact | SocketLostFact | SocketClosedFact
