import { describe, expect, it } from 'vitest'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import { createFakeNetwork } from '../../../test/support/fake-network.ts'
import { ask, createLayerNode, createPair, requestOf } from '../../../test/support/transactions.ts'
import { headerOf } from '../message/message.ts'
import type { EndReason, ServerTransaction } from './transaction.ts'

describe('the layer', () => {
  it('answers a CANCEL without its INVITE 481', () => {
    const both = createPair()
    const heard = ask(both, requestOf('CANCEL'))
    both.clock.advance(100)
    expect(heard.statuses).toEqual([481])
  })

  it('answers a request that came twice by different ways 482 (RFC 3261 §8.2.2.2)', () => {
    const both = createPair()
    ask(both, requestOf('OPTIONS'))
    const merged = ask(both, requestOf('OPTIONS'))
    both.clock.advance(100)
    expect(merged.statuses).toEqual([482])
    expect(both.requests).toHaveLength(1)
  })

  it('answers 503 with Retry-After over its bound, keeping no state, and lets BYE through', () => {
    const both = createPair({ bob: { maxTransactions: 10 } })
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
    const both = createPair({ duplicatePercent: 100 })
    const tags = new Set<string | undefined>()
    both.alice.layer.request(requestOf('NOSUCH'), both.bob.remote, {
      response: (response) => tags.add(headerOf(response, 'to')),
      failed: () => undefined,
    })
    both.clock.advance(100)
    expect(both.network.sent.filter((line) => line.includes('501'))).toHaveLength(2)
    expect(tags.size).toBe(1)
  })

  it('keeps no state for a request of an unproven sender, and sends the same response to its repetition', () => {
    const both = createPair({
      onRequest: (transaction) => transaction.respond({ status: 401, isUnproven: true }),
      duplicatePercent: 100,
    })
    const tags = new Set<string | undefined>()
    both.alice.layer.request(requestOf('MESSAGE'), both.bob.remote, {
      response: (response) => tags.add(headerOf(response, 'to')),
      failed: () => undefined,
    })
    both.clock.advance(100)
    expect(both.network.sent.filter((line) => line.includes('401'))).toHaveLength(2)
    expect(tags.size).toBe(1)
    expect(both.bob.layer.counters.server).toBe(0)
  })

  it('calls its core first for responses without a transaction, however full it is', () => {
    const { clock, alice, bob } = createPair({
      bob: {
        maxTransactions: 0,
        user: { immediate: ({ method }) => (method === 'OPTIONS' ? { status: 200 } : undefined) },
      },
    })
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
    const sources = { isProven: () => isProven, prove: () => undefined }
    const { clock, alice, bob } = createPair({ bob: { maxTransactions: 340, sources } })
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
    const both = createPair({
      onRequest: (transaction) => {
        count += 1
        if (count === 1) throw new Error('a fault')
        transaction.respond({ status: 200 })
      },
    })
    const first = ask(both, requestOf('OPTIONS'))
    const second = ask(both, requestOf('OPTIONS', { cseq: 2 }))
    both.clock.advance(10)
    expect([first.statuses, second.statuses]).toEqual([[500], [200]])
  })

  it('hands a response without a transaction to the core', () => {
    const both = createPair({ onRequest: (transaction) => transaction.respond({ status: 200 }) })
    const heard = ask(both, requestOf('INVITE'))
    both.clock.advance(10)
    const late = heard.responses.at(-1)
    both.clock.advance(32_000)
    if (late !== undefined) both.alice.layer.receive(late, new Uint8Array(0), both.bob.remote)
    expect(both.strays.map(({ status }) => status)).toEqual([200])
  })

  it('ends everything at once when it stops', () => {
    const both = createPair()
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
    const node = createLayerNode({
      clock,
      network: createFakeNetwork({ clock }),
      address: '192.0.2.1',
      transport: {
        send: (bytes, remote) => {
          sent.push(`${remote.transport} ${/^Via: (\S+)/m.exec(Buffer.from(bytes).toString())?.[1]}`)
          return remote.transport === 'tcp' ? Promise.reject(new Error('refused')) : Promise.resolve()
        },
      },
    })
    const remote = { transport: 'udp', address: '192.0.2.9', port: 5060 } as const
    const handlers = { response: () => undefined, failed: () => undefined }
    node.layer.request(requestOf('INVITE', { body: 'x'.repeat(1_300) }), remote, handlers)
    await Promise.resolve()
    await new Promise((resolve) => setImmediate(resolve))
    expect(sent).toEqual(['tcp SIP/2.0/TCP', 'udp SIP/2.0/UDP'])
    clock.advance(500)
    expect(sent.at(-1)).toBe('udp SIP/2.0/UDP')
    // No later caller waits for that, until the place may have changed.
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

  it('sends a large INVITE by UDP in time for a gateway that gets two seconds, where TCP does not answer', async () => {
    const sent: string[] = []
    const clock = createFakeClock()
    const node = createLayerNode({
      clock,
      network: createFakeNetwork({ clock }),
      address: '192.0.2.1',
      transport: {
        send(_bytes, { transport }, _alternative, connectMs = 4_000) {
          sent.push(transport)
          if (transport === 'udp') return Promise.resolve()
          const { promise, reject } = Promise.withResolvers<undefined>()
          clock.after(connectMs, () => reject(new Error('timeout')))
          return promise
        },
      },
    })
    const remote = { transport: 'udp', address: '192.0.2.9', port: 5060 } as const
    const failed: string[] = []
    const handlers = { response: () => undefined, failed: (reason: string) => void failed.push(reason) }
    node.layer.request(requestOf('INVITE', { body: 'x'.repeat(1_300) }), remote, handlers)
    clock.advance(1_200)
    await new Promise((resolve) => setImmediate(resolve))
    expect([sent, failed]).toEqual([['tcp', 'udp'], []])
    node.layer.request(
      requestOf('INVITE', { body: 'x'.repeat(1_300) }),
      { ...remote, transport: 'tcp' },
      handlers,
    )
    clock.advance(3_999)
    expect(failed).toEqual([])
    node.layer.stop()
  })

  it('sends a large INVITE by UDP no more that was cancelled before TCP was found to be refused', async () => {
    const sent: string[] = []
    const clock = createFakeClock()
    const connecting = Promise.withResolvers<void>()
    const node = createLayerNode({
      clock,
      network: createFakeNetwork({ clock }),
      address: '192.0.2.1',
      transport: {
        send(_bytes, remote) {
          sent.push(remote.transport)
          return connecting.promise
        },
      },
    })
    const remote = { transport: 'udp', address: '192.0.2.9', port: 5060 } as const
    const failed: string[] = []
    const handlers = { response: () => undefined, failed: (reason: string) => void failed.push(reason) }
    node.layer.request(requestOf('INVITE', { body: 'x'.repeat(1_300) }), remote, handlers).cancel()
    connecting.reject(new Error('refused'))
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(32_000)
    expect([sent, failed]).toEqual([['tcp'], ['transport-error']])
    expect(clock.pending).toBe(0)
  })

  it('sends a request that keeps its transport by UDP at once, however large it is', () => {
    const sent: string[] = []
    const clock = createFakeClock()
    const node = createLayerNode({
      clock,
      network: createFakeNetwork({ clock }),
      address: '192.0.2.1',
      transport: { send: async (_bytes, remote) => void sent.push(remote.transport) },
    })
    const remote = { transport: 'udp', address: '192.0.2.9', port: 5060 } as const
    const handlers = { response: () => undefined, failed: () => undefined }
    const large = requestOf('INVITE', { body: 'x'.repeat(1_300) })
    node.layer.request(large, remote, handlers, { keepsTransport: true })
    expect(sent).toEqual(['udp'])
    node.layer.stop()
  })

  it('does not repeat over TCP', () => {
    const both = createPair({ by: 'tcp' })
    const heard = ask(both, requestOf('OPTIONS'))
    both.clock.advance(31_999)
    expect(both.network.sent).toHaveLength(1)
    both.clock.advance(1)
    expect(heard.failure).toBe('timeout')
  })
})

/** A core that waits for CANCEL, refuses or accepts, depending on the number of the request. */
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
    const both = createPair({
      onRequest: answerByNumber,
      lossPercent: 10,
      duplicatePercent: 10,
      maxDelayMs: 300,
      seed,
    })
    const asked = Array.from({ length: 60 }, (_, index) => {
      const cseq = index + 1
      // Every third request is cancelled; the others are INVITE and OPTIONS in turn.
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
