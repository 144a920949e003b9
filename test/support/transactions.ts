// Two transaction layers with a fake network between them: alice sends requests, bob responds.
import { createFakeClock, type FakeClock } from './fake-clock.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { buildRequest } from '../../src/sip/message/build.ts'
import type { SipRequest, SipResponse } from '../../src/sip/message/message.ts'
import type { Remote } from '../../src/sip/sip.ts'
import { createTransactionLayer } from '../../src/sip/transaction/transaction-layer.ts'
import type { TransactionLayerOptions } from '../../src/sip/transaction/transaction-layer-options.ts'
import type {
  ServerTransaction,
  TransactionLayer,
  TransactionUser,
} from '../../src/sip/transaction/transaction.ts'
import { createFakeNetwork, type FakeNetwork, type FakeNetworkOptions } from './fake-network.ts'

export interface LayerNode {
  readonly layer: TransactionLayer
  readonly remote: Remote
}

export interface NodeOptions extends Partial<Omit<TransactionLayerOptions, 'user'>> {
  readonly clock: FakeClock
  readonly network: FakeNetwork
  readonly address: string
  readonly user?: Partial<TransactionUser>
  /** The transport by which others reach it; UDP by default. */
  readonly by?: Remote['transport']
}

/** Creates a transaction layer at an address of the network. */
export function createLayerNode({ network, address, user, by = 'udp', ...options }: NodeOptions): LayerNode {
  let counter = 0
  const layer: TransactionLayer = createTransactionLayer({
    transport: network.attach(address, (...message) => layer.receive(...message)),
    user: { request: () => undefined, ack: () => undefined, strayResponse: () => undefined, ...user },
    capabilities: {
      allow: ['INVITE', 'BYE', 'OPTIONS', 'MESSAGE'],
      supported: [],
      accept: ['application/sdp'],
    },
    advertised: () => ({ host: address, port: 5060 }),
    log: silentLogger,
    random: (bytes) => `${address}n${(counter += 1)}`.padEnd(2 * bytes, 'x'),
    ...options,
  })
  return { layer, remote: { transport: by, address, port: 5060 } }
}

export interface Pair {
  readonly clock: FakeClock
  readonly network: FakeNetwork
  readonly alice: LayerNode
  readonly bob: LayerNode
  /** The requests that reached bob's core. */
  readonly requests: ServerTransaction[]
  readonly acks: SipRequest[]
  /** The responses that reached alice's core without a transaction. */
  readonly strays: SipResponse[]
}

export interface PairOptions extends Omit<Partial<FakeNetworkOptions>, 'clock'> {
  /** The reaction of bob's core to a request. */
  readonly onRequest?: (transaction: ServerTransaction, clock: FakeClock) => void
  readonly by?: Remote['transport']
  readonly bob?: Partial<Omit<NodeOptions, 'clock' | 'network' | 'address'>>
}

export function createPair({ onRequest, by = 'udp', bob: more, ...faults }: PairOptions = {}): Pair {
  const clock = createFakeClock()
  const network = createFakeNetwork({ clock, ...faults })
  const requests: ServerTransaction[] = []
  const acks: SipRequest[] = []
  const strays: SipResponse[] = []
  const alice = createLayerNode({
    clock,
    network,
    by,
    address: '192.0.2.1',
    user: { strayResponse: (response) => void strays.push(response) },
  })
  const bob = createLayerNode({
    clock,
    network,
    by,
    address: '192.0.2.2',
    maxTransactions: 100,
    ...more,
    user: {
      request(transaction) {
        requests.push(transaction)
        onRequest?.(transaction, clock)
      },
      ack: (ack) => void acks.push(ack),
      ...more?.user,
    },
  })
  return { clock, network, alice, bob, requests, acks, strays }
}

export interface Heard {
  readonly statuses: number[]
  readonly responses: SipResponse[]
  failure: string | undefined
  cancel(): void
  state(): string
}

/** Sends a request from alice to bob, and records its responses and failure. */
export function ask({ alice, bob }: Pair, request: SipRequest): Heard {
  const heard = { statuses: [] as number[], responses: [] as SipResponse[], failure: undefined }
  const transaction = alice.layer.request(request, bob.remote, {
    response: (response) => {
      heard.statuses.push(response.status)
      heard.responses.push(response)
    },
    failed: (reason) => Object.assign(heard, { failure: reason }),
  })
  return Object.assign(heard, { cancel: () => transaction.cancel(), state: () => transaction.state })
}

export function requestOf(
  method: string,
  { cseq = 1, body }: { readonly cseq?: number; readonly body?: string } = {},
): SipRequest {
  return buildRequest({
    method,
    uri: 'sip:bob@192.0.2.2',
    headers: [
      { name: 'from', value: '<sip:alice@192.0.2.1>;tag=a' },
      { name: 'to', value: '<sip:bob@192.0.2.2>' },
      { name: 'call-id', value: 'call-1' },
      { name: 'cseq', value: `${cseq} ${method}` },
      { name: 'max-forwards', value: '70' },
    ],
    ...(body === undefined ? {} : { body: { type: 'application/sdp', content: body } }),
  })
}
