// The process of browsers seen from inside: a path for each far end, and its packets to and from the media workers.
import { timingSafeEqual } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import type { Clock, Timer } from '../../lib/clock.ts'
import {
  betweenPorts,
  type FarSide,
  type FromBrowsers,
  type PathLimits,
  type PathLoss,
  type ToBrowsers,
} from './messages.ts'
import { PacketPipe } from './packet-pipe.ts'
import type { Peer, Peers } from './peers.ts'

// A worker sends its token immediately; another program of this machine does not have it.
const helloMs = 2000
const maxConnections = 256

interface Open {
  readonly peer: Peer
  /** The time limit of the handshake; it runs until the handshake is complete. */
  limit: Timer | undefined
  /** The pipe of the worker that has the session. */
  pipe: PacketPipe | undefined
  /** The first packets of a handshake, kept until its worker is connected. */
  readonly waiting: Buffer[]
}

// The packets that one side of a handshake sends in one go.
const maxWaiting = 8

export interface BrowserHostOptions {
  readonly createPeers: (at: { readonly bind: string; readonly port: number }) => Promise<Peers>
  readonly clock: Clock
  readonly post: (message: FromBrowsers) => void
}

export class BrowserHost {
  readonly #options: BrowserHostOptions
  readonly #open = new Map<number, Open>()
  #limits: PathLimits = { connectMs: 0, peers: 0 }
  #peers: Peers | undefined
  #gate: Server | undefined

  constructor(options: BrowserHostOptions) {
    this.#options = options
  }

  async accept(message: ToBrowsers): Promise<void> {
    switch (message.kind) {
      case 'start':
        return await this.#start(message)
      case 'open':
        return this.#openPeer(message.peer, message.far)
      case 'answer':
        return this.#answer(message.peer, message.far)
      case 'close':
        return this.#close(message.peer)
    }
  }

  stop(): void {
    for (const peer of this.#open.keys()) this.#close(peer)
    this.#gate?.close()
    this.#peers?.close()
  }

  async #start({ bind, port, token, limits }: ToBrowsers & { readonly kind: 'start' }): Promise<void> {
    const { post, createPeers } = this.#options
    this.#limits = limits
    try {
      const peers = await createPeers({ bind, port })
      this.#peers = peers
      post({ kind: 'ready', port: peers.port, gatePort: await this.#listen(Buffer.from(token)) })
    } catch (error) {
      post({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
    }
  }

  #listen(token: Buffer): Promise<number> {
    const gate = createServer((socket) => this.#welcome(socket, token))
    gate.maxConnections = maxConnections
    this.#gate = gate
    return new Promise((resolve, reject) => {
      gate.once('error', reject)
      gate.listen({ host: '127.0.0.1', port: 0 }, () => {
        const address = gate.address()
        resolve(typeof address === 'object' && address !== null ? address.port : 0)
      })
    })
  }

  #welcome(socket: Socket, token: Buffer): void {
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    const limit = this.#options.clock.after(helloMs, () => socket.destroy())
    let head: Buffer = Buffer.alloc(0)
    const onData = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk])
      if (head.length < token.length) return
      limit.cancel()
      socket.off('data', onData)
      if (!timingSafeEqual(head.subarray(0, token.length), token)) return void socket.destroy()
      this.#serve(socket, head.subarray(token.length))
    }
    socket.on('data', onData)
    socket.once('close', () => limit.cancel())
  }

  #serve(socket: Socket, head: Buffer): void {
    const pipe = new PacketPipe(socket)
    pipe.listen((id, packet) => {
      const isBetweenPorts = id >= betweenPorts
      const open = this.#open.get(isBetweenPorts ? id - betweenPorts : id)
      if (open === undefined) return
      // An empty packet registers its pipe: packets of the path go to the worker that registered last.
      if (packet.length === 0) this.#attach(id, open, pipe)
      else if (isBetweenPorts) open.peer.receive(packet)
      else open.peer.send(packet)
    }, head)
  }

  #attach(id: number, open: Open, pipe: PacketPipe): void {
    open.pipe = pipe
    if (id < betweenPorts) return
    for (const packet of open.waiting.splice(0)) pipe.send(id, packet)
  }

  #reply(id: number, packet: Buffer): void {
    const open = this.#open.get(id)
    if (open?.pipe !== undefined) open.pipe.send(id + betweenPorts, packet)
    else if (open !== undefined && open.waiting.length < maxWaiting) open.waiting.push(Buffer.from(packet))
  }

  #openPeer(id: number, far: FarSide | undefined): void {
    const { post } = this.#options
    if (this.#peers === undefined || this.#open.size >= this.#limits.peers)
      return post({ kind: 'refused', peer: id, reason: 'no more paths are open to browsers' })
    try {
      const peer = this.#peers.open(far, {
        onConnected: (from) => {
          this.#open.get(id)?.limit?.cancel()
          post({ kind: 'connected', peer: id, ...from })
        },
        onLost: (loss) => this.#lose(id, loss),
        onPacket: (packet) => void this.#open.get(id)?.pipe?.send(id, packet),
        onReply: (packet) => this.#reply(id, packet),
      })
      this.#open.set(id, { peer, limit: undefined, pipe: undefined, waiting: [] })
      if (far !== undefined) this.#await(id)
      post({ kind: 'opened', peer: id, own: peer.own })
    } catch (error) {
      post({ kind: 'refused', peer: id, reason: error instanceof Error ? error.message : String(error) })
    }
  }

  #answer(id: number, far: FarSide): void {
    const open = this.#open.get(id)
    if (open === undefined) return
    try {
      open.peer.accept(far)
      this.#await(id)
    } catch {
      this.#lose(id, 'no-path')
    }
  }

  /** Starts the time limit of ICE and the handshake, once both sides are known. */
  #await(id: number): void {
    const open = this.#open.get(id)
    if (open === undefined) return
    open.limit?.cancel()
    open.limit = this.#options.clock.after(this.#limits.connectMs, () =>
      this.#lose(id, open.peer.hasPath ? 'no-handshake' : 'no-path'),
    )
  }

  #lose(id: number, loss: PathLoss): void {
    if (!this.#open.has(id)) return
    this.#close(id)
    this.#options.post({ kind: 'lost', peer: id, loss })
  }

  #close(id: number): void {
    const open = this.#open.get(id)
    this.#open.delete(id)
    open?.limit?.cancel()
    open?.peer.close()
  }
}
