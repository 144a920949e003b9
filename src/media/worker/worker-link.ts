// A media worker seen from the main thread: requests with limited waits, a watchdog, and a new thread after the old
// one died.
import type { WorkerLoad } from '../tick-clock.ts'
import type { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { MediaEvent } from '../media.ts'
import type { Envelope, FromWorker, RequestKind, RequestOf, WorkerReplies } from './messages.ts'
import type { WorkerSetup } from '../worker-setup.ts'

export interface WorkerLinkOptions {
  readonly createWorker: (setup: WorkerSetup, name: string) => Worker
  readonly setup: WorkerSetup
  readonly index: number
  readonly clock: Clock
  readonly log: Logger
  readonly onEvent: (session: string, event: MediaEvent) => void
  /** Called when the thread has died, and its sessions with it. */
  readonly onLost: () => void
}

interface Waiting {
  readonly resolve: (value: WorkerReplies[RequestKind]) => void
  readonly reject: (error: AppError) => void
  readonly timer: Timer
}

type State =
  | { readonly at: 'stopped' }
  | { readonly at: 'starting' | 'running' | 'stopping'; readonly worker: Worker }
  | { readonly at: 'lost'; readonly restart: Timer }

const startLimitMs = 10_000
const stopLimitMs = 3000
const pingEveryMs = 250
const pingLimitMs = 500
// A thread that misses this many pings in a row hangs: it ticks every 20 ms. Its calls are silent meanwhile, 2.25 s
// at most.
const mostMissedPings = 3
const lateMs = 100
const shortestRestartMs = 100
const longestRestartMs = 30_000
// Long compared with the time between two calls of a busy node, short compared with the work after the end of a call.
const patienceMs = 20
// A thread that lived this long did not die of its start, so the next one may start without a longer wait.
const provenMs = 60_000

function lost(cause?: unknown): AppError {
  return new AppError('internal', 'the media worker of this call ended', { cause })
}

export class WorkerLink {
  readonly #options: WorkerLinkOptions
  readonly #waiting = new Map<number, Waiting>()
  #state: State = { at: 'stopped' }
  #load: WorkerLoad = { lateShare: 0 }
  #lastId = 0
  #unsent: Envelope[] = []
  #sendTimer: Timer | undefined
  #missedPings = 0
  #watchdog: Timer | undefined
  #restartMs = shortestRestartMs
  #startedMs = 0
  #isStopped = false

  constructor(options: WorkerLinkOptions) {
    this.#options = options
  }

  get index(): number {
    return this.#options.index
  }

  get isRunning(): boolean {
    return this.#state.at === 'running'
  }

  get load(): WorkerLoad {
    return this.#load
  }

  /** Resolves when the worker ticks. Rejects also if the system has no thread left, for which Node.js throws. */
  async start(): Promise<void> {
    const { createWorker, setup, index, clock, log } = this.#options
    this.#startedMs = clock.monotonic()
    const worker = createWorker(setup, `media-${index}`)
    this.#state = { at: 'starting', worker }
    this.#isStopped = false
    return new Promise((resolve, reject) => {
      const limit = clock.after(startLimitMs, () => {
        // Its exit rejects the promise.
        void worker.terminate()
      })
      worker.on('message', (message: FromWorker) => {
        if (message.kind !== 'ready') return this.#onMessage(message)
        limit.cancel()
        // It was stopped meanwhile, and ends.
        if (this.#state.at !== 'starting') return
        this.#state = { at: 'running', worker }
        this.#missedPings = 0
        this.#watch()
        resolve()
      })
      worker.on('error', (error) => log.error({ worker: index, err: error }, 'media worker failed'))
      worker.once('exit', (exitCode) => {
        limit.cancel()
        reject(lost())
        this.#onExit(exitCode)
      })
    })
  }

  /** Ends the sessions in an orderly way, then the thread. Idempotent. */
  async stop(): Promise<void> {
    const state = this.#state
    this.#isStopped = true
    this.#watchdog?.cancel()
    if (state.at === 'lost') state.restart.cancel()
    if (state.at === 'stopped' || state.at === 'lost' || state.at === 'stopping') {
      if (state.at === 'lost') this.#state = { at: 'stopped' }
      return
    }
    const { worker } = state
    this.#state = { at: 'stopping', worker }
    if (state.at === 'running') await this.#ask(worker, { kind: 'stop' }, stopLimitMs).catch(() => undefined)
    await worker.terminate()
    this.#state = { at: 'stopped' }
  }

  /**
   * Throws the error that the worker refused with, `overloaded` if it did not reply in time, or `internal` if it
   * died. A patient request is sent together with the next one, or after 20 ms: waking the thread costs more than the
   * request itself.
   */
  request<Kind extends RequestKind>(
    request: RequestOf<Kind>,
    limitMs: number,
    isPatient = false,
  ): Promise<WorkerReplies[Kind]> {
    const state = this.#state
    if (state.at !== 'running') return Promise.reject(lost())
    return this.#ask(state.worker, request, limitMs, isPatient)
  }

  #ask<Kind extends RequestKind>(
    worker: Worker,
    request: RequestOf<Kind>,
    limitMs: number,
    isPatient = false,
  ): Promise<WorkerReplies[Kind]> {
    this.#lastId += 1
    const id = this.#lastId
    return new Promise((resolve, reject) => {
      const timer = this.#options.clock.after(limitMs, () => {
        this.#waiting.delete(id)
        // The request itself may hold the keys of SRTP, or those that a caller has pressed.
        const detail = { kind: request.kind }
        reject(new AppError('overloaded', 'the media worker did not respond in time', { detail }))
      })
      this.#waiting.set(id, {
        // The reply to a request of this kind has the type of this kind: messages.ts pairs them.
        resolve: (value) => resolve(value as WorkerReplies[Kind]),
        reject,
        timer,
      })
      this.#unsent.push({ id, request })
      if (!isPatient) this.#send(worker)
      else this.#sendTimer ??= this.#options.clock.after(patienceMs, () => this.#send(worker))
    })
  }

  #send(worker: Worker): void {
    this.#sendTimer?.cancel()
    this.#sendTimer = undefined
    worker.postMessage(this.#unsent)
    this.#unsent = []
  }

  #onMessage(message: Exclude<FromWorker, { kind: 'ready' }>): void {
    if (message.kind === 'event') return this.#options.onEvent(message.session, message.event)
    const waiting = this.#waiting.get(message.id)
    // The reply came after its time limit.
    if (waiting === undefined) return
    this.#waiting.delete(message.id)
    waiting.timer.cancel()
    if (message.kind === 'reply') return waiting.resolve(message.value)
    const { code, stack } = message
    waiting.reject(new AppError(code, message.message, { detail: { stack } }))
  }

  #watch(): void {
    this.#watchdog?.cancel()
    this.#watchdog = this.#options.clock.after(pingEveryMs, () => {
      void this.#ping().then(() => {
        if (this.#state.at === 'running') this.#watch()
      })
    })
  }

  async #ping(): Promise<void> {
    const { clock } = this.#options
    const sentMs = clock.monotonic()
    try {
      this.#load = await this.request<'ping'>({ kind: 'ping' }, pingLimitMs)
      this.#missedPings = 0
    } catch {
      // The main thread was late itself, and the reply may be waiting unread.
      if (clock.monotonic() - sentMs > pingLimitMs + lateMs) return
      this.#missedPings += 1
      const state = this.#state
      if (this.#missedPings < mostMissedPings || state.at !== 'running') return
      this.#options.log.error({ worker: this.#options.index }, 'media worker hangs and is ended')
      await state.worker.terminate()
    }
  }

  #onExit(exitCode: number): void {
    // A start that failed is repeated by its caller.
    const wasWanted = this.#state.at !== 'running'
    this.#watchdog?.cancel()
    for (const waiting of this.#waiting.values()) {
      waiting.timer.cancel()
      waiting.reject(lost())
    }
    this.#waiting.clear()
    this.#sendTimer?.cancel()
    this.#sendTimer = undefined
    this.#unsent = []
    if (wasWanted) {
      this.#state = { at: 'stopped' }
      return
    }
    const { log, index, onLost } = this.#options
    log.error({ worker: index, exitCode }, 'media worker ended, its calls lose their media')
    this.#restartLater()
    onLost()
  }

  #restartLater(): void {
    const { clock, log, index } = this.#options
    if (clock.monotonic() - this.#startedMs > provenMs) this.#restartMs = shortestRestartMs
    const restart = clock.after(this.#restartMs, () => {
      this.start().catch((error: unknown) => {
        if (this.#isStopped) return
        log.error({ worker: index, err: error }, 'media worker did not start again')
        this.#restartLater()
      })
    })
    this.#restartMs = Math.min(longestRestartMs, this.#restartMs * 2)
    this.#state = { at: 'lost', restart }
  }
}
