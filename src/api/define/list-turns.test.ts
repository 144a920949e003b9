import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { actingFor } from '../../lib/acting-for.ts'
import type { ListAnswer } from '../services.ts'
import { createListTurns } from './list-turns.ts'

/** Lists that are read until the test lets them end. */
function setUp() {
  const turns = createListTurns()
  const reading: { readonly tenant: string; readonly end: (answer: ListAnswer) => void }[] = []
  const ask = (tenant: string): Promise<ListAnswer> =>
    actingFor(tenant, () =>
      turns(() => {
        const { promise, resolve } = Promise.withResolvers<ListAnswer>()
        reading.push({ tenant, end: resolve })
        return promise
      }),
    )
  const tenants = (): string[] => reading.map(({ tenant }) => tenant)
  return { ask, reading, tenants }
}

const text = Buffer.from('[]')

describe('lists', () => {
  it('of one tenant are read two at a time, and keep no other tenant waiting', async () => {
    const { ask, reading, tenants } = setUp()
    const asked = Array.from({ length: 100 }, () => ask('greedy'))
    await setImmediate()
    await setImmediate()
    expect(tenants()).toEqual(['greedy', 'greedy'])
    const other = ask('modest')
    await setImmediate()
    expect(tenants()).toEqual(['greedy', 'greedy', 'modest'])
    reading[2]?.end(text)
    expect(await other).toBe(text)
    for (let at = 0; at < reading.length; at += 1) {
      reading[at]?.end(text)
      await setImmediate()
      await setImmediate()
    }
    expect(await Promise.all(asked)).toHaveLength(100)
  })

  it('let other work in between, although each is read at once', async () => {
    const turns = createListTurns()
    let isBetween = false
    const [first, second, third] = [1, 2, 3].map(() =>
      turns(async () => (isBetween ? text : Buffer.from('early'))),
    )
    await setImmediate()
    isBetween = true
    expect(await Promise.all([first, second])).toEqual([Buffer.from('early'), Buffer.from('early')])
    expect(await third).toBe(text)
  })

  it('that wait are bounded, and a tenant has a share of the places', async () => {
    const { ask } = setUp()
    for (let count = 0; count < 800; count += 1) void ask('greedy')
    await expect(ask('greedy')).rejects.toMatchObject({ code: 'account_share' })
    void ask('modest')
  })

  it('that are long are bounded while they are sent, and free their place when the client is gone', async () => {
    const turns = createListTurns()
    const open = (): Promise<ListAnswer> => actingFor('greedy', () => turns(async () => Readable.from(['['])))
    const sent = await Promise.all(Array.from({ length: 26 }, open))
    await expect(open()).rejects.toMatchObject({ code: 'account_share' })
    for (const list of sent) (list as Readable).destroy()
    await setImmediate()
    await open()
  })

  it('that fail leave their turn to the next', async () => {
    const turns = createListTurns()
    const failing = Array.from({ length: 20 }, () => turns(() => Promise.reject(new Error('no database'))))
    for (const one of failing) await expect(one).rejects.toThrow('no database')
    expect(await turns(async () => text)).toBe(text)
  })
})
