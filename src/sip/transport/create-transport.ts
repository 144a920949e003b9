// UDP and TCP on one port, behind the face of transport.ts.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { toListenError } from '../../network/listen-error.ts'
import type { ListenPlace } from '../../network/listen-error.ts'
import type { Logger } from '../../lib/log.ts'
import type { Remote } from '../sip.ts'
import { connectionLimits } from '../limits.ts'
import type { ConnectionLimits } from '../limits.ts'
import { TcpTransport } from './tcp-transport.ts'
import type { TransportLayer, TransportCounters, TransportHandlers } from './transport.ts'
import { UdpTransport } from './udp-transport.ts'
import { transports } from './transports.ts'

export interface TransportOptions {
  /** The address to bind. */
  readonly bind: string
  /** 0: any port that is free for both UDP and TCP. */
  readonly port: number
  readonly clock: Clock
  readonly log: Logger
  readonly limits?: Partial<ConnectionLimits>
}

// With port 0, the port that TCP was given may be taken for UDP: another one is asked for this many times.
const portAttempts = 50
const logIntervalMs = 1_000

function sipPlace(transport: ListenPlace['transport'], address: string, port: number): ListenPlace {
  return { setting: 'SWITCHHOOK_SIP_PORT', transport, address, port }
}

export function createTransport(options: TransportOptions): TransportLayer {
  return new SharedPort(options)
}

class SharedPort implements TransportLayer {
  readonly #options: TransportOptions
  readonly #counted = { unparsable: 0, dropped: 0, refusedConnections: 0, slowConnections: 0 }
  #transports: { readonly udp: UdpTransport; readonly tcp: TcpTransport } | undefined
  #port: number | undefined
  #loggedAtMs = Number.NEGATIVE_INFINITY
  #unlogged = 0

  constructor(options: TransportOptions) {
    this.#options = options
  }

  get listening(): { readonly address: string; readonly port: number } {
    if (this.#port === undefined) throw new Error('the transport has not been started')
    return { address: this.#options.bind, port: this.#port }
  }

  get counters(): TransportCounters {
    return { ...this.#counted, connections: this.#transports?.tcp.connections ?? 0 }
  }

  async start(handlers: TransportHandlers): Promise<void> {
    const { tcp, udp } = (this.#transports = this.#create(handlers))
    const { bind, port } = this.#options
    const attempts = port === 0 ? portAttempts : 1
    for (let attempt = 1; ; attempt += 1) {
      const candidate = await tcp.listen(bind, port).catch((error: unknown) => {
        throw toListenError(error, sipPlace(transports.tcp.viaName, bind, port))
      })
      try {
        await udp.listen(bind, candidate)
        this.#port = candidate
        return
      } catch (error) {
        await tcp.unlisten()
        if (attempt === attempts)
          throw toListenError(error, sipPlace(transports.udp.viaName, bind, candidate))
      }
    }
  }

  async stop(): Promise<void> {
    await Promise.all([this.#transports?.udp.stop(), this.#transports?.tcp.stop()])
  }

  send(bytes: Uint8Array, remote: Remote, alternative?: Remote): Promise<void> {
    const sender: Pick<TransportLayer, 'send'> | undefined = this.#transports?.[remote.transport]
    if (sender === undefined)
      return Promise.reject(new AppError('sip_unreachable', 'SIP does not listen yet'))
    if (remote.port < 1 || remote.port > 65_535) {
      return Promise.reject(new AppError('sip_unreachable', 'the port is out of range'))
    }
    return sender.send(bytes, remote, alternative)
  }

  open(remote: Remote): Promise<void> {
    const tcp = this.#transports?.tcp
    return tcp?.open(remote) ?? Promise.reject(new AppError('sip_unreachable', 'SIP does not listen yet'))
  }

  isOpen(remote: Remote): boolean {
    return this.#transports?.tcp.isOpen(remote) === true
  }

  #create(handlers: TransportHandlers): { readonly udp: UdpTransport; readonly tcp: TcpTransport } {
    const counting = { ...handlers, admits: (remote: Remote) => this.#admits(remote, handlers) }
    const udp = new UdpTransport({
      handlers: counting,
      unparsable: (reason, remote) => this.#dropped(reason, remote),
    })
    const tcp = new TcpTransport({
      limits: { ...connectionLimits, ...this.#options.limits },
      clock: this.#options.clock,
      handlers: counting,
      misbehaved: (reason, kind, remote) => {
        if (kind === 'slow') this.#counted.slowConnections += 1
        this.#dropped(reason, remote, kind)
      },
      refused: () => {
        this.#counted.refusedConnections += 1
      },
    })
    return { udp, tcp }
  }

  #admits(remote: Remote, handlers: TransportHandlers): boolean {
    if (handlers.admits?.(remote) !== false) return true
    this.#dropped('over the budget of its source', remote, 'dropped')
    return false
  }

  /** Writes at most one line a second: garbage must not fill the log. */
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
