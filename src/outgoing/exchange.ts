// One outgoing request and its response, as a handler of undici: it keeps the deadlines, counts the bytes and settles
// once.
import type { Dispatcher } from 'undici'
import type { Clock, Timer } from '../lib/clock.ts'
import { ExchangeLimit } from './errors.ts'
import type { AnswerMeter } from './answer-meter.ts'
import { onSent, type Charge } from './sent-requests.ts'
import type { BodySink, OutgoingAnswer, OutgoingRequest } from './outgoing.ts'

// A receiver that sends a little more than a status keeps its connection; beyond this limit the connection is not
// worth keeping.
const discardedBytes = 64 * 1024

export interface ExchangeOptions {
  readonly clock: Clock
  readonly deadline: number
  readonly charge: Charge
}

export class Exchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<OutgoingAnswer>
  readonly #request: OutgoingRequest
  readonly #clock: Clock
  readonly #deadline: number
  readonly #charge: Charge
  readonly #chunks: Buffer[] = []
  readonly #onAbort = (): void => this.#fail(new Error('aborted'))
  #resolve: (answer: OutgoingAnswer) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  #timer: Timer
  #controller: Dispatcher.DispatchController | undefined
  #head: Omit<OutgoingAnswer, 'body'> | undefined
  #sink: BodySink | 'collect' | 'discard' = 'collect'
  #writing: Promise<void> | undefined
  #isOnKept = false
  #meter: AnswerMeter | undefined
  #bytes = 0
  #failure: Error | undefined

  /** `charge` gets the work of reading the answer. */
  constructor(request: OutgoingRequest, { clock, deadline, charge }: ExchangeOptions) {
    this.#request = request
    this.#clock = clock
    this.#charge = charge
    this.#deadline = deadline
    const leftMs = deadline - clock.monotonic()
    this.#timer = clock.after(Math.min(request.answerTimeoutMs, leftMs), () =>
      this.#fail(new ExchangeLimit('answer-time')),
    )
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    request.signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  get hasHead(): boolean {
    return this.#head !== undefined
  }

  /** Whether it was sent on a connection that had carried others. */
  get isOnKept(): boolean {
    return this.#isOnKept
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // The request was given up while it waited for a connection: it must no longer be sent.
    if (this.#failure !== undefined) return controller.abort(this.#failure)
    onSent((isKept, connection) => {
      this.#isOnKept = isKept
      this.#meter = connection.meter
      connection.charge = this.#charge
    })
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx responses are interim (RFC 9110 §15.2).
    if (status < 200) return
    this.#head = { status, headers }
    this.#timer.cancel()
    this.#timer = this.#clock.after(Math.max(0, this.#deadline - this.#clock.monotonic()), () =>
      this.#fail(new ExchangeLimit('total-time')),
    )
    const { answerBody = 'collect' } = this.#request
    this.#sink = typeof answerBody === 'function' ? (answerBody(this.#head) ?? 'discard') : answerBody
    if (this.#sink === 'discard') this.#resolve({ ...this.#head, body: Buffer.alloc(0) })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // undici delivers an empty chunk after each resume; pausing for it would loop.
    if (chunk.length === 0) return
    this.#meter?.gotBody(chunk.length)
    this.#bytes += chunk.length
    const maxBytes = this.#sink === 'discard' ? discardedBytes : this.#request.maxBodyBytes
    if (this.#bytes > maxBytes) return this.#fail(new ExchangeLimit('bytes'))
    if (this.#meter?.fault !== undefined) return this.#fail(this.#meter.fault)
    if (this.#sink === 'discard') return
    if (this.#sink === 'collect') {
      this.#chunks.push(chunk)
      return
    }
    const writing = this.#sink(chunk)
    if (writing === undefined) return
    controller.pause()
    this.#writing = writing.then(
      () => this.#charge(() => controller.resume()),
      (error: unknown) => this.#fail(error instanceof Error ? error : new Error(String(error))),
    )
  }

  onResponseEnd(): void {
    const head = this.#head
    if (head === undefined) return this.#fail(new Error('ended without a status'))
    this.#release()
    const [only] = this.#chunks
    const body = this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks)
    if (this.#writing === undefined) this.#resolve({ ...head, body })
    else void this.#writing.then(() => this.#resolve({ ...head, body }))
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#release()
    this.#reject(this.#failure ?? error)
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#release()
    // Rejected here as well, because undici reports no error for an exchange that still waits for its connection.
    this.#reject(this.#failure)
    this.#controller?.abort(this.#failure)
  }

  #release(): void {
    this.#timer.cancel()
    this.#request.signal?.removeEventListener('abort', this.#onAbort)
  }
}
