// What the user agent core stands on: the options of the stack, with its sockets behind one transport.
import type { ResolveUri } from './resolve.ts'
import type { Peer, Sip, SipOptions } from './sip.ts'
import type { TransportLayer } from './transport/transport.ts'

type OfSockets = 'bind' | 'port' | 'secure' | 'webSockets' | 'publicAddress' | 'lookup'

export interface UserAgentOptions extends Omit<SipOptions, OfSockets> {
  readonly transport: Pick<TransportLayer, 'start' | 'stop' | 'listening' | 'send' | 'isOpen' | 'open'>
  readonly resolve: ResolveUri
  readonly rest?: Sip['rest']
  /** Our address as `remote` sees it, or for a peer that is not known yet. */
  hostFor(remote?: Peer): string
}
