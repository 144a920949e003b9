import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../lib/fake-clock.ts'
import type { FakeClock } from '../../lib/fake-clock.ts'
import { buildRequest } from '../message/build.ts'
import { headerOf } from '../message/message.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import { inviteClient } from './client-machines.ts'
import { step } from './machine.ts'
import type { EndReason, ServerTransaction, TransactionUser } from './transaction.ts'
import { createVirtualNetwork } from './virtual-network.ts'
import type { VirtualNetwork, VirtualNode } from './virtual-network.ts'

interface Heard {
  readonly statuses: number[]
  readonly responses: SipResponse[]
  failure: string | undefined
}

interface Pair {
  readonly clock: FakeClock
  readonly network: VirtualNetwork
  readonly alice: VirtualNode
  readonly bob: VirtualNode
  readonly requests: ServerTransaction[]
  readonly acks: SipRequest[]
  readonly strays: SipResponse[]
}

function requestOf(method: string, more: { cseq?: number; body?: string } = {}): SipRequest {
  return buildRequest({
    method,
    uri: 'sip:bob@192.0.2.1',
    headers: [
      { name: 'from', value: '<sip:alice@192.0.2.1>;tag=a' },
      { name: 'to', value: '<sip:bob@192.0.2.1>' },
      { name: 'call-id', value: 'call-1' },
      { name: 'cseq', value: `${more.cseq ?? 1} ${method}` },
      { name: 'max-forwards', value: '70' },
    ],
    ...(more.body === undefined ? {} : { body: { type: 'application/sdp', content: more.body } }),
  })
}

function pair(
  onRequest: (transaction: ServerTransaction) => void = () => undefined,
  makeNetwork: (clock: FakeClock) => VirtualNetwork = (clock) => createVirtualNetwork(clock, () => 0.5),
  maxTransactions = 100,
): Pair {
  const clock = createFakeClock()
  const network = makeNetwork(clock)
  const requests: ServerTransaction[] = []
  const acks: SipRequest[] = []
  const strays: SipResponse[] = []
  const user: TransactionUser = {
    request: (transaction) => {
      requests.push(transaction)
      onRequest(transaction)
    },
    ack: (ack) => void acks.push(ack),
    strayResponse: () => undefined,
  }
  const alice = network.join('a', { strayResponse: (response) => void strays.push(response) })
  const bob = network.join('b', user, { maxTransactions })
  return { clock, network, alice, bob, requests, acks, strays }
}

function ask({ alice, bob }: Pair, request: SipRequest): Heard & { cancel(): void; state(): string } {
  const heard: Heard = { statuses: [], responses: [], failure: undefined }
  const transaction = alice.layer.request(request, bob.remote, {
    response: (response) => {
      heard.statuses.push(response.status)
      heard.responses.push(response)
    },
    failed: (reason) => {
      heard.failure = reason
    },
  })
  return Object.assign(heard, { cancel: () => transaction.cancel(), state: () => transaction.state })
}

describe('non-INVITE transactions', () => {
  it('bring the answer, and leave no transaction and no timer behind', () => {
    const both = pair((transaction) => transaction.respond({ status: 200 }))
    const heard = ask(both, requestOf('OPTIONS'))
    both.clock.advance(100)
    expect(heard.statuses).toEqual([200])
    both.clock.advance(32_000)
    expect(both.alice.layer.counters.client + both.bob.layer.counters.server + both.clock.pending).toBe(0)
  })

  it('repeat the request after T1, doubling up to T2, and give up after 64*T1', () => {
    const both = pair()
    const heard = ask(both, requestOf('OPTIONS'))
    const sent = (): number => both.network.trace.filter((line) => line.includes('OPTIONS')).length
    both.clock.advance(499)
    expect(sent()).toBe(1)
    both.clock.advance(1)
    expect(sent()).toBe(2)
    both.clock.advance(31_499)
    // At 0.5, 1.5, 3.5 and then every 4 s.
    expect(sent()).toBe(11)
    expect(heard.failure).toBeUndefined()
    both.clock.advance(1)
    expect(heard.failure).toBe('timeout')
    both.clock.advance(1_000)
    expect(both.requests).toHaveLength(1)
    expect(both.clock.pending).toBe(0)
  })

  it('answer a repeated request with the same response, without asking the core again', () => {
    let answers = 0
    const both = pair(
      (transaction) => {
        answers += 1
        transaction.respond({ status: 404 })
      },
      (clock) => createVirtualNetwork(clock, () => 0.5, { loss: 0, doubling: 1, latencyMs: 1 }),
    )
    const heard = ask(both, requestOf('MESSAGE'))
    both.clock.advance(32_100)
    expect(answers).toBe(1)
    expect(heard.statuses).toEqual([404])
    expect(both.bob.layer.counters.retransmissionsReceived).toBe(1)
  })

  it('end with their answer over TCP, where nothing is repeated: the same branch from then on is a new request', () => {
    const both = pair(
      (transaction) => transaction.respond({ status: 404 }),
      (clock) => createVirtualNetwork(clock, () => 0.5, { loss: 0, doubling: 0, latencyMs: 1 }, 'tcp'),
    )
    ask(both, requestOf('MESSAGE'))
    both.clock.advance(1)
    expect(both.bob.layer.counters.server).toBe(0)
    expect(both.network.trace.filter((line) => line.includes('404'))).toHaveLength(1)
  })
})

describe('INVITE transactions', () => {
  it('send 100 by themselves when there is no answer after 200 ms, and never after another provisional response', () => {
    const both = pair()
    const heard = ask(both, requestOf('INVITE'))
    both.clock.advance(200)
    expect(heard.statuses).toEqual([])
    both.clock.advance(2)
    expect(heard.statuses).toEqual([100])
    const ringing = pair((transaction) => transaction.respond({ status: 180 }))
    const other = ask(ringing, requestOf('INVITE'))
    ringing.clock.advance(1_000)
    expect(other.statuses).toEqual([180])
  })

  it('refuse who has not proved where it is once for each request, and keep nothing', () => {
    const both = pair((transaction) => transaction.respond({ status: 401, isUnproven: true }))
    const heard = ask(both, requestOf('INVITE'))
    both.clock.advance(2)
    expect(heard.statuses).toEqual([401])
    expect(both.bob.layer.counters.server).toBe(0)
    both.clock.advance(31_000)
    expect(both.network.trace.filter((line) => line.includes('401'))).toHaveLength(1)
    expect(both.acks).toHaveLength(1)
  })

  it('refuse again when the refusal was lost, since the client still repeats its INVITE', () => {
    let sent = 0
    const both = pair(
      (transaction) => transaction.respond({ status: 401, isUnproven: true }),
      // The second message, which is the refusal, is lost.
      (clock) =>
        createVirtualNetwork(clock, () => ((sent += 1) === 4 ? 0 : 0.5), {
          loss: 0.1,
          doubling: 0,
          latencyMs: 1,
        }),
    )
    const heard = ask(both, requestOf('INVITE'))
    both.clock.advance(600)
    expect(heard.statuses).toEqual([401])
    expect(both.network.trace.filter((line) => line.includes('401'))).toHaveLength(2)
  })

  it('repeat a refusal when the client no longer repeats its request, whoever it is', () => {
    let late: ServerTransaction | undefined
    const both = pair((transaction) => void (late = transaction))
    const heard = ask(both, requestOf('INVITE'))
    both.clock.advance(300)
    late?.respond({ status: 401, isUnproven: true })
    expect(late?.state).toBe('completed')
    both.clock.advance(10)
    expect(heard.statuses).toEqual([100, 401])
  })

  it('resend a refusal until the ACK, and end', () => {
    const both = pair((transaction) => transaction.respond({ status: 486 }))
    const ends: EndReason[] = []
    const heard = ask(both, requestOf('INVITE'))
    both.clock.advance(2)
    both.requests[0]?.onEnd((reason) => ends.push(reason))
    expect(heard.statuses).toEqual([486])
    both.clock.advance(100)
    expect(both.requests[0]?.state).toBe('confirmed')
    expect(both.acks).toHaveLength(0)
    both.clock.advance(32_000)
    expect(ends).toEqual(['answered'])
    expect(both.clock.pending).toBe(0)
  })

  it('pass every 2xx up, and leave repeating it to the core (RFC 6026)', () => {
    const both = pair((transaction) => transaction.respond({ status: 200 }))
    const heard = ask(both, requestOf('INVITE'))
    both.clock.advance(10)
    both.requests[0]?.respond({ status: 200 })
    both.clock.advance(10)
    expect(heard.statuses).toEqual([200, 200])
    expect(both.requests[0]?.state).toBe('accepted')
    // A refusal after the 200 is too late.
    both.requests[0]?.respond({ status: 500 })
    both.clock.advance(10)
    expect(heard.statuses).toEqual([200, 200])
    const [ok] = heard.responses.slice(-1)
    const ack = { ...requestOf('ACK'), headers: requestOf('ACK').headers }
    both.alice.layer.sendAck(ack, both.bob.remote)
    both.clock.advance(10)
    expect(both.acks.map((received) => received.method)).toEqual(['ACK'])
    expect(ok === undefined ? undefined : headerOf(ok, 'to')).toContain(`tag=${both.requests[0]?.localTag}`)
    both.clock.advance(32_000)
    expect(both.clock.pending).toBe(0)
    // A 200 that comes after timer M is nobody's transaction, but the core hears of it.
    expect(heard.state()).toBe('terminated')
  })

  it('absorb a repeated INVITE once it was accepted', () => {
    const both = pair(
      (transaction) => transaction.respond({ status: 200 }),
      (clock) => createVirtualNetwork(clock, () => 0.5, { loss: 0, doubling: 1, latencyMs: 1 }),
    )
    ask(both, requestOf('INVITE'))
    both.clock.advance(100)
    expect(both.requests).toHaveLength(1)
    expect(both.network.trace.filter((line) => line.includes('200'))).toHaveLength(1)
  })

  it('are cancelled once a provisional response came, and end with 487', () => {
    const both = pair((transaction) => {
      transaction.onCancel(() => transaction.respond({ status: 487 }))
    })
    const heard = ask(both, requestOf('INVITE'))
    heard.cancel()
    heard.cancel()
    expect(both.network.trace.filter((line) => line.includes('CANCEL'))).toHaveLength(0)
    both.clock.advance(300)
    expect(heard.statuses).toEqual([100, 487])
    expect(both.network.trace.filter((line) => line.includes('CANCEL'))).toHaveLength(1)
    both.clock.advance(32_100)
    expect(both.clock.pending).toBe(0)
  })

  it('are given up 64*T1 after a CANCEL that brought no final response', () => {
    const both = pair()
    const heard = ask(both, requestOf('INVITE'))
    both.clock.advance(300)
    heard.cancel()
    both.clock.advance(31_999)
    expect(heard.failure).toBeUndefined()
    both.clock.advance(1)
    expect(heard.failure).toBe('timeout')
  })

  it('ring for an hour after one 180: their owner says how long they may', () => {
    const both = pair((transaction) => transaction.respond({ status: 180 }))
    const heard = ask(both, requestOf('INVITE'))
    both.clock.advance(3_599_000)
    expect(heard.failure).toBeUndefined()
    expect(both.requests.map(({ request }) => request.method)).toEqual(['INVITE'])
  })

  it('are given timer C again by each provisional response above 100', () => {
    expect(step(inviteClient, 'proceeding', '1xx')?.actions).toContain('startTimerC')
    expect(step(inviteClient, 'proceeding', '100')?.actions).not.toContain('startTimerC')
  })

  it('end with 408 when their core forgets them', () => {
    const both = pair()
    const heard = ask(both, requestOf('INVITE'))
    both.clock.advance(3_600_002)
    expect(both.requests[0]?.state).not.toBe('proceeding')
    expect(heard.statuses.at(-1)).toBe(408)
    both.clock.advance(64_000)
    expect(both.clock.pending).toBe(0)
  })

  it('report a refusal that was never acknowledged', () => {
    const both = pair(
      (transaction) => transaction.respond({ status: 603 }),
      (clock) => {
        let isFirst = true
        // Only the INVITE arrives.
        return createVirtualNetwork(
          clock,
          () => {
            const value = isFirst ? 0.5 : 0
            isFirst = clock.monotonic() === 0 && isFirst
            return clock.monotonic() === 0 ? 0.5 : value
          },
          { loss: 0.1, doubling: 0, latencyMs: 1 },
        )
      },
    )
    const ends: EndReason[] = []
    ask(both, requestOf('INVITE'))
    both.clock.advance(2)
    both.requests[0]?.onEnd((reason) => ends.push(reason))
    both.clock.advance(40_000)
    expect(ends).toEqual(['timeout'])
    // 0.5, 1.5, 3.5, 7.5 and then every 4 s, like every final response over UDP.
    expect(both.network.trace.filter((line) => line.includes('603'))).toHaveLength(11)
  })
})

describe('the layer', () => {
  it('answers a CANCEL without its INVITE 481', () => {
    const both = pair()
    const heard = ask(both, requestOf('CANCEL'))
    both.clock.advance(100)
    expect(heard.statuses).toEqual([481])
  })

  it('answers a request that came twice by different ways 482 (RFC 3261 §8.2.2.2)', () => {
    const both = pair()
    ask(both, requestOf('OPTIONS'))
    const merged = ask(both, requestOf('OPTIONS'))
    both.clock.advance(100)
    expect(merged.statuses).toEqual([482])
    expect(both.requests).toHaveLength(1)
  })

  it('answers 503 with Retry-After over its bound, keeping no state, and lets BYE through', () => {
    const both = pair(() => undefined, undefined, 10)
    for (let cseq = 1; cseq <= 10; cseq += 1) ask(both, requestOf('OPTIONS', { cseq }))
    both.clock.advance(10)
    const refused = ask(both, requestOf('OPTIONS', { cseq: 11 }))
    ask(both, requestOf('BYE', { cseq: 12 }))
    both.clock.advance(10)
    expect(refused.statuses).toEqual([503])
    const [response] = refused.responses
    expect(response === undefined ? undefined : headerOf(response, 'retry-after')).toBe('5')
    expect(both.requests.at(-1)?.request.method).toBe('BYE')
    expect(both.bob.layer.counters).toMatchObject({ server: 11, refused: 1 })
  })

  it('refuses twice alike: the same tag for a repeated request', () => {
    const both = pair(undefined, (clock) =>
      createVirtualNetwork(clock, () => 0.5, { loss: 0, doubling: 1, latencyMs: 1 }),
    )
    const tags = new Set<string | undefined>()
    both.alice.layer.request(requestOf('NOSUCH'), both.bob.remote, {
      response: (response) => tags.add(headerOf(response, 'to')),
      failed: () => undefined,
    })
    both.clock.advance(100)
    expect(both.network.trace.filter((line) => line.includes('501'))).toHaveLength(2)
    expect(tags.size).toBe(1)
  })

  it('keeps nothing of a request whose sender has proved nothing, and answers it alike when it is repeated', () => {
    const both = pair(
      (transaction) => transaction.respond({ status: 401, isUnproven: true }),
      (clock) => createVirtualNetwork(clock, () => 0.5, { loss: 0, doubling: 1, latencyMs: 1 }),
    )
    const tags = new Set<string | undefined>()
    both.alice.layer.request(requestOf('MESSAGE'), both.bob.remote, {
      response: (response) => tags.add(headerOf(response, 'to')),
      failed: () => undefined,
    })
    both.clock.advance(100)
    expect(both.network.trace.filter((line) => line.includes('401'))).toHaveLength(2)
    expect(tags.size).toBe(1)
    expect(both.bob.layer.counters.server).toBe(0)
  })

  it('asks its core first what needs no transaction, however full it is', () => {
    const clock = createFakeClock()
    const network = createVirtualNetwork(clock, () => 0.5)
    const alice = network.join('a', {})
    const bob = network.join(
      'b',
      {},
      {
        maxTransactions: 0,
        user: {
          immediate: ({ method }) => (method === 'OPTIONS' ? { status: 200 } : undefined),
          request: () => undefined,
          ack: () => undefined,
          strayResponse: () => undefined,
        },
      },
    )
    const statuses: number[] = []
    for (const method of ['OPTIONS', 'MESSAGE'])
      alice.layer.request(requestOf(method), bob.remote, {
        response: ({ status }) => void statuses.push(status),
        failed: () => undefined,
      })
    clock.advance(10)
    expect(statuses).toEqual([200, 503])
    expect(bob.layer.counters.server).toBe(0)
  })

  it.each([
    ['a stranger', false, 1 / 17],
    ['a proven source', true, 3 / 4],
  ])('gives %s no more than its share, weighed by size', (_who, isProven, share) => {
    const clock = createFakeClock()
    const network = createVirtualNetwork(clock, () => 0.5)
    const alice = network.join('a', {})
    const sources = { isProven: () => isProven, prove: () => undefined }
    const bob = network.join('b', {}, { maxTransactions: 340, sources })
    const statuses: number[] = []
    const body = 'x'.repeat(9_000)
    for (let cseq = 1; cseq <= 300; cseq += 1)
      alice.layer.request(
        requestOf('MESSAGE', { cseq, body }),
        { ...bob.remote, transport: 'tcp' },
        { response: ({ status }) => void statuses.push(status), failed: () => undefined },
      )
    clock.advance(10)
    // Each weighs three units.
    expect(bob.layer.counters.server).toBe(Math.floor((340 * share) / 3))
    expect(statuses).toHaveLength(300 - bob.layer.counters.server)
  })

  it('answers 500 for a core that throws, and goes on', () => {
    let count = 0
    const both = pair((transaction) => {
      count += 1
      if (count === 1) throw new Error('a fault')
      transaction.respond({ status: 200 })
    })
    const first = ask(both, requestOf('OPTIONS'))
    const second = ask(both, requestOf('OPTIONS', { cseq: 2 }))
    both.clock.advance(10)
    expect([first.statuses, second.statuses]).toEqual([[500], [200]])
  })

  it('tells the core of a response without a transaction', () => {
    const both = pair((transaction) => transaction.respond({ status: 200 }))
    const heard = ask(both, requestOf('INVITE'))
    both.clock.advance(10)
    const late = heard.responses.at(-1)
    both.clock.advance(32_000)
    if (late !== undefined) both.alice.layer.receive(late, new Uint8Array(0), both.bob.remote)
    expect(both.strays.map(({ status }) => status)).toEqual([200])
  })

  it('ends everything at once when it stops', () => {
    const both = pair()
    const heard = ask(both, requestOf('INVITE'))
    both.clock.advance(10)
    const ends: EndReason[] = []
    both.requests[0]?.onEnd((reason) => ends.push(reason))
    both.alice.layer.stop()
    both.bob.layer.stop()
    expect(heard.failure).toBe('stopped')
    expect(ends).toEqual(['stopped'])
    expect(both.clock.pending).toBe(0)
  })

  it('sends a request over 1300 bytes by TCP, and by UDP after all where TCP is refused (RFC 3261 §18.1.1)', async () => {
    const sent: string[] = []
    const clock = createFakeClock()
    const network = createVirtualNetwork(clock, () => 0.5)
    const node = network.join(
      'a',
      {},
      {
        transport: {
          send: (bytes, remote) => {
            sent.push(`${remote.transport} ${/^Via: (\S+)/m.exec(Buffer.from(bytes).toString())?.[1]}`)
            return remote.transport === 'tcp' ? Promise.reject(new Error('refused')) : Promise.resolve()
          },
        },
      },
    )
    const remote = { transport: 'udp', address: '192.0.2.9', port: 5060 } as const
    const handlers = { response: () => undefined, failed: () => undefined }
    node.layer.request(requestOf('INVITE', { body: 'x'.repeat(1_300) }), remote, handlers)
    await Promise.resolve()
    await new Promise((resolve) => setImmediate(resolve))
    expect(sent).toEqual(['tcp SIP/2.0/TCP', 'udp SIP/2.0/UDP'])
    clock.advance(500)
    expect(sent.at(-1)).toBe('udp SIP/2.0/UDP')
    // Nobody waits for that again, until the place may have changed.
    const again = (): void => {
      sent.length = 0
      node.layer.request(requestOf('INVITE', { body: 'x'.repeat(1_300) }), remote, handlers)
    }
    again()
    expect(sent).toEqual(['udp SIP/2.0/UDP'])
    clock.advance(600_000)
    again()
    expect(sent).toEqual(['tcp SIP/2.0/TCP'])
    node.layer.stop()
  })

  it('sends a request that keeps its transport by UDP at once, however large it is', () => {
    const sent: string[] = []
    const node = createVirtualNetwork(createFakeClock(), () => 0.5).join(
      'a',
      {},
      { transport: { send: async (_bytes, remote) => void sent.push(remote.transport) } },
    )
    const remote = { transport: 'udp', address: '192.0.2.9', port: 5060 } as const
    const handlers = { response: () => undefined, failed: () => undefined }
    const large = requestOf('INVITE', { body: 'x'.repeat(1_300) })
    node.layer.request(large, remote, handlers, { keepsTransport: true })
    expect(sent).toEqual(['udp'])
    node.layer.stop()
  })

  it('does not repeat over TCP', () => {
    const both = pair(undefined, (clock) =>
      createVirtualNetwork(clock, () => 0.5, { loss: 0, doubling: 0, latencyMs: 1 }, 'tcp'),
    )
    const heard = ask(both, requestOf('OPTIONS'))
    both.clock.advance(31_999)
    expect(both.network.trace).toHaveLength(1)
    both.clock.advance(1)
    expect(heard.failure).toBe('timeout')
  })
})

/** A core that waits for CANCEL, refuses or accepts, by the number of the request. */
function answerByNumber(transaction: ServerTransaction, clock: FakeClock): void {
  const cseq = Number(headerOf(transaction.request, 'cseq')?.split(' ')[0])
  if (cseq % 3 === 0) return transaction.onCancel(() => transaction.respond({ status: 487 }))
  if (transaction.request.method !== 'INVITE') return transaction.respond({ status: 200 })
  if (cseq % 3 === 1) return transaction.respond({ status: 486 })
  // The core repeats its 2xx (RFC 3261 §13.3.1.4); without ACKs here, until the transaction ends.
  const accept = (): void => {
    transaction.respond({ status: 200 })
    if (transaction.state === 'accepted') clock.after(4_000, accept)
  }
  return accept()
}

describe('under 10% loss, duplicates and reordering', () => {
  const seeds = Array.from({ length: 12 }, (_, index) => index + 1)

  it.each(seeds)('every transaction ends rightly and leaves nothing behind (seed %i)', (seed) => {
    let state = seed
    const random = (): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
      return (state >>> 8) / 0x800000
    }
    const faults = { loss: 0.1, doubling: 0.1, latencyMs: 300 }
    const both: Pair = pair(
      (transaction) => answerByNumber(transaction, both.clock),
      (clock) => createVirtualNetwork(clock, random, faults),
    )
    const asked = Array.from({ length: 60 }, (_, index) => {
      const cseq = index + 1
      // Every third is cancelled; among the others INVITE and OPTIONS take turns.
      const method = cseq % 3 === 0 || cseq % 2 === 0 ? 'INVITE' : 'OPTIONS'
      const heard = ask(both, requestOf(method, { cseq }))
      if (cseq % 3 === 0) heard.cancel()
      return { cseq, method, heard }
    })
    both.clock.advance(140_000)
    for (const { cseq, method, heard } of asked) {
      const expected = cseq % 3 === 0 ? 487 : method === 'INVITE' && cseq % 3 === 1 ? 486 : 200
      expect([cseq, heard.statuses.findLast((status) => status >= 200)]).toEqual([cseq, expected])
      expect(heard.failure).toBeUndefined()
    }
    expect(new Set(both.requests.map((transaction) => transaction.state))).toEqual(new Set(['terminated']))
    expect(both.requests).toHaveLength(60)
    expect(both.alice.layer.counters.client).toBe(0)
    expect(both.bob.layer.counters.server).toBe(0)
    expect(both.clock.pending).toBe(0)
  })
})
