// Every transport that is served, behind the face of transport.ts: UDP and TCP on one port, the others on their own.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { toListenError } from '../../network/listen-error.ts'
import type { ListenPlace } from '../../network/listen-error.ts'
import type { Logger } from '../../lib/log.ts'
import type { Remote } from '../sip.ts'
import { connectionLimits } from '../limits.ts'
import type { ConnectionLimits } from '../limits.ts'
import { StreamTransport } from './stream-transport.ts'
import { Tls } from './tls.ts'
import type { SecureTransports } from './tls.ts'
import type { TransportLayer, TransportCounters, TransportHandlers } from './transport.ts'
import { UdpTransport } from './udp-transport.ts'
import { transports } from './transports.ts'
import type { Listening, Transport } from './transports.ts'

export interface TransportOptions {
  /** The address to bind. */
  readonly bind: string
  /** 0: any port that is free for both UDP and TCP. */
  readonly port: number
  readonly secure?: SecureTransports | undefined
  readonly clock: Clock
  readonly log: Logger
  readonly limits?: Partial<ConnectionLimits>
}

// With port 0, the port that TCP was given may be taken for UDP: another one is asked for this many times.
const portAttempts = 50
const logIntervalMs = 1_000

export function createTransport(options: TransportOptions): TransportLayer {
  return new Transports(options)
}

interface Parts {
  readonly udp: UdpTransport
  readonly tcp: StreamTransport
  readonly tls?: StreamTransport
}

class Transports implements TransportLayer {
  readonly #options: TransportOptions
  readonly #counted = { unparsable: 0, dropped: 0, refusedConnections: 0, slowConnections: 0 }
  readonly #ports: Partial<Record<Transport, number>> = {}
  #parts: Parts | undefined
  #port: number | undefined
  #loggedAtMs = Number.NEGATIVE_INFINITY
  #unlogged = 0

  constructor(options: TransportOptions) {
    this.#options = options
  }

  get listening(): Listening {
    if (this.#port === undefined) throw new Error('the transport has not been started')
    return { address: this.#options.bind, port: this.#port, ports: this.#ports }
  }

  get counters(): TransportCounters {
    const { tcp, tls } = this.#parts ?? {}
    return {
      ...this.#counted,
      connections: (tcp?.connections ?? 0) + (tls?.connections ?? 0),
      handshakes: tls?.handshakes ?? 0,
    }
  }

  async start(handlers: TransportHandlers): Promise<void> {
    const { tcp, udp, tls } = (this.#parts = this.#create(handlers))
    this.#port = await this.#listenAtOnePort(tcp, udp)
    const tlsPort = this.#options.secure?.tlsPort
    if (tls !== undefined && tlsPort !== undefined)
      this.#ports.tls = await this.#listen(tls, 'SWITCHHOOK_SIPS_PORT', tlsPort)
  }

  async stop(): Promise<void> {
    const { udp, tcp, tls } = this.#parts ?? {}
    await Promise.all([udp?.stop(), tcp?.stop(), tls?.stop()])
  }

  send(bytes: Uint8Array, remote: Remote, alternative?: Remote): Promise<void> {
    const sender = this.#senderTo(remote)
    if (sender === undefined) return Promise.reject(this.#notServed())
    if (remote.port < 1 || remote.port > 65_535) {
      return Promise.reject(new AppError('sip_unreachable', 'the port is out of range'))
    }
    return sender.send(bytes, remote, alternative)
  }

  open(remote: Remote): Promise<void> {
    return this.#streamTo(remote)?.open(remote) ?? Promise.reject(this.#notServed())
  }

  isOpen(remote: Remote): boolean {
    return this.#streamTo(remote)?.isOpen(remote) === true
  }

  #senderTo(remote: Remote): Pick<TransportLayer, 'send'> | undefined {
    return transports[remote.transport].isReliable ? this.#streamTo(remote) : this.#parts?.udp
  }

  #streamTo({ transport }: Remote): StreamTransport | undefined {
    const { tcp, tls } = this.#parts ?? {}
    const streams: Partial<Record<Transport, StreamTransport | undefined>> = { tcp, tls }
    return streams[transport]
  }

  #notServed(): AppError {
    const isEarly = this.#parts === undefined
    return new AppError('sip_unreachable', isEarly ? 'SIP does not listen yet' : 'SIP has no such transport')
  }

  async #listenAtOnePort(tcp: StreamTransport, udp: UdpTransport): Promise<number> {
    const { bind, port } = this.#options
    const attempts = port === 0 ? portAttempts : 1
    for (let attempt = 1; ; attempt += 1) {
      const candidate = await this.#listen(tcp, 'SWITCHHOOK_SIP_PORT', port)
      try {
        await udp.listen(bind, candidate)
        return candidate
      } catch (error) {
        await tcp.unlisten()
        const place = { setting: 'SWITCHHOOK_SIP_PORT', address: bind, port: candidate } as const
        if (attempt === attempts) throw toListenError(error, { ...place, transport: transports.udp.viaName })
      }
    }
  }

  async #listen(
    stream: Pick<StreamTransport, 'listen'>,
    setting: ListenPlace['setting'],
    port: number,
  ): Promise<number> {
    const { bind } = this.#options
    try {
      return await stream.listen(bind, port)
    } catch (error) {
      throw toListenError(error, { setting, transport: transports.tcp.viaName, address: bind, port })
    }
  }

  #create(handlers: TransportHandlers): Parts {
    const { limits, clock, secure } = this.#options
    const common = {
      limits: { ...connectionLimits, ...limits },
      clock,
      handlers: { ...handlers, admits: (remote: Remote) => this.#admits(remote, handlers) },
      misbehaved: (reason: string, kind: 'unparsable' | 'slow', remote: Remote) => {
        if (kind === 'slow') this.#counted.slowConnections += 1
        this.#dropped(reason, remote, kind)
      },
      refused: () => {
        this.#counted.refusedConnections += 1
      },
    }
    const udp = new UdpTransport({
      handlers: common.handlers,
      unparsable: (reason, remote) => this.#dropped(reason, remote),
    })
    const tcp = new StreamTransport({ ...common, transport: transports.tcp.name })
    if (secure?.tlsPort === undefined) return { udp, tcp }
    const tls = new Tls(secure.identity)
    return { udp, tcp, tls: new StreamTransport({ ...common, transport: transports.tls.name, tls }) }
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
