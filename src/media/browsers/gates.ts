// The connection of a media worker's sessions to the process of browsers, one for all of them.
import { connect, type Socket } from 'node:net'
import type { Gate } from './messages.ts'
import { PacketPipe } from './packet-pipe.ts'

interface Connection {
  readonly port: number
  readonly socket: Socket
  readonly pipe: PacketPipe
}

export class BrowserGates {
  readonly #listeners = new Map<number, (packet: Buffer) => void>()
  #connection: Connection | undefined

  /**
   * Starts delivery of this path's packets. Returns a function that sends to the path and returns false if the packet
   * was dropped.
   */
  enter(
    gate: Gate,
    peer: number,
    onPacket: (packet: Buffer) => void,
  ): (packet: Buffer, bytes: number) => boolean {
    this.#listeners.set(peer, onPacket)
    const { pipe } = this.#connectionTo(gate)
    pipe.send(peer, new Uint8Array())
    return (packet, bytes) => pipe.send(peer, packet, bytes)
  }

  leave(peer: number): void {
    this.#listeners.delete(peer)
  }

  close(): void {
    this.#connection?.socket.destroy()
    this.#connection = undefined
  }

  /**
   * Returns the connection. A process that was started again has another port; the end of the former one is reported
   * elsewhere.
   */
  #connectionTo({ port, token }: Gate): Connection {
    const former = this.#connection
    if (former?.port === port && !former.socket.destroyed) return former
    former?.socket.destroy()
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    socket.on('error', () => undefined)
    socket.write(token)
    const pipe = new PacketPipe(socket)
    pipe.listen((peer, packet) => this.#listeners.get(peer)?.(packet))
    this.#connection = { port, socket, pipe }
    return this.#connection
  }
}
