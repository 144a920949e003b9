// A network in memory that loses, doubles, delays and reorders what it carries, on a clock that tests move by hand.
import type { FakeClock } from '../lib/fake-clock.ts'
import { parseMessage } from './message/parse-message.ts'
import type { SipMessage } from './message/message.ts'
import type { Remote } from './sip.ts'
import type { Transport } from './transport/transport.ts'

export interface FakeNetworkOptions {
  readonly clock: FakeClock
  readonly lossPercent?: number
  readonly duplicatePercent?: number
  /** Every message takes between 1 and so many milliseconds. */
  readonly maxDelayMs?: number
  readonly seed?: number
}

export type Receive = (message: SipMessage, raw: Uint8Array, remote: Remote) => void

export interface FakeNetwork {
  /** A transport at `address`, port 5060; what is sent there is handed to `receive`. */
  attach(address: string, receive: Receive): Pick<Transport, 'send' | 'isOpen' | 'open'>
  /** Set by a test: true loses this message. */
  drops: (message: SipMessage, to: string) => boolean
  /** Moves time on in small steps and lets promises settle in between. */
  run(ms: number): Promise<void>
  /** The start of every message that was sent, lost ones included. */
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
      places.set(address, receive)
      const source: Remote = { transport: 'udp', address, port: 5060 }
      return {
        isOpen: () => true,
        open: () => Promise.resolve(),
        async send(bytes, remote) {
          const message = parseMessage(bytes)
          network.sent.push(`${address} ${startOf(message)}`)
          const copies = random() * 100 < duplicatePercent ? 2 : 1
          for (let copy = 0; copy < copies; copy += 1) {
            if (random() * 100 < lossPercent || network.drops(message, remote.address)) continue
            const from = { ...source, transport: remote.transport }
            const deliver = (): void => places.get(remote.address)?.(parseMessage(bytes), bytes, from)
            clock.after(1 + Math.floor(random() * maxDelayMs), deliver)
          }
        },
      }
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

export function startOf(message: SipMessage): string {
  return message.kind === 'request' ? message.method : String(message.status)
}

/** The same numbers for the same seed: mulberry32. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
