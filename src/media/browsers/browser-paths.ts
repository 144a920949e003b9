// The paths of browsers in the main thread. The process that carries them is started for the first one, and again
// after it died.
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import { createConfinedProcess, type ProcessUser } from './confined-process.ts'
import type { FarSide, FromBrowsers, Gate, OwnSide, PathLimits, PathLoss, ToBrowsers } from './messages.ts'
import { tryUdpPort } from './udp-port.ts'

export interface BrowserPathsOptions {
  readonly bind: string
  /** The one UDP port of all paths; 0 for any. */
  readonly port: number
  readonly limits: PathLimits
  readonly clock: Clock
  readonly log: Logger
  /** The user of the process; that of the platform if undefined. */
  readonly user?: ProcessUser | undefined
  readonly createProcess?: (user: ProcessUser | undefined) => ChildProcess
}

export interface PathEvents {
  readonly onConnected: (from: { readonly address: string; readonly port: number }) => void
  readonly onLost: (loss: PathLoss) => void
}

/** One path, from when its credentials are known. */
export interface BrowserPath {
  readonly peer: number
  /** The port in our candidate. */
  readonly port: number
  readonly gate: Gate
  readonly own: OwnSide
  /** Applies the far end's answer to our offer. After an offer of the far end it is not needed. */
  accept(far: FarSide): void
  close(): void
}

const startMs = 10_000
const openMs = 3000
// Of what one process prints.
const maxPrinted = 50
const maxLineChars = 300

interface Known extends PathEvents {
  readonly resolve: (own: OwnSide) => void
  readonly reject: (error: AppError) => void
}

interface Running {
  readonly child: ChildProcess
  readonly port: number
  readonly gate: Gate
}

export class BrowserPaths {
  readonly #options: BrowserPathsOptions
  readonly #known = new Map<number, Known>()
  #starting: Promise<Running> | undefined
  #child: ChildProcess | undefined
  #last = 0
  #isStopped = false

  constructor(options: BrowserPathsOptions) {
    this.#options = options
  }

  /** Logs that no browser can call, if another program has the port. The first call would find it otherwise. */
  async lookAtPort(): Promise<void> {
    const { bind, port, log } = this.#options
    if (port === 0) return
    await tryUdpPort(bind, port).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      log.warn({ port, reason }, 'browsers cannot call or be called')
    })
  }

  /** Opens a path. `far` is the far end's side if it made the offer. Throws `browsers_unavailable`. */
  async open(far: FarSide | undefined, events: PathEvents): Promise<BrowserPath> {
    const starting = (this.#starting ??= this.#start())
    const { child, port, gate } = await starting.catch((error: unknown) => {
      // The next call tries again.
      if (this.#starting === starting) this.#starting = undefined
      throw error
    })
    this.#last += 1
    const peer = this.#last
    const say = (message: ToBrowsers): void => void (child.connected && child.send(message))
    const own = await new Promise<OwnSide>((resolve, reject) => {
      const limit = this.#options.clock.after(openMs, () => {
        this.#known.delete(peer)
        say({ kind: 'close', peer })
        reject(unavailable('the process of browsers did not respond in time'))
      })
      const settled = <T>(settle: (value: T) => void) => {
        return (value: T) => {
          limit.cancel()
          settle(value)
        }
      }
      this.#known.set(peer, { ...events, resolve: settled(resolve), reject: settled(reject) })
      say({ kind: 'open', peer, far })
    })
    return {
      peer,
      port,
      gate,
      own,
      accept: (answered) => say({ kind: 'answer', peer, far: answered }),
      close: () => {
        if (this.#known.delete(peer)) say({ kind: 'close', peer })
      },
    }
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#starting?.catch(() => undefined)
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    const limit = this.#options.clock.after(startMs, () => child.kill('SIGKILL'))
    if (child.connected) child.disconnect()
    await ended
    limit.cancel()
  }

  async #start(): Promise<Running> {
    const { bind, port, limits, clock, log, user, createProcess = createConfinedProcess } = this.#options
    if (this.#isStopped) throw unavailable('the platform is stopping')
    let child: ChildProcess
    try {
      child = createProcess(user)
    } catch (error) {
      // Node.js throws if the system has no memory left, for example.
      throw unavailable('the process of browsers could not be started', error)
    }
    this.#child = child
    this.#hear(child)
    const token = randomBytes(32).toString('hex')
    try {
      const ready = await new Promise<FromBrowsers & { kind: 'ready' }>((resolve, reject) => {
        const limit = clock.after(startMs, () => {
          child.kill('SIGKILL')
          reject(unavailable('the process of browsers did not start in time'))
        })
        child.on('message', (message: FromBrowsers) => {
          if (message.kind !== 'ready' && message.kind !== 'failed') return this.#onMessage(message)
          limit.cancel()
          if (message.kind === 'ready') return resolve(message)
          reject(
            unavailable(`the UDP port ${port} of browsers cannot be used (${message.reason}): see the log`),
          )
        })
        // It reports each message that it does not take. One without a listener would end the platform.
        child.on('error', (error) => {
          limit.cancel()
          reject(unavailable('the process of browsers could not be started', error))
        })
        child.once('exit', (exitCode, signal) => {
          limit.cancel()
          reject(unavailable('the process of browsers ended at its start'))
          this.#onExit(child, { exitCode, signal })
        })
        // Node.js takes some tens of milliseconds to start; a message sent meanwhile is read after that.
        child.send({ kind: 'start', bind, port, token, limits } satisfies ToBrowsers)
      })
      return { child, port: ready.port, gate: { port: ready.gatePort, token } }
    } catch (error) {
      log.error({ err: error, port }, 'browsers cannot be served')
      if (child.connected) child.disconnect()
      throw error
    }
  }

  /** Logs what the native library and Node.js print, a bounded part of it: strangers may cause some of it. */
  #hear({ stdout, stderr }: ChildProcess): void {
    let left = maxPrinted
    const log = (text: string): void => {
      for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
        if (left-- <= 0) return
        this.#options.log.warn(
          { line: line.slice(0, maxLineChars) },
          'the process of browsers printed a line',
        )
      }
    }
    for (const stream of [stdout, stderr]) stream?.setEncoding('utf8').on('data', log)
  }

  #onMessage(message: Exclude<FromBrowsers, { kind: 'ready' | 'failed' }>): void {
    const { peer } = message
    const known = this.#known.get(peer)
    if (known === undefined) return
    switch (message.kind) {
      case 'opened':
        return known.resolve(message.own)
      case 'refused':
        this.#known.delete(peer)
        return known.reject(unavailable(message.reason))
      case 'connected':
        return known.onConnected({ address: message.address, port: message.port })
      case 'lost':
        this.#known.delete(peer)
        return known.onLost(message.loss)
    }
  }

  #onExit(child: ChildProcess, how: object): void {
    if (this.#child !== child) return
    this.#child = undefined
    this.#starting = undefined
    if (!this.#isStopped)
      this.#options.log.error(how, 'the process of browsers ended, its calls lose their media')
    const lost = [...this.#known.values()]
    this.#known.clear()
    for (const { reject, onLost } of lost) {
      reject(unavailable('the process of browsers ended'))
      onLost('process-lost')
    }
  }
}

function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('browsers_unavailable', message, { cause })
}
