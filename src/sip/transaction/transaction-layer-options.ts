// The options of the transaction layer.
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import type { Capabilities } from '../message/validate.ts'
import type { Remote } from '../transport/transports.ts'
import type { WireEvent } from '../transport/wire-event.ts'
import type { Sources } from '../transport/sources.ts'
import type { Timers } from '../timers.ts'
import type { TransportLayer } from '../transport/transport.ts'
import type { TransactionUser } from './transaction.ts'

export interface TransactionLayerOptions {
  readonly transport: Pick<TransportLayer, 'send'>
  readonly user: TransactionUser
  readonly capabilities: Capabilities
  /**
   * Returns host and port for the Via of a request to `remote`. Called for each request: the port may be unknown until
   * start.
   */
  advertised(remote: Remote): { readonly host: string; readonly port: number }
  readonly clock: Clock
  readonly log: Logger
  /** Called for every message in either direction, including retransmissions. */
  onWire?(event: WireEvent): void
  readonly timers?: Timers
  /** Returns hex text that cannot be guessed; tests that need the same text twice replace it. */
  readonly random?: (bytes: number) => string
  /** Reports which sources have proved themselves; left out, only the total limit applies to a source. */
  readonly sources?: Pick<Sources, 'isProven' | 'prove'> & Partial<Pick<Sources, 'reads'>>
  /**
   * Reports whether our own proxy is there: its responses are accepted wherever the request went, and sips URIs without
   * TLS. Left out, there are none.
   */
  readonly isProxy?: ((address: string) => boolean) | undefined
  /** The most server transactions, and the most client transactions. A request over 4 kB counts as several. */
  readonly maxTransactions?: number
}
