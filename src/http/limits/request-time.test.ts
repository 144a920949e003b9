import { describe, expect, it } from 'vitest'
import { openTestApi } from '../../../test/support/api.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { RequestTime } from './request-time.ts'

function setUp() {
  const clock = createFakeClock()
  const state = { load: 1 }
  const time = new RequestTime({ clock, load: () => state.load })
  const isServed = (tenant: string, bytes: { received: number; sent: number }): boolean => {
    try {
      time.demand(tenant)
    } catch (error) {
      expect(error).toMatchObject({ code: 'account_share' })
      return false
    }
    time.answered(tenant, bytes)
    return true
  }
  const servedOf = (count: number, tenant: string, bytes: { received: number; sent: number }): number =>
    Array.from({ length: count }, () => isServed(tenant, bytes)).filter(Boolean).length
  return { clock, state, time, servedOf }
}

const page = { received: 500, sent: 250_000 }
const small = { received: 500, sent: 2_000 }

describe('the requests of an account', () => {
  it('that read or write much are refused while the main thread is full, those of others are not', () => {
    const { clock, servedOf } = setUp()
    expect(servedOf(100, 'many', page)).toBeLessThan(20)
    clock.advance(1000)
    expect(servedOf(100, 'many', page)).toBeLessThan(10)
    expect(servedOf(100, 'few', small)).toBe(100)
    expect(servedOf(100, 'writes', { received: 100_000, sent: 500 })).toBeLessThan(20)
  })

  it('say when to come back', () => {
    const { time, servedOf } = setUp()
    servedOf(100, 'many', page)
    expect(() => time.demand('many')).toThrow(expect.objectContaining({ retryAfterSeconds: 1 }))
  })

  it('are all served while it keeps up', () => {
    const { state, servedOf } = setUp()
    state.load = 0.5
    expect(servedOf(100, 'many', page)).toBe(100)
  })
})

describe('a client of the API that reads long texts while the main thread is full', () => {
  it('gets 503 with Retry-After and account_share, and one of another account gets what it asks for', async () => {
    const api = await openTestApi({ mainThreadLoad: () => 1 })
    try {
      await api.http.start()
      const { account_sid, accountKey } = api.own
      const hook = { url: 'https://app.example/', method: 'POST' }
      const app_json = JSON.stringify([{ verb: 'tag', data: { text: 'x'.repeat(200_000) } }])
      const fields = { account_sid, call_hook: hook, call_status_hook: hook, app_json }
      for (let count = 0; count < 3; count += 1)
        expect(
          (await api.post('/Applications', api.adminKey, { ...fields, name: `long ${count}` })).status,
        ).toBe(201)
      const { address, port } = api.http.address
      const read = async (key: string): Promise<Response> => {
        const answer = await fetch(`http://${address}:${port}/v1/Applications`, {
          headers: { authorization: `Bearer ${key}` },
        })
        await answer.clone().arrayBuffer()
        return answer
      }
      const statuses: number[] = []
      for (let count = 0; count < 20; count += 1) statuses.push((await read(accountKey)).status)
      expect(statuses[0]).toBe(200)
      expect(statuses.at(-1)).toBe(503)
      const refused = await read(accountKey)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(await refused.json()).toMatchObject({ code: 'account_share' })
      expect((await read(api.sibling.accountKey)).status).toBe(200)
    } finally {
      await api.close()
    }
  })
})
