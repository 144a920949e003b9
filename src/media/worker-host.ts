// A media worker from inside: its sessions, its beat, and what it does with each request of the main thread.
import { mkdirSync, rmSync } from 'node:fs'
import { AppError } from '../lib/errors.ts'
import { Clips } from './clips.ts'
import { createLaws } from './codecs/g711.ts'
import type { Envelope, FromWorker, RequestKind, WorkerReplies, WorkerRequest } from './messages.ts'
import type { WorkerSetup } from './worker-setup.ts'
import { openSockets, PortPool } from './ports.ts'
import { Stream } from './stream.ts'
import { TickClock } from './tick-clock.ts'

const megabyte = 1024 * 1024
// Nine hours of G.711: prompts of many accounts stay coded, and no number of callers makes it more.
const maxMemoryBytes = 256 * megabyte
// More than all that the audio fetcher lends out to one account comes to, in both laws.
const maxDiskBytes = 4096 * megabyte
const maxIdleDiskBytes = 256 * megabyte

interface Open {
  readonly stream: Stream
  readonly port: number
}

export class WorkerHost {
  readonly #setup: WorkerSetup
  readonly #post: (message: FromWorker) => void
  readonly #ports: PortPool
  readonly #laws = createLaws()
  readonly #clips: Clips
  readonly #sessions = new Map<string, Open>()
  readonly #opening = new Map<string, Promise<unknown>>()
  readonly #clock = new TickClock({
    now: () => this.#now(),
    onTick: (tick, nowMs) => this.#onTick(tick, nowMs),
  })

  constructor(setup: WorkerSetup, post: (message: FromWorker) => void) {
    this.#setup = setup
    this.#post = post
    this.#ports = new PortPool(setup.ports)
    const directory = setup.scratchDir
    this.#clips = new Clips({ laws: this.#laws, directory, maxMemoryBytes, maxDiskBytes, maxIdleDiskBytes })
  }

  start(): void {
    // What a thread that was ended has left.
    rmSync(this.#setup.scratchDir, { recursive: true, force: true })
    mkdirSync(this.#setup.scratchDir, { recursive: true })
    this.#clock.start()
    this.#post({ kind: 'ready' })
  }

  /** Every request gets exactly one reply or failure. */
  async accept({ id, request }: Envelope): Promise<void> {
    try {
      this.#post({ kind: 'reply', id, value: await this.#run(request) })
    } catch (error) {
      const isKnown = error instanceof AppError
      this.#post({
        kind: 'failure',
        id,
        code: isKnown ? error.code : 'internal',
        message: isKnown ? error.message : 'the media worker failed',
        stack: error instanceof Error ? error.stack : String(error),
      })
    }
  }

  #now(): number {
    // Epoch ms that no one can set back, as RTCP wants it.
    return performance.timeOrigin + performance.now()
  }

  #onTick(tick: number, nowMs: number): void {
    for (const { stream } of this.#sessions.values()) stream.tick(tick, nowMs)
  }

  async #run(request: WorkerRequest): Promise<WorkerReplies[RequestKind]> {
    switch (request.kind) {
      case 'open':
        return await this.#openOnce(request.session)
      case 'live':
        this.#sessions.get(request.session)?.stream.live()
        return null
      case 'agree':
        this.#streamOf(request.session).agree(request.agreement)
        return null
      case 'play': {
        const { kind: _kind, session, play: id, ...order } = request
        return await this.#streamOf(session).play({ id, ...order })
      }
      case 'stop-play':
        this.#sessions.get(request.session)?.stream.stopPlay(request.play)
        return null
      case 'stats':
        return this.#streamOf(request.session).stats()
      case 'close':
        return await this.#close(request.session)
      case 'ping':
        return this.#clock.load
      case 'stop':
        this.#clock.stop()
        await Promise.all([...this.#sessions.keys()].map((session) => this.#close(session)))
        await this.#clips.close()
        return null
    }
  }

  #streamOf(session: string): Stream {
    const open = this.#sessions.get(session)
    if (open === undefined) throw new AppError('not_found', 'the media session is closed')
    return open.stream
  }

  /** Remembered while it lasts: a close that overtakes its open waits for it, so that no port is lost. */
  async #openOnce(session: string): Promise<{ port: number }> {
    const opening = this.#open(session)
    this.#opening.set(session, opening)
    return await opening.finally(() => this.#opening.delete(session))
  }

  async #open(session: string): Promise<{ port: number }> {
    const sockets = await openSockets(this.#ports, this.#setup.bind)
    const stream = new Stream({
      sockets,
      laws: this.#laws,
      clips: this.#clips,
      limits: this.#setup.limits,
      onEvent: (event) => this.#post({ kind: 'event', session, event }),
      now: () => this.#now(),
    })
    this.#sessions.set(session, { stream, port: sockets.port })
    return { port: sockets.port }
  }

  async #close(session: string): Promise<WorkerReplies['close']> {
    await this.#opening.get(session)
    const stream = this.#streamOf(session)
    const port = this.#sessions.get(session)?.port
    this.#sessions.delete(session)
    const stats = await stream.close()
    if (port !== undefined) this.#ports.giveBack(port)
    return stats
  }
}
