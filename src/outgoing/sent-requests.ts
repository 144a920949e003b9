// The requests on each connection of the HTTP library, which reports them in a channel for diagnostics only.
import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

interface Connection {
  requests: number
  readonly begin: () => void
}

const channel = 'undici:client:sendHeaders'
const connections = new WeakMap<Socket, Connection>()
let isSubscribed = false
/** The library reports a request as sent in the same turn in which it starts it. */
let starting: ((isKept: boolean) => void) | undefined

/** Calls `begin` at each request that is sent on the connection. */
export function watchRequests(socket: Socket, begin: () => void): void {
  if (!isSubscribed) subscribe(channel, (sent) => noteSent((sent as { socket: Socket }).socket))
  isSubscribed = true
  connections.set(socket, { requests: 0, begin })
}

/** Tells of the request that is being started whether its connection has had others before. */
export function onSent(tell: (isKept: boolean) => void): void {
  starting = tell
}

function noteSent(socket: Socket): void {
  const connection = connections.get(socket)
  if (connection === undefined) return
  connection.requests += 1
  connection.begin()
  starting?.(connection.requests > 1)
  starting = undefined
}
