// The thread of streams, seen from inside: its sockets, and the beat at which rings are read and filled.
import { ResamplerTables } from '../lib/audio/resampler.ts'
import type { Sockets } from '../outgoing/sockets.ts'
import type { HearingLimits } from './hearing.ts'
import { SocketStream } from './socket-stream.ts'
import type { FromThread, ToThread } from './messages.ts'

const beatMs = 20

export class StreamHost {
  readonly #sockets: Sockets
  readonly #post: (message: FromThread) => void
  readonly #limits: Partial<HearingLimits> | undefined
  readonly #streams = new Map<number, SocketStream>()
  readonly #tables = new ResamplerTables()
  #timer: NodeJS.Timeout | undefined
  #nextMs = 0

  constructor(sockets: Sockets, post: (message: FromThread) => void, limits?: Partial<HearingLimits>) {
    this.#sockets = sockets
    this.#limits = limits
    this.#post = post
  }

  accept(message: ToThread): void {
    switch (message.kind) {
      case 'open':
        return this.#open(message)
      case 'send':
        return this.#streams.get(message.id)?.send(message.text)
      case 'mode':
        return this.#streams.get(message.id)?.setMode(message.mode)
      case 'close':
        return this.#streams.get(message.id)?.close()
      case 'ping':
        return this.#post('pong')
      case 'stop':
        for (const stream of this.#streams.values()) stream.cut()
        return this.#rest()
      default:
        return message satisfies never
    }
  }

  #open({ id, order }: ToThread & { kind: 'open' }): void {
    const stream = new SocketStream(order, {
      sockets: this.#sockets,
      tables: this.#tables,
      limits: this.#limits,
      onEvent: (event) => {
        if (event.type === 'ended') this.#streams.delete(id)
        this.#post({ id, event })
        if (this.#streams.size === 0) this.#rest()
      },
    })
    this.#streams.set(id, stream)
    stream.open()
    if (this.#timer !== undefined) return
    this.#nextMs = performance.now() + beatMs
    this.#arm()
  }

  /** Plans the next beat on an absolute schedule. Missed beats are not repeated: each reads all that is ready. */
  #arm(): void {
    const nowMs = performance.now()
    if (nowMs > this.#nextMs) this.#nextMs += Math.ceil((nowMs - this.#nextMs) / beatMs) * beatMs
    this.#timer = setTimeout(() => {
      this.#nextMs += beatMs
      this.#arm()
      for (const stream of this.#streams.values()) stream.beat()
    }, this.#nextMs - nowMs)
  }

  #rest(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
