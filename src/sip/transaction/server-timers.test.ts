// The retransmissions, absorption and ends of server transactions: RFC 3261 §17.2 with RFC 6026, on a clock that the
// test controls.
import { describe, expect, it } from 'vitest'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import { createFakeNetwork } from '../../../test/support/fake-network.ts'
import { createLayerNode, requestOf } from '../../../test/support/transactions.ts'
import { cancelOf } from '../message/build.ts'
import { headerOf, type SipRequest, type SipResponse } from '../message/message.ts'
import { parseMessage } from '../message/parse-message.ts'
import type { Remote } from '../transport/transports.ts'
import type { EndReason, ServerTransaction, TransactionLayer } from './transaction.ts'

interface Bench {
  readonly clock: FakeClock
  readonly layer: TransactionLayer
  /** The time in ms and the status of each response sent, and the method it is for. */
  readonly sent: string[]
  readonly responses: SipResponse[]
  readonly transactions: ServerTransaction[]
  readonly acks: SipRequest[]
  /** Delivers a request, and returns its transaction if it has one. */
  ask(request: SipRequest): ServerTransaction
  receive(request: SipRequest, from?: Partial<Remote>): void
  fail(): void
}

const via = { name: 'via', value: 'SIP/2.0/UDP 192.0.2.9;branch=z9hG4bK1' }

/** Returns a request as it arrives, with the branch of the INVITE unless another is given. */
function incoming(
  method: string,
  fields: { readonly branch?: string; readonly cseq?: number } = {},
): SipRequest {
  const { branch = 'z9hG4bK1', cseq = 1 } = fields
  const request = requestOf(method, { cseq })
  const headers = [{ name: 'via', value: `SIP/2.0/UDP 192.0.2.9;branch=${branch}` }, ...request.headers]
  return { ...request, headers }
}

function open(transport: Remote['transport'] = 'udp'): Bench {
  const clock = createFakeClock()
  const sent: string[] = []
  const responses: SipResponse[] = []
  const transactions: ServerTransaction[] = []
  const acks: SipRequest[] = []
  let isFailing = false
  const remote: Remote = { transport, address: '192.0.2.9', port: 5060 }
  const { layer } = createLayerNode({
    clock,
    network: createFakeNetwork({ clock }),
    address: '192.0.2.1',
    user: { request: (made) => void transactions.push(made), ack: (ack) => void acks.push(ack) },
    transport: {
      send(bytes) {
        const message = parseMessage(bytes)
        if (message.kind === 'request') return Promise.resolve()
        responses.push(message)
        const method = headerOf(message, 'cseq')?.split(' ')[1]
        sent.push(`${clock.monotonic()} ${message.status} ${method}`)
        return isFailing ? Promise.reject(new Error('no route')) : Promise.resolve()
      },
    },
  })
  const receive = (request: SipRequest, from: Partial<Remote> = {}): void =>
    layer.receive(request, new Uint8Array(0), { ...remote, ...from })
  return {
    clock,
    layer,
    sent,
    responses,
    transactions,
    acks,
    receive,
    ask(request) {
      receive(request)
      const made = transactions.at(-1)
      if (made === undefined) throw new Error('the request made no transaction')
      return made
    },
    fail: () => {
      isFailing = true
    },
  }
}

describe('an INVITE over UDP (RFC 3261 §17.2.1)', () => {
  it('that is refused repeats the refusal after T1, doubling up to T2, until 64*T1: timers G and H', () => {
    const bench = open()
    const ends: EndReason[] = []
    const transaction = bench.ask(incoming('INVITE'))
    transaction.onEnd((reason) => void ends.push(reason))
    transaction.respond({ status: 486 })
    bench.clock.advance(40_000)
    const times = [0, 500, 1_500, 3_500, 7_500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500]
    expect(bench.sent).toEqual(times.map((time) => `${time} 486 INVITE`))
    expect([transaction.state, ends]).toEqual(['terminated', ['timeout']])
    expect(bench.clock.pending).toBe(0)
  })

  it('that is refused absorbs further ACKs for T4, and none of them reaches the core: timer I', () => {
    const bench = open()
    const transaction = bench.ask(incoming('INVITE'))
    transaction.respond({ status: 486 })
    bench.clock.advance(100)
    bench.receive(incoming('ACK'))
    expect(transaction.state).toBe('confirmed')
    bench.clock.advance(4_999)
    bench.receive(incoming('ACK'))
    // A late copy of the INVITE gets no response any more (RFC 3261 §17.2.1).
    bench.receive(incoming('INVITE'))
    expect([bench.sent, bench.acks, bench.transactions.length]).toEqual([['0 486 INVITE'], [], 1])
    bench.clock.advance(1)
    expect(transaction.state).toBe('terminated')
    expect(bench.clock.pending).toBe(0)
  })

  it('that is repeated gets the last response again: the provisional one, then the refusal', () => {
    const bench = open()
    const transaction = bench.ask(incoming('INVITE'))
    bench.receive(incoming('INVITE'))
    expect(bench.sent).toEqual([])
    transaction.respond({ status: 180 })
    bench.receive(incoming('INVITE'))
    transaction.respond({ status: 183 })
    bench.receive(incoming('INVITE'))
    transaction.respond({ status: 603 })
    bench.receive(incoming('INVITE'))
    const statuses = [180, 180, 183, 183, 603, 603]
    expect(bench.sent).toEqual(statuses.map((status) => `0 ${status} INVITE`))
    expect(bench.transactions).toHaveLength(1)
    expect(bench.layer.counters).toMatchObject({ retransmissionsReceived: 4, retransmissionsSent: 3 })
  })

  it('that is accepted is answered by its core alone until 64*T1, and hands each ACK on: timer L (RFC 6026 §8.7)', () => {
    const bench = open()
    const ends: EndReason[] = []
    const transaction = bench.ask(incoming('INVITE'))
    transaction.onEnd((reason) => void ends.push(reason))
    transaction.respond({ status: 200 })
    bench.receive(incoming('INVITE'))
    bench.clock.advance(31_999)
    expect(bench.sent).toEqual(['0 200 INVITE'])
    transaction.respond({ status: 200 })
    bench.receive(incoming('ACK'))
    expect(bench.acks).toHaveLength(1)
    bench.clock.advance(1)
    transaction.respond({ status: 200 })
    expect(bench.sent).toEqual(['0 200 INVITE', '31999 200 INVITE'])
    expect(ends).toEqual(['answered'])
  })

  it('is sent 100 by the stack after 200 ms, once, and none when it was answered by then', () => {
    const bench = open()
    bench.ask(incoming('INVITE'))
    const quick = bench.ask(incoming('INVITE', { branch: 'z9hG4bK2', cseq: 2 }))
    quick.respond({ status: 183 })
    bench.clock.advance(199)
    expect(bench.sent).toEqual(['0 183 INVITE'])
    bench.clock.advance(60_000)
    expect(bench.sent).toEqual(['0 183 INVITE', '200 100 INVITE'])
    // RFC 3261 §8.2.6.2: a 100 makes no dialog.
    expect(headerOf(bench.responses[1] as SipResponse, 'to')).not.toContain('tag=')
  })

  it('is not ended by a network that fails: its client may still repeat it', async () => {
    const bench = open()
    const transaction = bench.ask(incoming('INVITE'))
    bench.fail()
    transaction.respond({ status: 486 })
    await new Promise((resolve) => setImmediate(resolve))
    bench.clock.advance(600)
    expect(bench.sent).toEqual(['0 486 INVITE', '500 486 INVITE'])
  })
})

describe('an INVITE over TCP', () => {
  it('that is refused repeats nothing, waits for its ACK, and is over with it', () => {
    const bench = open('tcp')
    const transaction = bench.ask(incoming('INVITE'))
    transaction.respond({ status: 486 })
    bench.clock.advance(31_000)
    expect([bench.sent, transaction.state]).toEqual([['0 486 INVITE'], 'completed'])
    bench.receive(incoming('ACK'))
    expect(transaction.state).toBe('terminated')
    expect(bench.clock.pending).toBe(0)
  })
})

describe('any other request (RFC 3261 §17.2.2)', () => {
  it('gets its answer again for 64*T1 over UDP, then it is a new request: timer J', () => {
    const bench = open()
    const transaction = bench.ask(incoming('OPTIONS'))
    bench.receive(incoming('OPTIONS'))
    expect(bench.sent).toEqual([])
    transaction.respond({ status: 404 })
    bench.clock.advance(31_999)
    bench.receive(incoming('OPTIONS'))
    expect(bench.sent).toEqual(['0 404 OPTIONS', '31999 404 OPTIONS'])
    bench.clock.advance(1)
    expect(transaction.state).toBe('terminated')
    bench.receive(incoming('OPTIONS'))
    expect(bench.transactions).toHaveLength(2)
  })

  it('gets its provisional response again while there is no other', () => {
    const bench = open()
    const transaction = bench.ask(incoming('OPTIONS'))
    transaction.respond({ status: 183 })
    bench.receive(incoming('OPTIONS'))
    transaction.respond({ status: 200 })
    transaction.respond({ status: 500 })
    transaction.respond({ status: 183 })
    expect(bench.sent).toEqual(['0 183 OPTIONS', '0 183 OPTIONS', '0 200 OPTIONS'])
  })

  it('that its core never answers is forgotten after 64*T1, without a 408 (RFC 4320 §4.2)', () => {
    const bench = open()
    const ends: EndReason[] = []
    const transaction = bench.ask(incoming('OPTIONS'))
    transaction.onEnd((reason) => void ends.push(reason))
    bench.clock.advance(32_000)
    transaction.respond({ status: 200 })
    expect([bench.sent, ends]).toEqual([[], ['timeout']])
    expect(bench.layer.counters.server).toBe(0)
  })

  it('is over when the network takes no answer', async () => {
    const bench = open()
    const ends: EndReason[] = []
    const transaction = bench.ask(incoming('OPTIONS'))
    transaction.onEnd((reason) => void ends.push(reason))
    bench.fail()
    transaction.respond({ status: 200 })
    await new Promise((resolve) => setImmediate(resolve))
    expect(ends).toEqual(['transport-error'])
    expect(bench.clock.pending).toBe(0)
  })
})

describe('the owner of a transaction', () => {
  it('that listens late is called for the CANCEL and the end all the same, each once', () => {
    const bench = open()
    const seen: string[] = []
    const transaction = bench.ask(incoming('INVITE'))
    bench.receive(cancelOf(incoming('INVITE')))
    bench.receive({ ...cancelOf(incoming('INVITE')), headers: incoming('CANCEL').headers })
    transaction.onCancel(({ method }) => void seen.push(method))
    bench.layer.stop()
    transaction.onEnd((reason) => void seen.push(reason))
    bench.layer.stop()
    expect(seen).toEqual(['CANCEL', 'stopped'])
  })

  it('is given no CANCEL once it has given a final response, and the canceller gets its 200 (RFC 3261 §9.2)', () => {
    const bench = open()
    const seen: string[] = []
    const transaction = bench.ask(incoming('INVITE'))
    transaction.onCancel(({ method }) => void seen.push(method))
    transaction.respond({ status: 486 })
    bench.receive(cancelOf(incoming('INVITE')))
    expect([seen, bench.sent]).toEqual([[], ['0 486 INVITE', '0 200 CANCEL']])
    const [refusal, ok] = bench.responses
    expect(headerOf(ok as SipResponse, 'to')).toBe(headerOf(refusal as SipResponse, 'to'))
  })

  it('may send a response of its own making as it stands', () => {
    const bench = open()
    const transaction = bench.ask(incoming('INVITE'))
    transaction.respond({
      kind: 'response',
      status: 181,
      reason: 'Mine',
      headers: [via, { name: 'cseq', value: '1 INVITE' }],
      body: new Uint8Array(0),
    })
    expect(bench.responses[0]?.reason).toBe('Mine')
    expect(headerOf(bench.responses[0] as SipResponse, 'call-id')).toBeUndefined()
  })
})

describe('a message that belongs to no transaction', () => {
  it('an ACK of a 2xx has a branch of its own, and goes to the core', () => {
    const bench = open()
    bench.ask(incoming('INVITE')).respond({ status: 200 })
    bench.receive(incoming('ACK', { branch: 'z9hG4bKack' }))
    expect(bench.acks).toHaveLength(1)
  })

  it('an ACK that is malformed is dropped, for no ACK is answered (RFC 3261 §17)', () => {
    const bench = open()
    const ack = incoming('ACK', { branch: 'z9hG4bKack' })
    bench.receive({ ...ack, headers: ack.headers.filter(({ name }) => name !== 'from') })
    bench.receive({ ...ack, headers: ack.headers.filter(({ name }) => name !== 'via') })
    expect([bench.acks, bench.sent]).toEqual([[], []])
  })

  it('a CANCEL from another host than its INVITE cancels nothing (RFC 3261 §9.2)', () => {
    const bench = open()
    const seen: string[] = []
    bench.ask(incoming('INVITE')).onCancel(({ method }) => void seen.push(method))
    const cancel = cancelOf(incoming('INVITE'))
    const forged = cancel.headers.map((field) =>
      field.name === 'via' ? { name: 'via', value: 'SIP/2.0/UDP 192.0.2.66;branch=z9hG4bK1' } : field,
    )
    bench.receive({ ...cancel, headers: forged }, { address: '192.0.2.66' })
    expect([seen, bench.sent]).toEqual([[], ['0 481 CANCEL']])
  })

  it('is ignored after the stop', () => {
    const bench = open()
    bench.layer.stop()
    bench.receive(incoming('INVITE'))
    expect([bench.transactions, bench.sent]).toEqual([[], []])
  })
})
