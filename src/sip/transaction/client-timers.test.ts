// The retransmissions, time-outs and ends of client transactions: RFC 3261 §17.1 with RFC 6026, on a clock that the
// test controls.
import { describe, expect, it } from 'vitest'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import { createFakeNetwork } from '../../../test/support/fake-network.ts'
import { createLayerNode, requestOf } from '../../../test/support/transactions.ts'
import { responseTo } from '../message/build.ts'
import {
  headerOf,
  headersOf,
  type HeaderField,
  type SipMessage,
  type SipRequest,
} from '../message/message.ts'
import { parseMessage } from '../message/parse-message.ts'
import { serializeMessage } from '../message/serialize-message.ts'
import type { Remote } from '../transport/transports.ts'
import type { ClientTransaction, TransactionLayer } from './transaction.ts'

interface Bench {
  readonly clock: FakeClock
  readonly layer: TransactionLayer
  /** The time in ms and the method of each message sent, as in `0 INVITE`. */
  readonly sent: string[]
  readonly requests: SipRequest[]
  readonly heard: (number | string)[]
  readonly strays: number[]
  ask(request: SipRequest): ClientTransaction
  /** The far end responds to the INVITE or request, but not to its CANCEL. */
  respond(status: number, times?: number): void
  /** A connection to the far end is gone. */
  lose(by?: Remote['transport']): void
  /** Makes the network fail from now on. */
  fail(): void
}

/** Returns a response as it arrives from the wire. */
function received(request: SipRequest, status: number): SipMessage {
  return parseMessage(serializeMessage(responseTo(request, { status }, { toTag: 'b' })))
}

function open(transport: Remote['transport'] = 'udp'): Bench {
  const clock = createFakeClock()
  const sent: string[] = []
  const requests: SipRequest[] = []
  const heard: (number | string)[] = []
  const strays: number[] = []
  let isFailing = false
  const remote: Remote = { transport, address: '192.0.2.9', port: 5060 }
  const { layer } = createLayerNode({
    clock,
    network: createFakeNetwork({ clock }),
    address: '192.0.2.1',
    user: { strayResponse: ({ status }) => void strays.push(status) },
    transport: {
      send(bytes) {
        const message = parseMessage(bytes)
        if (message.kind !== 'request') return Promise.resolve()
        sent.push(`${clock.monotonic()} ${message.method}`)
        requests.push(message)
        return isFailing ? Promise.reject(new Error('no route')) : Promise.resolve()
      },
    },
  })
  return {
    clock,
    layer,
    sent,
    requests,
    heard,
    strays,
    ask: (request) =>
      layer.request(request, remote, {
        response: ({ status }) => void heard.push(status),
        failed: (reason) => void heard.push(reason),
      }),
    respond(status, times = 1) {
      const [request] = requests
      if (request === undefined) throw new Error('nothing was sent')
      for (let count = 0; count < times; count += 1)
        layer.receive(received(request, status), new Uint8Array(0), remote)
    },
    lose: (by = transport) => layer.connectionLost({ ...remote, transport: by }),
    fail: () => {
      isFailing = true
    },
  }
}

describe('an INVITE over UDP (RFC 3261 §17.1.1.2)', () => {
  it('is repeated after T1, doubling without a bound, and given up at 64*T1: timers A and B', () => {
    const bench = open()
    bench.ask(requestOf('INVITE'))
    bench.clock.advance(31_999)
    expect(bench.sent).toEqual([0, 500, 1_500, 3_500, 7_500, 15_500, 31_500].map((time) => `${time} INVITE`))
    expect(bench.heard).toEqual([])
    bench.clock.advance(1)
    expect(bench.heard).toEqual(['timeout'])
    expect(bench.clock.pending).toBe(0)
  })

  it.each([100, 180, 183])('is neither repeated nor given up once %i came', (status) => {
    const bench = open()
    bench.ask(requestOf('INVITE'))
    bench.clock.advance(600)
    bench.respond(status)
    bench.clock.advance(3_600_000)
    expect(bench.sent).toHaveLength(2)
    expect(bench.heard).toEqual([status])
  })

  it('is cancelled when it has rung longer than timer C, and given up without a final response (RFC 3261 §16.8)', () => {
    const bench = open()
    const transaction = bench.ask(requestOf('INVITE'))
    bench.respond(180)
    bench.clock.advance(3_000_000)
    bench.respond(183)
    // 100 does not start timer C a second time.
    bench.clock.advance(1_000_000)
    bench.respond(100)
    bench.clock.advance(2_659_999)
    expect(bench.sent).toEqual(['0 INVITE'])
    bench.clock.advance(1)
    expect(bench.sent.at(-1)).toBe('6660000 CANCEL')
    expect(transaction.state).toBe('proceeding')
    bench.clock.advance(32_000)
    expect(bench.heard).toEqual([180, 183, 100, 'timeout'])
  })

  it('that is refused acknowledges each copy for 32 s, and reports the first only: timer D', () => {
    const bench = open()
    const transaction = bench.ask(requestOf('INVITE'))
    bench.respond(486)
    expect(transaction.state).toBe('completed')
    bench.clock.advance(31_999)
    bench.respond(486)
    expect(bench.sent).toEqual(['0 INVITE', '0 ACK', '31999 ACK'])
    expect(bench.heard).toEqual([486])
    bench.clock.advance(1)
    expect(transaction.state).toBe('terminated')
    bench.respond(486)
    expect(bench.sent).toHaveLength(3)
    expect(bench.strays).toEqual([486])
    expect(bench.clock.pending).toBe(0)
  })

  it('that is answered passes every 2xx up for 64*T1, and acknowledges none itself: timer M (RFC 6026 §8.4)', () => {
    const bench = open()
    const transaction = bench.ask(requestOf('INVITE'))
    bench.respond(200)
    bench.clock.advance(31_999)
    bench.respond(200)
    // A refusal after an answer is from another fork, and too late.
    bench.respond(486)
    expect(transaction.state).toBe('accepted')
    expect(bench.heard).toEqual([200, 200])
    expect(bench.sent).toEqual(['0 INVITE'])
    bench.clock.advance(1)
    bench.respond(200)
    expect(bench.heard).toEqual([200, 200])
    expect(bench.strays).toEqual([200])
  })

  it('ends at once when the network refuses it', async () => {
    const bench = open()
    bench.fail()
    bench.ask(requestOf('INVITE'))
    await new Promise((resolve) => setImmediate(resolve))
    expect(bench.heard).toEqual(['transport-error'])
    expect(bench.clock.pending).toBe(0)
  })

  it('is not hurt by a network that fails once it rings, or over an ACK', async () => {
    const bench = open()
    const transaction = bench.ask(requestOf('INVITE'))
    bench.respond(180)
    bench.fail()
    bench.respond(486)
    await new Promise((resolve) => setImmediate(resolve))
    expect(bench.heard).toEqual([180, 486])
    expect(transaction.state).toBe('completed')
  })
})

describe('an INVITE over TCP', () => {
  it('is sent once, and over as soon as it is refused: timer D of zero', () => {
    const bench = open('tcp')
    const transaction = bench.ask(requestOf('INVITE'))
    bench.clock.advance(20_000)
    bench.respond(486)
    bench.clock.advance(0)
    expect(bench.sent).toEqual(['0 INVITE', '20000 ACK'])
    expect(transaction.state).toBe('terminated')
    expect(bench.clock.pending).toBe(0)
  })

  it('is given up at 64*T1 without a response', () => {
    const bench = open('tcp')
    bench.ask(requestOf('INVITE'))
    bench.clock.advance(32_000)
    expect(bench.heard).toEqual(['timeout'])
  })
})

describe('a connection that is lost before any response', () => {
  const went = () => new Promise((resolve) => setImmediate(resolve))

  it.each(['INVITE', 'OPTIONS'])(
    'ends an %s after the second in which a response may come by another (RFC 3261 §18.2.2)',
    async (method) => {
      const bench = open('tcp')
      bench.ask(requestOf(method))
      await went()
      bench.lose()
      bench.clock.advance(999)
      // The other connection that is lost is not the one of the request.
      bench.lose()
      expect(bench.heard).toEqual([])
      bench.clock.advance(1)
      expect(bench.heard).toEqual(['transport-error'])
      expect(bench.clock.pending).toBe(0)
    },
  )

  it.each([100, 180, 486])('does nothing to an INVITE that has %i by then', async (status) => {
    const bench = open('tcp')
    bench.ask(requestOf('INVITE'))
    await went()
    bench.lose()
    bench.clock.advance(900)
    bench.respond(status)
    bench.clock.advance(31_000)
    expect(bench.heard).toEqual([status])
  })

  it('does nothing to a request that was not handed to it, or goes by UDP or elsewhere', async () => {
    const unsent = open('tcp')
    unsent.ask(requestOf('INVITE'))
    unsent.lose()
    const benches = [unsent, open('udp'), open('tls')]
    for (const bench of benches.slice(1)) bench.ask(requestOf('INVITE'))
    await went()
    for (const bench of benches.slice(1)) bench.lose('tcp')
    for (const bench of benches) bench.clock.advance(31_999)
    expect(benches.map(({ heard }) => heard)).toEqual([[], [], []])
  })
})

describe('any other request over UDP (RFC 3261 §17.1.2.2)', () => {
  it('is repeated at intervals that double up to T2, and given up at 64*T1: timers E and F', () => {
    const bench = open()
    bench.ask(requestOf('OPTIONS'))
    bench.clock.advance(40_000)
    const times = [0, 500, 1_500, 3_500, 7_500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500]
    expect(bench.sent).toEqual(times.map((time) => `${time} OPTIONS`))
    expect(bench.heard).toEqual(['timeout'])
    expect(bench.clock.pending).toBe(0)
  })

  it('is repeated every T2 after a provisional response, and given up at 64*T1 all the same', () => {
    const bench = open()
    const transaction = bench.ask(requestOf('OPTIONS'))
    bench.clock.advance(100)
    bench.respond(100)
    bench.clock.advance(50)
    bench.respond(183)
    expect(transaction.state).toBe('proceeding')
    bench.clock.advance(40_000)
    expect(bench.sent.slice(0, 4)).toEqual(['0 OPTIONS', '4100 OPTIONS', '8100 OPTIONS', '12100 OPTIONS'])
    expect(bench.heard).toEqual([100, 183, 'timeout'])
  })

  it('absorbs copies of its answer for T4: timer K', () => {
    const bench = open()
    const transaction = bench.ask(requestOf('OPTIONS'))
    bench.respond(404)
    bench.clock.advance(4_999)
    bench.respond(404)
    expect([transaction.state, bench.heard, bench.strays]).toEqual(['completed', [404], []])
    bench.clock.advance(1)
    bench.respond(404)
    expect([transaction.state, bench.heard, bench.strays]).toEqual(['terminated', [404], [404]])
  })

  it('is over at once with its answer over TCP', () => {
    const bench = open('tcp')
    const transaction = bench.ask(requestOf('OPTIONS'))
    bench.respond(200)
    bench.clock.advance(0)
    expect(transaction.state).toBe('terminated')
  })

  it('ends when the network refuses a later copy of it', async () => {
    const bench = open()
    bench.ask(requestOf('OPTIONS'))
    bench.respond(100)
    bench.fail()
    bench.clock.advance(4_000)
    await new Promise((resolve) => setImmediate(resolve))
    expect(bench.heard).toEqual([100, 'transport-error'])
    expect(bench.clock.pending).toBe(0)
  })
})

describe('CANCEL (RFC 3261 §9.1)', () => {
  const reason: readonly HeaderField[] = [{ name: 'reason', value: 'SIP;cause=200' }]

  it('waits for a provisional response, and keeps the headers it was given first', () => {
    const bench = open()
    const transaction = bench.ask(requestOf('INVITE'))
    transaction.cancel(reason)
    transaction.cancel([{ name: 'reason', value: 'other' }])
    expect(bench.sent).toEqual(['0 INVITE'])
    bench.respond(100)
    expect(bench.sent).toEqual(['0 INVITE', '0 CANCEL'])
    const [invite, cancel] = bench.requests
    expect(cancel === undefined ? [] : headersOf(cancel, 'reason')).toEqual(['SIP;cause=200'])
    expect(headerOf(cancel as SipRequest, 'via')).toBe(headerOf(invite as SipRequest, 'via'))
    transaction.cancel()
    expect(bench.sent).toHaveLength(2)
  })

  it('is repeated like any request until it is answered, and its answers are no response to the INVITE', () => {
    const bench = open()
    bench.ask(requestOf('INVITE')).cancel()
    bench.respond(180)
    bench.clock.advance(600)
    expect(bench.sent.slice(1)).toEqual(['0 CANCEL', '500 CANCEL'])
    const cancel = bench.requests.at(-1) as SipRequest
    bench.layer.receive(received(cancel, 200), new Uint8Array(0), {
      transport: 'udp',
      address: '192.0.2.9',
      port: 5060,
    })
    bench.clock.advance(20_000)
    expect(bench.sent).toHaveLength(3)
    expect(bench.heard).toEqual([180])
    bench.respond(487)
    expect(bench.heard).toEqual([180, 487])
  })

  it('is not sent after a final response, nor for a request that is no INVITE', () => {
    const answered = open()
    const invite = answered.ask(requestOf('INVITE'))
    answered.respond(180)
    answered.respond(200)
    invite.cancel()
    expect(answered.sent).toEqual(['0 INVITE'])
    const other = open()
    const options = other.ask(requestOf('OPTIONS'))
    other.respond(100)
    options.cancel()
    expect(other.sent).toEqual(['0 OPTIONS'])
  })
})

describe('the layer of client transactions', () => {
  it('takes no request over its bound, and takes one again when another is over', () => {
    const clock = createFakeClock()
    const remote: Remote = { transport: 'tcp', address: '192.0.2.9', port: 5060 }
    const { layer } = createLayerNode({
      clock,
      network: createFakeNetwork({ clock }),
      address: '192.0.2.1',
      maxTransactions: 2,
    })
    const handlers = { response: () => undefined, failed: () => undefined }
    const ask = (): ClientTransaction => layer.request(requestOf('OPTIONS'), remote, handlers)
    ask()
    ask()
    expect(ask).toThrow('too many SIP transactions are open')
    clock.advance(32_000)
    expect(ask).not.toThrow()
  })

  it('marks the place it sends a request to as proven, and takes none once it has stopped', () => {
    const clock = createFakeClock()
    const proven: Remote[] = []
    const remote: Remote = { transport: 'udp', address: '192.0.2.9', port: 5060 }
    const { layer } = createLayerNode({
      clock,
      network: createFakeNetwork({ clock }),
      address: '192.0.2.1',
      sources: { isProven: () => false, prove: (place) => void proven.push(place) },
    })
    const handlers = { response: () => undefined, failed: () => undefined }
    layer.request(requestOf('OPTIONS'), remote, handlers)
    expect(proven).toEqual([remote])
    layer.stop()
    layer.stop()
    expect(() => layer.request(requestOf('OPTIONS'), remote, handlers)).toThrow('stopping')
  })
})
