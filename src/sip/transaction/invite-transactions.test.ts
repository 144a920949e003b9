import { describe, expect, it } from 'vitest'
import { startOf } from '../../../test/support/fake-network.ts'
import { ask, createPair, requestOf } from '../../../test/support/transactions.ts'
import { headerOf } from '../message/message.ts'
import { inviteClient } from './client-machines.ts'
import { step } from './machine.ts'
import type { EndReason, ServerTransaction } from './transaction.ts'

describe('INVITE transactions', () => {
  it('send 100 by themselves when there is no answer after 200 ms, and never after another provisional response', () => {
    const both = createPair()
    const heard = ask(both, requestOf('INVITE'))
    both.clock.advance(200)
    expect(heard.statuses).toEqual([])
    both.clock.advance(2)
    expect(heard.statuses).toEqual([100])
    const ringing = createPair({ onRequest: (transaction) => transaction.respond({ status: 180 }) })
    const other = ask(ringing, requestOf('INVITE'))
    ringing.clock.advance(1_000)
    expect(other.statuses).toEqual([180])
  })

  it('refuse a sender that has not proved its address once for each request, and keep no state', () => {
    const both = createPair({
      onRequest: (transaction) => transaction.respond({ status: 401, isUnproven: true }),
    })
    const heard = ask(both, requestOf('INVITE'))
    both.clock.advance(2)
    expect(heard.statuses).toEqual([401])
    expect(both.bob.layer.counters.server).toBe(0)
    both.clock.advance(31_000)
    expect(both.network.sent.filter((line) => line.includes('401'))).toHaveLength(1)
    expect(both.acks).toHaveLength(1)
  })

  it('refuse again when the refusal was lost, since the client still repeats its INVITE', () => {
    const both = createPair({
      onRequest: (transaction) => transaction.respond({ status: 401, isUnproven: true }),
    })
    let lost = 0
    both.network.drops = (message) => startOf(message) === '401' && lost++ === 0
    const heard = ask(both, requestOf('INVITE'))
    both.clock.advance(600)
    expect(heard.statuses).toEqual([401])
    expect(both.network.sent.filter((line) => line.includes('401'))).toHaveLength(2)
  })

  it('repeat a refusal when the client no longer repeats its request', () => {
    let late: ServerTransaction | undefined
    const both = createPair({ onRequest: (transaction) => void (late = transaction) })
    const heard = ask(both, requestOf('INVITE'))
    both.clock.advance(300)
    late?.respond({ status: 401, isUnproven: true })
    expect(late?.state).toBe('completed')
    both.clock.advance(10)
    expect(heard.statuses).toEqual([100, 401])
  })

  it('resend a refusal until the ACK, and end', () => {
    const both = createPair({ onRequest: (transaction) => transaction.respond({ status: 486 }) })
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
    const both = createPair({ onRequest: (transaction) => transaction.respond({ status: 200 }) })
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
    // A 200 after timer M belongs to no transaction, and goes to the core.
    expect(heard.state()).toBe('terminated')
  })

  it('absorb a repeated INVITE once it was accepted', () => {
    const both = createPair({
      onRequest: (transaction) => transaction.respond({ status: 200 }),
      duplicatePercent: 100,
    })
    ask(both, requestOf('INVITE'))
    both.clock.advance(100)
    expect(both.requests).toHaveLength(1)
    expect(both.network.sent.filter((line) => line.includes('200'))).toHaveLength(1)
  })

  it('are cancelled once a provisional response came, and end with 487', () => {
    const both = createPair({
      onRequest: (transaction) => {
        transaction.onCancel(() => transaction.respond({ status: 487 }))
      },
    })
    const heard = ask(both, requestOf('INVITE'))
    heard.cancel()
    heard.cancel()
    expect(both.network.sent.filter((line) => line.includes('CANCEL'))).toHaveLength(0)
    both.clock.advance(300)
    expect(heard.statuses).toEqual([100, 487])
    expect(both.network.sent.filter((line) => line.includes('CANCEL'))).toHaveLength(1)
    both.clock.advance(32_100)
    expect(both.clock.pending).toBe(0)
  })

  it('are given up 64*T1 after a CANCEL that brought no final response', () => {
    const both = createPair()
    const heard = ask(both, requestOf('INVITE'))
    both.clock.advance(300)
    heard.cancel()
    both.clock.advance(31_999)
    expect(heard.failure).toBeUndefined()
    both.clock.advance(1)
    expect(heard.failure).toBe('timeout')
  })

  it('ring for an hour after one 180: their owner says how long they may', () => {
    const both = createPair({ onRequest: (transaction) => transaction.respond({ status: 180 }) })
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
    const both = createPair()
    const heard = ask(both, requestOf('INVITE'))
    both.clock.advance(3_600_002)
    expect(both.requests[0]?.state).not.toBe('proceeding')
    expect(heard.statuses.at(-1)).toBe(408)
    both.clock.advance(64_000)
    expect(both.clock.pending).toBe(0)
  })

  it('report a refusal that was never acknowledged', () => {
    const both = createPair({ onRequest: (transaction) => transaction.respond({ status: 603 }) })
    // Only the first INVITE arrives.
    both.network.drops = () => both.clock.monotonic() > 0
    const ends: EndReason[] = []
    ask(both, requestOf('INVITE'))
    both.clock.advance(2)
    both.requests[0]?.onEnd((reason) => ends.push(reason))
    both.clock.advance(40_000)
    expect(ends).toEqual(['timeout'])
    // 0.5, 1.5, 3.5, 7.5 and then every 4 s, like every final response over UDP.
    expect(both.network.sent.filter((line) => line.includes('603'))).toHaveLength(11)
  })
})
