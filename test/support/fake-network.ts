// A SIP network in memory that loses, duplicates, delays and reorders messages, on a clock that tests move.
import type { FakeClock } from './fake-clock.ts'
import { parseMessage } from '../../src/sip/message/parse-message.ts'
import type { SipMessage } from '../../src/sip/message/message.ts'
import type { Remote } from '../../src/sip/sip.ts'
import type { TransportLayer } from '../../src/sip/transport/transport.ts'
import { createRandom } from './random.ts'

export interface FakeNetworkOptions {
  readonly clock: FakeClock
  readonly lossPercent?: number
  readonly duplicatePercent?: number
  /** The longest delay: every message takes at least 1 ms, and less than 1 ms more than this. */
  readonly maxDelayMs?: number
  readonly seed?: number
}

export type Receive = (message: SipMessage, raw: Uint8Array, remote: Remote) => void

export interface FakeNetwork {
  /** Creates a transport at `address`, port 5060; messages go to `receive`, or as its owner starts it. */
  attach(address: string, receive?: Receive): Omit<TransportLayer, 'counters'>
  /** Delivers a message as if it came from `from`. */
  deliver(bytes: Uint8Array, way: { readonly from: string; readonly to: string }): void
  /** Decides whether to lose this message; set by a test. */
  drops: (message: SipMessage, to: string) => boolean
  /** Moves time on in small steps and lets promises settle in between. */
  run(ms: number): Promise<void>
  /** The sender and the start of every message, lost ones included: `192.0.2.1 INVITE`, `192.0.2.2 200`. */
  readonly sent: string[]
}

const stepMs = 10

export function createFakeNetwork(options: FakeNetworkOptions): FakeNetwork {
  const { clock, lossPercent = 0, duplicatePercent = 0, maxDelayMs = 1, seed = 1 } = options
  const random = createRandom(seed)
  const places = new Map<string, Receive>()
  const network: FakeNetwork = {
    drops: () => false,
    sent: [],
    attach(address, receive) {
      if (receive !== undefined) places.set(address, receive)
      return {
        listening: { address, port: 5060 },
        start: async (handlers) => void places.set(address, (...message) => handlers.message(...message)),
        stop: async () => void places.delete(address),
        isOpen: () => true,
        open: () => Promise.resolve(),
        async send(bytes, remote) {
          const message = parseMessage(bytes)
          network.sent.push(`${address} ${startOf(message)}`)
          const copies = random() * 100 < duplicatePercent ? 2 : 1
          for (let copy = 0; copy < copies; copy += 1) {
            if (random() * 100 < lossPercent || network.drops(message, remote.address)) continue
            const from: Remote = { transport: remote.transport, address, port: 5060 }
            const deliver = (): void => places.get(remote.address)?.(parseMessage(bytes), bytes, from)
            clock.after(1 + Math.floor(random() * maxDelayMs), deliver)
          }
        },
      }
    },
    deliver(bytes, { from, to }) {
      places.get(to)?.(parseMessage(bytes), bytes, { transport: 'udp', address: from, port: 5060 })
    },
    async run(ms) {
      for (let passed = 0; passed < ms; passed += stepMs) {
        clock.advance(stepMs)
        await new Promise(setImmediate)
      }
    },
  }
  return network
}

/** Returns the method of a request or the status of a response. */
export function startOf(message: SipMessage): string {
  return message.kind === 'request' ? message.method : String(message.status)
}
