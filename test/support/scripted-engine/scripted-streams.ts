// Audio streams that a test controls: it sees the requests and the audio, and acts as the server.
import {
  noFigures,
  type AudioStream,
  type StreamEnd,
  type StreamEvent,
  type StreamMode,
  type StreamOrder,
  type Streams,
} from '../../../src/contracts/audio-stream.ts'
import { actingTenant } from '../../../src/lib/acting-for.ts'

export class ScriptedStream implements AudioStream {
  readonly order: StreamOrder
  readonly tenant = actingTenant()
  readonly texts: unknown[] = []
  readonly modes: StreamMode[] = []
  hasEnded = false
  readonly #onEvent: (event: StreamEvent) => void

  constructor(order: StreamOrder, onEvent: (event: StreamEvent) => void) {
    this.order = order
    this.#onEvent = onEvent
  }

  get hello(): Readonly<Record<string, unknown>> {
    return JSON.parse(this.order.hello) as Readonly<Record<string, unknown>>
  }

  send(text: string): void {
    this.texts.push(JSON.parse(text))
  }

  setMode(mode: StreamMode): void {
    this.modes.push(mode)
  }

  close(): void {
    queueMicrotask(() => this.end({ by: 'closed' }))
  }

  emit(event: StreamEvent): void {
    this.#onEvent(event)
  }

  end(end: Partial<StreamEnd> = {}): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.#onEvent({
      type: 'ended',
      end: { by: 'server', because: 'the script ends', figures: noFigures, ...end },
    })
  }
}

export class ScriptedStreams implements Streams {
  readonly all: ScriptedStream[] = []
  failure: Error | undefined

  open(order: StreamOrder, onEvent: (event: StreamEvent) => void): AudioStream {
    if (this.failure !== undefined) throw this.failure
    const stream = new ScriptedStream(order, onEvent)
    this.all.push(stream)
    return stream
  }
}
