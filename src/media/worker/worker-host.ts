// A media worker seen from inside: its sessions, its ticks, and the execution of the main thread's requests.
import { mkdirSync, rmSync } from 'node:fs'
import { AppError } from '../../lib/errors.ts'
import { BrowserGates } from '../browsers/gates.ts'
import { Clips } from '../clips/clips.ts'
import type { Encoding } from '../codecs/codecs.ts'
import { createCoders, type Coders } from '../codecs/coders.ts'
import { createLaws } from '../codecs/g711.ts'
import { Graph } from '../graph/graph.ts'
import type { Envelope, FromWorker, RequestKind, WorkerReplies, WorkerRequest } from './messages.ts'
import type { Agreement } from '../sdp/agreement.ts'
import type { WorkerSetup } from '../worker-setup.ts'
import { openSockets, PortPool } from '../transport/ports.ts'
import { Stream } from '../stream/stream.ts'
import { phases, TickClock } from '../tick-clock.ts'
import { openTransport } from '../transport/forms.ts'

const megabyte = 1024 * 1024
// Nine hours of G.711, so that prompts of many accounts stay coded. The number of listeners does not change it.
const maxMemoryBytes = 256 * megabyte
// More than all audio that the audio fetcher lends to one account, in both laws.
const maxDiskBytes = 4096 * megabyte
const maxIdleDiskBytes = 256 * megabyte

// Sending this many packets takes half a millisecond, in which none is read. With fewer sessions one timer is enough.
const fullPhase = 50

// Epoch ms that no clock change can move back, as RTCP needs it. Read once, since each access is a call.
const { timeOrigin } = performance

interface Open {
  readonly stream: Stream
  readonly port: number
  readonly phase: Set<Stream>
}

function encodingsOf({ encoding, receive }: Agreement): readonly Encoding[] {
  return [encoding, ...receive.codecs.map((codec) => codec.encoding)]
}

export class WorkerHost {
  readonly #setup: WorkerSetup
  readonly #post: (message: FromWorker) => void
  readonly #ports: PortPool
  readonly #coders: Coders
  readonly #clips: Clips
  readonly #graph: Graph
  readonly #gates = new BrowserGates()
  readonly #sessions = new Map<string, Open>()
  readonly #phases = Array.from({ length: phases }, () => new Set<Stream>())
  readonly #opening = new Map<string, Promise<unknown>>()
  readonly #clock = new TickClock({
    now: () => this.#now(),
    onTick: (tick, phase, nowMs) => this.#onTick(tick, phase, nowMs),
    isInUse: (phase) => (this.#phases[phase]?.size ?? 0) > 0,
    // No packet of a far end was read meanwhile, so its silence is measured from now on.
    onStoodStill: () => this.#sessions.forEach(({ stream }) => stream.live()),
  })

  constructor(setup: WorkerSetup, post: (message: FromWorker) => void) {
    this.#setup = setup
    this.#post = post
    this.#ports = new PortPool(setup.ports)
    const directory = setup.scratchDir
    const laws = createLaws()
    this.#coders = createCoders(laws)
    this.#clips = new Clips({ laws, directory, maxMemoryBytes, maxDiskBytes, maxIdleDiskBytes })
    this.#graph = new Graph({
      clips: this.#clips,
      laws,
      coders: this.#coders,
      onTalk: (session, isTalking) => post({ kind: 'event', session, event: { type: 'talk', isTalking } }),
    })
  }

  start(): void {
    // Files left by a thread that was terminated.
    rmSync(this.#setup.scratchDir, { recursive: true, force: true })
    mkdirSync(this.#setup.scratchDir, { recursive: true })
    this.#clock.start()
    this.#post({ kind: 'ready' })
  }

  /** Executes a request. Each one gets exactly one reply or failure. */
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
    return timeOrigin + performance.now()
  }

  #onTick(tick: number, phase: number, nowMs: number): void {
    for (const stream of this.#phases[phase] ?? []) stream.tick(tick, nowMs)
    if (phase === 0) this.#graph.tick(tick, nowMs)
  }

  /** Returns the first phase that is not full; if all are, the one with the fewest sessions. */
  #phaseOf(): Set<Stream> {
    const [first = new Set<Stream>()] = this.#phases
    const free = this.#phases.find(({ size }) => size < fullPhase)
    return free ?? this.#phases.reduce((least, one) => (one.size < least.size ? one : least), first)
  }

  async #run(request: WorkerRequest): Promise<WorkerReplies[RequestKind]> {
    switch (request.kind) {
      case 'open':
        return await this.#openOnce(request.session)
      case 'live':
        this.#sessions.get(request.session)?.stream.live()
        return null
      case 'doubt':
        this.#sessions.get(request.session)?.stream.doubt()
        return null
      case 'agree':
        // Applied in the same turn if possible, since the next request may depend on it.
        if (!this.#coders.hasAll(encodingsOf(request.agreement)))
          await this.#coders.prepare(encodingsOf(request.agreement))
        this.#streamOf(request.session).agree(request.agreement)
        return null
      case 'play': {
        const { kind: _kind, session, play: id, ...order } = request
        return await this.#streamOf(session).play({ id, ...order })
      }
      case 'stop-play':
        this.#sessions.get(request.session)?.stream.stopPlay(request.play)
        return null
      case 'wire':
        this.#streamOf(request.session).wire(request.wiring)
        return null
      case 'mirror':
        this.#graph.mirror(request.session, request.wiring)
        return null
      case 'send-keys':
        await this.#streamOf(request.session).sendKeys(request)
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
        this.#gates.close()
        return null
    }
  }

  #openOf(session: string): Open {
    const open = this.#sessions.get(session)
    if (open === undefined) throw new AppError('not_found', 'the media session is closed')
    return open
  }

  #streamOf(session: string): Stream {
    return this.#openOf(session).stream
  }

  /** Remembers the opening while it runs: a close that overtakes it waits for it, so that no port is lost. */
  async #openOnce(session: string): Promise<{ port: number }> {
    const opening = this.#open(session)
    this.#opening.set(session, opening)
    return await opening.finally(() => this.#opening.delete(session))
  }

  async #open(session: string): Promise<{ port: number }> {
    const sockets = await openSockets(this.#ports, this.#setup.bind)
    const stream = new Stream({
      openTransport: (form) => openTransport(form, sockets, this.#gates),
      id: session,
      graph: this.#graph,
      coders: this.#coders,
      limits: this.#setup.limits,
      onEvent: (event) => this.#post({ kind: 'event', session, event }),
      now: () => this.#now(),
    })
    const phase = this.#phaseOf().add(stream)
    this.#sessions.set(session, { stream, phase, port: sockets.port })
    this.#graph.add(stream)
    return { port: sockets.port }
  }

  async #close(session: string): Promise<WorkerReplies['close']> {
    await this.#opening.get(session)
    const { stream, port, phase } = this.#openOf(session)
    phase.delete(stream)
    this.#sessions.delete(session)
    this.#graph.remove(session)
    const stats = await stream.close()
    this.#ports.giveBack(port)
    return stats
  }
}
