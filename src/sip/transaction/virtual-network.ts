// For tests: transaction layers joined by a network in virtual time, which loses, doubles and delays what it is told to.
import type { FakeClock } from '../../lib/fake-clock.ts'
import { silentLogger } from '../../lib/log.ts'
import { parseMessage } from '../message/parse-message.ts'
import type { Remote } from '../sip.ts'
import { createTransactionLayer } from './transaction-layer.ts'
import type { TransactionLayerOptions } from './transaction-layer.ts'
import type { TransactionLayer, TransactionUser } from './transaction.ts'

export interface NetworkFaults {
  /** 0 to 1, each decided for every message. */
  readonly loss: number
  readonly doubling: number
  /** A message takes from 1 ms up to this. */
  readonly latencyMs: number
}

export interface VirtualNetwork {
  join(name: string, user: Partial<TransactionUser>, more?: Partial<TransactionLayerOptions>): VirtualNode
  /** `from>to first line` of every message handed to the network, lost ones included. */
  readonly trace: string[]
}

export interface VirtualNode {
  readonly layer: TransactionLayer
  readonly remote: Remote
}

export const virtualCapabilities = {
  allow: ['INVITE', 'BYE', 'OPTIONS', 'MESSAGE'],
  supported: [],
  accept: ['application/sdp'],
}

export function createVirtualNetwork(
  clock: FakeClock,
  random: () => number,
  faults: NetworkFaults = { loss: 0, doubling: 0, latencyMs: 1 },
  transport: Remote['transport'] = 'udp',
): VirtualNetwork {
  const nodes = new Map<string, { layer: TransactionLayer; remote: Remote }>()
  const trace: string[] = []
  let joined = 0

  const carry = (bytes: Uint8Array, from: Remote, to: Remote): void => {
    trace.push(`${from.port}>${to.port} ${Buffer.from(bytes).toString('utf8').split('\r\n', 1)[0]}`)
    const copies = random() < faults.loss ? 0 : random() < faults.doubling ? 2 : 1
    for (let copy = 0; copy < copies; copy += 1) {
      clock.after(1 + Math.floor(random() * faults.latencyMs), () => {
        const target = [...nodes.values()].find(({ remote }) => remote.port === to.port)
        target?.layer.receive(parseMessage(bytes), bytes, from)
      })
    }
  }

  return {
    trace,
    join(name, user, more = {}) {
      joined += 1
      const remote: Remote = { transport, address: '192.0.2.1', port: 5_000 + joined }
      let counter = 0
      const layer = createTransactionLayer({
        transport: {
          send: (bytes, to) => {
            carry(bytes, remote, to)
            return Promise.resolve()
          },
        },
        user: {
          request: user.request ?? (() => undefined),
          ack: user.ack ?? (() => undefined),
          strayResponse: user.strayResponse ?? (() => undefined),
        },
        capabilities: virtualCapabilities,
        advertised: () => ({ host: remote.address, port: remote.port }),
        clock,
        log: silentLogger,
        random: (bytes) => `${name}${(counter += 1)}`.padEnd(2 * bytes, 'x'),
        ...more,
      })
      const node = { layer, remote }
      nodes.set(name, node)
      return node
    },
  }
}
