// UDP and TCP on one port, behind the face of transport.ts.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { toListenError } from '../../network/listen-error.ts'
import type { ListenPlace } from '../../network/listen-error.ts'
import type { Logger } from '../../lib/log.ts'
import type { SipMessage } from '../message/message.ts'
import type { Remote } from '../sip.ts'
import { standardLimits } from './limits.ts'
import type { TransportLimits } from './limits.ts'
import { TcpTransport } from './tcp-transport.ts'
import type { TransportLayer, TransportCounters, TransportHandlers } from './transport.ts'
import { UdpTransport } from './udp-transport.ts'
import { transports } from './transports.ts'
import type { Transport } from './transports.ts'

export interface TransportOptions {
  /** The address to bind. */
  readonly bind: string
  /** 0: any port that is free for both UDP and TCP. */
  readonly port: number
  readonly handlers: TransportHandlers
  readonly clock: Clock
  readonly log: Logger
  readonly limits?: Partial<TransportLimits>
}

// With port 0 the port TCP was given may be taken for UDP; so many times another one is asked for.
const portAttempts = 50
const logIntervalMs = 1_000

function sipPlace(transport: ListenPlace['transport'], address: string, port: number): ListenPlace {
  return { setting: 'SWITCHHOOK_SIP_PORT', transport, address, port }
}

export function createTransport(options: TransportOptions): TransportLayer {
  return new BothTransports(options)
}

class BothTransports implements TransportLayer {
  readonly #options: TransportOptions
  readonly #udp: UdpTransport
  readonly #tcp: TcpTransport
  readonly #by: Readonly<Record<Transport, Pick<TransportLayer, 'send'>>>
  readonly #counted = {
    received: 0,
    sent: 0,
    unparsable: 0,
    dropped: 0,
    refusedConnections: 0,
    slowConnections: 0,
  }
  #port: number | undefined
  #loggedAtMs = Number.NEGATIVE_INFINITY
  #unlogged = 0

  constructor(options: TransportOptions) {
    this.#options = options
    const handlers: TransportHandlers = {
      message: (message, raw, remote) => this.#received(message, raw, remote),
      admits: (remote) => this.#admits(remote),
      isProven: (remote) => options.handlers.isProven?.(remote) ?? false,
      closed: (remote) => options.handlers.closed?.(remote),
      isNeeded: (remote) => options.handlers.isNeeded?.(remote) ?? false,
    }
    this.#udp = new UdpTransport({ handlers, unparsable: (reason, remote) => this.#dropped(reason, remote) })
    this.#tcp = new TcpTransport({
      limits: { ...standardLimits, ...options.limits },
      clock: options.clock,
      handlers,
      misbehaved: (reason, kind, remote) => {
        if (kind === 'slow') this.#counted.slowConnections += 1
        this.#dropped(reason, remote, kind)
      },
      refused: () => {
        this.#counted.refusedConnections += 1
      },
    })
    this.#by = { udp: this.#udp, tcp: this.#tcp }
  }

  get listening(): { readonly address: string; readonly port: number } {
    if (this.#port === undefined) throw new Error('the transport has not been started')
    return { address: this.#options.bind, port: this.#port }
  }

  get counters(): TransportCounters {
    return { ...this.#counted, connections: this.#tcp.connections }
  }

  async start(): Promise<void> {
    const { bind, port } = this.#options
    const attempts = port === 0 ? portAttempts : 1
    for (let attempt = 1; ; attempt += 1) {
      const candidate = await this.#tcp.listen(bind, port).catch((error: unknown) => {
        throw toListenError(error, sipPlace(transports.tcp.viaName, bind, port))
      })
      try {
        await this.#udp.listen(bind, candidate)
        this.#port = candidate
        return
      } catch (error) {
        await this.#tcp.unlisten()
        if (attempt === attempts)
          throw toListenError(error, sipPlace(transports.udp.viaName, bind, candidate))
      }
    }
  }

  async stop(): Promise<void> {
    await Promise.all([this.#udp.stop(), this.#tcp.stop()])
  }

  send(bytes: Uint8Array, remote: Remote, alternative?: Remote): Promise<void> {
    if (remote.port < 1 || remote.port > 65_535) {
      return Promise.reject(new AppError('sip_unreachable', 'port out of range'))
    }
    this.#counted.sent += 1
    return this.#by[remote.transport].send(bytes, remote, alternative)
  }

  open(remote: Remote): Promise<void> {
    return this.#tcp.open(remote)
  }

  isOpen(remote: Remote): boolean {
    return this.#tcp.isOpen(remote)
  }

  #received(message: SipMessage, raw: Uint8Array, remote: Remote): void {
    this.#counted.received += 1
    this.#options.handlers.message(message, raw, remote)
  }

  #admits(remote: Remote): boolean {
    if (this.#options.handlers.admits?.(remote) !== false) return true
    this.#dropped('over the budget of its source', remote, 'dropped')
    return false
  }

  /** At most one line a second: whoever sends garbage must not fill the log. */
  #dropped(reason: string, remote: Remote, kind: 'unparsable' | 'slow' | 'dropped' = 'unparsable'): void {
    if (kind !== 'slow') this.#counted[kind] += 1
    this.#unlogged += 1
    const now = this.#options.clock.monotonic()
    if (now - this.#loggedAtMs < logIntervalMs) return
    this.#options.log.debug({ remote, reason, count: this.#unlogged }, 'sip input dropped')
    this.#loggedAtMs = now
    this.#unlogged = 0
  }
}
