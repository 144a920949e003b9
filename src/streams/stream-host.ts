// The thread of streams, seen from inside: its sockets and recognisers, and the beat at which rings are read and filled.
import { ResamplerTables } from '../lib/audio/resampler.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { Sockets } from '../outgoing/sockets.ts'
import type { HearingLimits } from './hearing.ts'
import type * as Recognition from './recognition/create-recogniser.ts'
import { SocketStream } from './socket-stream.ts'
import type { FromThread, ToThread } from './messages.ts'
import type { StreamEvent, StreamMode } from '../contracts/audio-stream.ts'
import type { RecognitionEvent } from '../contracts/recognition.ts'

const beatMs = 20

/** A stream to an audio server, or a recogniser. */
interface Hosted {
  open(): void
  beat(): void
  close(): void
  cut(): void
  setMode(mode: StreamMode): void
  send?(text: string): void
  finalize?(): void
}

export interface StreamHostOptions {
  readonly sockets: Sockets
  readonly grpc: Sockets
  readonly outgoing: Outgoing
  readonly post: (message: FromThread) => void
  readonly limits?: Partial<HearingLimits> | undefined
}

export class StreamHost {
  readonly #sockets: Sockets
  readonly #grpc: Sockets
  readonly #outgoing: Outgoing
  readonly #post: (message: FromThread) => void
  readonly #limits: Partial<HearingLimits> | undefined
  readonly #streams = new Map<number, Hosted>()
  readonly #tables = new ResamplerTables()
  /** Loaded with the first recogniser: audio servers need none of it. */
  #recognition: typeof Recognition | undefined
  /** The messages that have come while it is loaded. */
  #waiting: ToThread[] | undefined
  #timer: NodeJS.Timeout | undefined
  #nextMs = 0

  constructor({ sockets, grpc, outgoing, post, limits }: StreamHostOptions) {
    this.#sockets = sockets
    this.#grpc = grpc
    this.#outgoing = outgoing
    this.#limits = limits
    this.#post = post
  }

  accept(message: ToThread): void {
    if (this.#waiting !== undefined && message.kind !== 'ping' && message.kind !== 'stop')
      return void this.#waiting.push(message)
    switch (message.kind) {
      case 'open':
        return this.#open(message)
      case 'recognise':
        return this.#recognise(message)
      case 'finalize':
        return this.#streams.get(message.id)?.finalize?.()
      case 'send':
        return this.#streams.get(message.id)?.send?.(message.text)
      case 'mode':
        return this.#streams.get(message.id)?.setMode(message.mode)
      case 'close':
        return this.#streams.get(message.id)?.close()
      case 'ping':
        return this.#post('pong')
      case 'stop':
        for (const stream of this.#streams.values()) stream.cut()
        void this.#outgoing.close()
        return this.#rest()
      default:
        return message satisfies never
    }
  }

  #open({ id, order }: ToThread & { kind: 'open' }): void {
    this.#host(id, new SocketStream(order, this.#optionsOf(id)))
  }

  #recognise(message: ToThread & { kind: 'recognise' }): void {
    const { id, order } = message
    if (this.#recognition === undefined) return void this.#load(message)
    this.#host(id, this.#recognition.recogniserOf(order, this.#optionsOf(id)))
  }

  async #load(first: ToThread): Promise<void> {
    const waiting = [first]
    this.#waiting = waiting
    this.#recognition = await import('./recognition/create-recogniser.ts')
    this.#waiting = undefined
    for (const message of waiting) this.accept(message)
  }

  #optionsOf(id: number) {
    return {
      sockets: this.#sockets,
      grpc: this.#grpc,
      outgoing: this.#outgoing,
      tables: this.#tables,
      limits: this.#limits,
      onEvent: (event: StreamEvent | RecognitionEvent) => {
        if (event.type === 'ended') this.#streams.delete(id)
        this.#post({ id, event })
        if (this.#streams.size === 0) this.#rest()
      },
    }
  }

  #host(id: number, stream: Hosted): void {
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
