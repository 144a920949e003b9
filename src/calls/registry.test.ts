import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { MemoryCallStore } from '../../test/support/scripted-engine/memory-call-store.ts'
import { JournalWriter } from './journal/journal-writer.ts'
import type { StartedFact } from './journal/journal.ts'
import type { Leg } from './leg/leg.ts'
import { CallRegistry } from './registry.ts'

const hourMs = 3_600_000

function open() {
  const clock = createFakeClock()
  const forgotten: string[] = []
  const registry = new CallRegistry(clock, ({ facts }) => void forgotten.push(facts.started.call_sid))
  let count = 0
  const add = (facts: Partial<StartedFact> = {}): Leg => {
    const call_sid = `c${++count}`
    const started = {
      type: 'started',
      call_sid,
      account_sid: 'a',
      service_provider_sid: 'p',
      direction: 'inbound',
      ...facts,
    } as StartedFact
    const journal = new JournalWriter(started, { store: new MemoryCallStore(), clock, hidesDigits: false })
    const leg = { journal, call_sid } as unknown as Leg
    registry.add(leg)
    return leg
  }
  return { clock, registry, add, forgotten }
}

const outbound = { direction: 'outbound' } as const
const sids = (calls: readonly { readonly call_sid: string }[]): string[] =>
  calls.map(({ call_sid }) => call_sid)

describe('the calls of a node', () => {
  it('are listed by account and by provider, the oldest first', () => {
    const { registry, add } = open()
    add()
    add({ account_sid: 'b' })
    add({ account_sid: 'c', service_provider_sid: 'q' })
    add()
    expect(sids(registry.list('a'))).toEqual(['c1', 'c4'])
    expect(sids(registry.listOfProvider('p'))).toEqual(['c1', 'c2', 'c4'])
    expect(sids(registry.listOfProvider('q'))).toEqual(['c3'])
    expect([registry.list('none'), registry.listOfProvider('none')]).toEqual([[], []])
    expect(registry.liveCount).toBe(4)
  })

  it('are counted by direction', () => {
    const { registry, add } = open()
    add()
    add(outbound)
    add(outbound)
    add({ account_sid: 'b' })
    expect(registry.count('a')).toEqual({ inbound: 1, outbound: 2 })
    expect(registry.count('none')).toEqual({ inbound: 0, outbound: 0 })
  })

  it('leave the count and the list with their end, once', () => {
    const { registry, add } = open()
    const [first, second] = [add(), add()]
    registry.ended(first)
    registry.ended(first)
    expect(sids(registry.list('a'))).toEqual(['c2'])
    registry.ended(second)
    expect([registry.liveCount, registry.live]).toEqual([0, []])
    expect(registry.count('a')).toEqual({ inbound: 0, outbound: 0 })
  })
})

describe('the calls before one', () => {
  it('are those that began earlier: of its direction for a limit, of both for a share', () => {
    const { registry, add } = open()
    add()
    add(outbound)
    add({ account_sid: 'b' })
    add({ account_sid: 'c', service_provider_sid: 'q' })
    const call = add()
    add()
    expect(registry.before(call)).toEqual({ account: 1, service_provider: 2, held: 2, all: 4 })
  })

  it('are none for the first', () => {
    const { registry, add } = open()
    const call = add()
    add()
    expect(registry.before(call)).toEqual({ account: 0, service_provider: 0, held: 0, all: 0 })
  })
})

describe('a call that has ended', () => {
  it('is found for an hour by its account, without its journal, which storage has', () => {
    const { registry, add, clock, forgotten } = open()
    registry.ended(add())
    clock.advance(hourMs - 1)
    expect(registry.find('a', 'c1')).toMatchObject({ call_sid: 'c1' })
    expect(registry.find('b', 'c1')).toBeUndefined()
    expect(registry.journal('a', 'c1')).toBeUndefined()
    expect(registry.liveLeg('a', 'c1')).toBeUndefined()
    clock.advance(1)
    expect(registry.find('a', 'c1')).toBeUndefined()
    expect(forgotten).toEqual(['c1'])
  })

  it('is forgotten earlier where there are more than five hundred, the oldest first', () => {
    const { registry, add, forgotten } = open()
    for (let count = 0; count < 502; count += 1) registry.ended(add())
    expect(forgotten).toEqual(['c1', 'c2'])
    expect(registry.find('a', 'c3')).toBeDefined()
  })

  it('does not take the place of a live one', () => {
    const { registry, add } = open()
    const live = add()
    registry.ended(add())
    expect(registry.find('a', 'c1')).toMatchObject({ call_status: 'trying' })
    expect(registry.liveLeg('a', 'c1')).toBe(live)
    expect(registry.liveLeg('b', 'c1')).toBeUndefined()
    expect(registry.journal('a', 'c1')).toHaveLength(1)
  })
})
