// The requests on each connection of the HTTP library, which reports them in a channel for diagnostics only.
import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { AnswerMeter } from './answer-meter.ts'

export interface Connection {
  readonly meter: AnswerMeter
  /** Runs at each request that is sent on the connection. */
  begin(): void
  /** Runs work and charges its time to the tenant of the latest request. */
  charge?: Charge | undefined
}

/** Runs work, and charges its time to a tenant. */
export type Charge = <T>(work: () => T) => T

const channel = 'undici:client:sendHeaders'
const connections = new WeakMap<Socket, { requests: number; readonly connection: Connection }>()
let isSubscribed = false
/** The library reports a request as sent in the same turn in which it starts it. */
let starting: ((isKept: boolean, connection: Connection) => void) | undefined

export function watchRequests(socket: Socket, connection: Connection): void {
  if (!isSubscribed) subscribe(channel, (sent) => noteSent((sent as { socket: Socket }).socket))
  isSubscribed = true
  connections.set(socket, { requests: 0, connection })
}

/** Tells of the request that is being started which connection it has, and whether that has had others before. */
export function onSent(tell: (isKept: boolean, connection: Connection) => void): void {
  starting = tell
}

function noteSent(socket: Socket): void {
  const watched = connections.get(socket)
  if (watched === undefined) return
  watched.requests += 1
  watched.connection.begin()
  starting?.(watched.requests > 1, watched.connection)
  starting = undefined
}
