// All transports that are served, behind the interface of transport.ts: UDP and TCP on one port, the others on their
// own.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { toListenError, type ListenPlace } from '../../network/listen-error.ts'
import type { Logger } from '../../lib/log.ts'
import { connectionLimits, type ConnectionLimits } from '../limits.ts'
import { StreamTransport, type StreamTransportOptions } from './stream-transport.ts'
import { Tls, type SecureTransports } from './tls.ts'
import type { TransportLayer, TransportCounters, TransportHandlers } from './transport.ts'
import { UdpTransport } from './udp-transport.ts'
import { transports, type Remote, type Listening, type Transport } from './transports.ts'
import type { WebSocketOptions } from './api-web-sockets.ts'
import { WebSocketTransport } from './web-socket-transport.ts'

export interface TransportOptions {
  /** The address to bind. */
  readonly bind: string
  /** 0 for any port that is free for both UDP and TCP. */
  readonly port: number
  readonly secure?: SecureTransports | undefined
  readonly webSockets?: WebSocketOptions | undefined
  readonly clock: Clock
  readonly log: Logger
  readonly limits?: Partial<ConnectionLimits>
}

// With port 0, the port that TCP was given may be in use for UDP: another one is requested this many times.
const portAttempts = 50
const logIntervalMs = 1_000

export function createTransport(options: TransportOptions): TransportLayer {
  return new Transports(options)
}

type Admits = NonNullable<TransportHandlers['admits']>

type Stream = Pick<
  StreamTransport,
  'listen' | 'stop' | 'send' | 'open' | 'isOpen' | 'connections' | 'handshakes'
>

/** A transport other than UDP and TCP. */
interface Served {
  readonly stream: Stream
  readonly setting: ListenPlace['setting']
  /** Its own port; undefined if it only has that of the API. */
  readonly port: number | undefined
}

interface Parts {
  readonly udp: UdpTransport
  readonly tcp: StreamTransport
  readonly others: ReadonlyMap<Transport, Served>
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
    const streams = this.#streams()
    const sum = (of: (stream: Stream) => number): number =>
      streams.reduce((total, stream) => total + of(stream), 0)
    return {
      ...this.#counted,
      connections: sum(({ connections }) => connections),
      handshakes: sum(({ handshakes }) => handshakes),
    }
  }

  async start(handlers: TransportHandlers): Promise<void> {
    const { tcp, udp, others } = (this.#parts = this.#create(handlers))
    this.#port = await this.#listenAtOnePort(tcp, udp)
    for (const [name, { stream, setting, port }] of others)
      if (port !== undefined) this.#ports[name] = await this.#listen(stream, setting, port)
  }

  async stop(): Promise<void> {
    await Promise.all([this.#parts?.udp.stop(), ...this.#streams().map((stream) => stream.stop())])
  }

  send(bytes: Uint8Array, remote: Remote, alternative?: Remote, connectMs?: number): Promise<void> {
    const sender = this.#senderTo(remote)
    if (sender === undefined) return Promise.reject(this.#notServed())
    if (remote.port < 1 || remote.port > 65_535) {
      return Promise.reject(new AppError('sip_unreachable', 'the port is out of range'))
    }
    return sender.send(bytes, remote, alternative, connectMs)
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

  #streamTo({ transport }: Remote): Stream | undefined {
    const { tcp, others } = this.#parts ?? {}
    return transport === transports.tcp.name ? tcp : others?.get(transport)?.stream
  }

  #streams(): readonly Stream[] {
    const { tcp, others } = this.#parts ?? {}
    return [...(tcp === undefined ? [] : [tcp]), ...[...(others?.values() ?? [])].map(({ stream }) => stream)]
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
    stream: Pick<Stream, 'listen'>,
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
    const { limits, clock } = this.#options
    const common = {
      limits: { ...connectionLimits, ...limits },
      clock,
      handlers: { ...handlers, admits: (...from: Parameters<Admits>) => this.#admits(handlers, ...from) },
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
    return { udp, tcp, others: this.#others(common) }
  }

  #others(common: Omit<StreamTransportOptions, 'transport' | 'tls'>): ReadonlyMap<Transport, Served> {
    const { secure, webSockets: { besideApi, origins, port } = {} } = this.#options
    const tls = secure && new Tls(secure.identity)
    const served = new Map<Transport, Served>()
    const { tls: overTls, ws, wss } = transports
    if (secure?.tlsPort !== undefined) {
      const stream = new StreamTransport({ ...common, transport: overTls.name, tls })
      served.set(overTls.name, { stream, setting: 'SWITCHHOOK_SIPS_PORT', port: secure.tlsPort })
    }
    const inClear = new WebSocketTransport({ ...common, transport: ws.name, origins })
    if (port !== undefined || besideApi !== undefined)
      served.set(ws.name, { stream: inClear, setting: 'SWITCHHOOK_HTTP_PORT', port })
    const overWss = new WebSocketTransport({ ...common, transport: wss.name, tls, origins })
    if (secure?.wssPort !== undefined || (secure !== undefined && besideApi !== undefined))
      served.set(wss.name, { stream: overWss, setting: 'SWITCHHOOK_WSS_PORT', port: secure.wssPort })
    besideApi?.serve({ ws: inClear, ...(served.has(wss.name) ? { wss: overWss } : {}) }, (ports) =>
      Object.assign(this.#ports, { ...ports, ...this.#ports }),
    )
    return served
  }

  #admits(handlers: TransportHandlers, ...from: Parameters<Admits>): boolean {
    if (handlers.admits?.(...from) !== false) return true
    const [remote] = from
    this.#dropped('over the budget of its source', remote, 'dropped')
    return false
  }

  /** Logs at most one line a second: garbage must not fill the log. */
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
