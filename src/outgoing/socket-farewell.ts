// The end of a WebSocket: the connection is cut soon after a close frame. The library alone would read on for its whole
// closing time, as fast as the other side sends.
import type { Socket as NetSocket } from 'node:net'
import type { WebSocket } from 'ws'
import type { Clock, Timer } from '../lib/clock.ts'

export interface FarewellOptions {
  readonly network: NetSocket
  readonly clock: Clock
  /** The most bytes that are read after a close frame was sent or received. */
  readonly maxBytes: number
}

/** The time for the close frame to reach the other side. */
const farewellMs = 50
/** The most messages that are read after a close frame was sent: what a server sends ahead may be on its way. */
const maxMessages = 1000

/**
 * Cuts the connection soon after the library has refused what the other side sent (RFC 6455 §7.1.7), and when it goes on
 * sending after a close frame. Nothing is read meanwhile.
 */
export function boundFarewell(socket: WebSocket, { network, clock, maxBytes }: FarewellOptions): void {
  let bytes = 0
  let messages = 0
  let timer: Timer | undefined
  const leave = (): void => {
    if (timer !== undefined) return
    timer = clock.after(farewellMs, () => socket.terminate())
    socket.pause()
  }
  const isClosing = (): boolean => socket.readyState !== socket.OPEN
  socket.on('error', leave)
  network.on('data', (chunk: Buffer) => {
    if (isClosing()) bytes += chunk.length
    if (bytes > maxBytes) leave()
    // The library lets the connection flow again, to read what is left.
    if (timer !== undefined) socket.pause()
  })
  socket.on('message', () => {
    if (isClosing()) messages += 1
    if (messages > maxMessages) leave()
  })
  socket.once('close', () => timer?.cancel())
}
