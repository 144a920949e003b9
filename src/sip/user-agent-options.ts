// The options of the user agent core: those of the stack, with its sockets behind one transport.
import type { ResolveUri } from './transport/resolve.ts'
import type { Peer } from './transport/transports.ts'
import type { Sip, SipOptions } from './sip.ts'
import type { TransportLayer } from './transport/transport.ts'

type OfSockets = 'bind' | 'port' | 'secure' | 'webSockets' | 'publicAddress' | 'lookup'

export interface UserAgentOptions extends Omit<SipOptions, OfSockets> {
  readonly transport: Pick<TransportLayer, 'start' | 'stop' | 'listening' | 'send' | 'isOpen' | 'open'>
  readonly resolve: ResolveUri
  readonly rest?: Sip['rest']
  /** Returns our address as `remote` sees it, or as an unknown peer does. */
  hostFor(remote?: Peer): string
}
