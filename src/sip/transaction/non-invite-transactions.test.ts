import { describe, expect, it } from 'vitest'
import { ask, createPair, requestOf } from '../../../test/support/transactions.ts'

describe('non-INVITE transactions', () => {
  it('bring the answer, and leave no transaction and no timer behind', () => {
    const both = createPair({ onRequest: (transaction) => transaction.respond({ status: 200 }) })
    const heard = ask(both, requestOf('OPTIONS'))
    both.clock.advance(100)
    expect(heard.statuses).toEqual([200])
    both.clock.advance(32_000)
    expect(both.alice.layer.counters.client + both.bob.layer.counters.server + both.clock.pending).toBe(0)
  })

  it('repeat the request after T1, doubling up to T2, and give up after 64*T1', () => {
    const both = createPair()
    const heard = ask(both, requestOf('OPTIONS'))
    const sent = (): number => both.network.sent.filter((line) => line.includes('OPTIONS')).length
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
    const both = createPair({
      onRequest: (transaction) => {
        answers += 1
        transaction.respond({ status: 404 })
      },
      duplicatePercent: 100,
    })
    const heard = ask(both, requestOf('MESSAGE'))
    both.clock.advance(32_100)
    expect(answers).toBe(1)
    expect(heard.statuses).toEqual([404])
    expect(both.bob.layer.counters.retransmissionsReceived).toBe(1)
  })

  it('end with their answer over TCP, where nothing is repeated: the same branch from then on is a new request', () => {
    const both = createPair({ onRequest: (transaction) => transaction.respond({ status: 404 }), by: 'tcp' })
    ask(both, requestOf('MESSAGE'))
    both.clock.advance(1)
    expect(both.bob.layer.counters.server).toBe(0)
    expect(both.network.sent.filter((line) => line.includes('404'))).toHaveLength(1)
  })
})
