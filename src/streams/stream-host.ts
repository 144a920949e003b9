// The thread of streams, seen from inside: its sockets and recognisers, and the beat at which rings are read and filled.
import { ResamplerTables } from '../lib/audio/resampler.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { Sockets } from '../outgoing/sockets.ts'
import type { HearingLimits } from './hearing.ts'
import { createRecogniser } from './recognition/create-recogniser.ts'
import { vendorOfEars } from './recognition/index.ts'
import { SoundRecogniser } from './recognition/sound-recogniser.ts'
import { SocketStream } from './socket-stream.ts'
import type { FromThread, ToThread } from './messages.ts'
import type { StreamEvent, StreamMode } from '../contracts/audio-stream.ts'
import { soundVendor, type RecognitionEvent } from '../contracts/recognition.ts'

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

  #recognise({ id, order }: ToThread & { kind: 'recognise' }): void {
    if (order.vendor === soundVendor) return this.#host(id, new SoundRecogniser(order, this.#optionsOf(id)))
    const vendor = vendorOfEars(order.vendor)
    if (vendor === undefined) throw new Error(`no recogniser ${order.vendor}`)
    this.#host(id, createRecogniser(order, { ...this.#optionsOf(id), vendor }))
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
