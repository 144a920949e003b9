import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import type { Caller, RequestQuota } from '../../contracts/caller.ts'
import { systemClock } from '../../lib/clock.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { silentLogger } from '../../lib/log.ts'
import { createRateLimits, type RateLimitRules } from './rate-limits.ts'
import { createHttp } from '../create-http.ts'
import type { HttpServer } from '../http.ts'

const callerOf = (api_key_sid: string, quotas?: readonly RequestQuota[]): Caller => ({
  tenancy: { level: 'admin' },
  principal: { kind: 'api_key', api_key_sid },
  isViewOnly: false,
  ...(quotas === undefined ? {} : { quotas }),
})
const user: Caller = {
  ...callerOf(''),
  principal: { kind: 'user', user_sid: 'u', name: 'n', session_sid: 's' },
}

describe('a quota', () => {
  it('is there at once after a rest, comes back steadily, and never grows beyond itself', () => {
    const clock = createFakeClock()
    const limits = createRateLimits({ perKey: 60, perAddress: 0, clock })
    const take = (): boolean => limits.ofCaller(callerOf('a'))?.isAllowed ?? false
    clock.advance(3_600_000)
    expect(Array.from({ length: 61 }, take).filter(Boolean)).toHaveLength(60)
    clock.advance(999)
    expect(take()).toBe(false)
    clock.advance(1)
    expect([take(), take()]).toEqual([true, false])
    clock.advance(10_000)
    expect(Array.from({ length: 20 }, take).filter(Boolean)).toHaveLength(10)
  })

  it('says what is left, when it is whole again, and when to come back', () => {
    const clock = createFakeClock()
    const limits = createRateLimits({ perKey: 2, perAddress: 0, clock })
    const take = () => limits.ofCaller(callerOf('a'))
    const message = 'more than 2 requests a minute'
    const some = { isAllowed: true, retryAfterSeconds: 0, message }
    expect(take()).toEqual({ ...some, remaining: 1, state: '"key";r=1;t=30' })
    expect(take()).toEqual({ ...some, remaining: 0, state: '"key";r=0;t=60' })
    const none = { isAllowed: false, retryAfterSeconds: 30, message }
    expect(take()).toEqual({ ...none, remaining: 0, state: '"key";r=0;t=30' })
    clock.advance(29_500)
    expect(take()).toMatchObject({ isAllowed: false, retryAfterSeconds: 1 })
    clock.advance(500)
    expect(take()).toMatchObject({ isAllowed: true })
  })

  it('of one is not used up by others, and a key is no address', () => {
    const limits = createRateLimits({ perKey: 1, perAddress: 1, clock: createFakeClock() })
    for (const sid of ['a', 'b', 'c']) expect(limits.ofCaller(callerOf(sid))?.isAllowed).toBe(true)
    expect(limits.ofAddress('a')?.isAllowed).toBe(true)
    expect(limits.ofCaller(user)?.isAllowed).toBe(true)
    expect(limits.ofCaller(callerOf('a'))?.isAllowed).toBe(false)
  })

  it('of 0 is none', () => {
    const limits = createRateLimits({ perKey: 0, perAddress: 0, clock: createFakeClock() })
    expect([limits.policyOf(), limits.ofAddress('a'), limits.ofCaller(callerOf('a'))]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it('survives a flood of others in bounded memory as long as it is used', () => {
    const limits = createRateLimits({ perKey: 0, perAddress: 2, clock: createFakeClock() })
    limits.ofAddress('10.0.0.1')
    limits.ofAddress('10.0.0.1')
    for (let n = 0; n < 30_000; n++) limits.ofAddress(`x${n}`)
    expect(limits.ofAddress('10.0.0.1')?.isAllowed).toBe(false)
  })
})

describe('a quota that callers share', () => {
  const ofAccount: RequestQuota = { owner: { account_sid: 'x' }, perMinute: 3 }
  const ofProvider: RequestQuota = { owner: { service_provider_sid: 'x' }, perMinute: 2 }

  it('is the one that the headers name when it is the nearest to its end, or refuses', () => {
    const refused: RequestQuota[] = []
    const limits = createRateLimits({
      perKey: 5,
      perAddress: 0,
      clock: createFakeClock(),
      onQuotaRefused: (quota) => refused.push(quota),
    })
    const statesOf = (caller: Caller, count: number) =>
      Array.from({ length: count }, () => limits.ofCaller(caller)?.state)
    const both = callerOf('a', [ofAccount, ofProvider])
    expect(statesOf(both, 1)).toEqual(['"service_provider";r=1;t=30'])
    expect(statesOf(callerOf('b', [ofAccount]), 2)).toEqual(['"account";r=1;t=40', '"account";r=0;t=60'])
    expect(statesOf(both, 1)).toEqual(['"account";r=0;t=20'])
    expect(refused).toEqual([ofAccount])
    // Requests that the account's limit refused cost its provider nothing.
    const provider = callerOf('c', [ofProvider])
    expect(statesOf(provider, 2)).toEqual(['"service_provider";r=0;t=60', '"service_provider";r=0;t=30'])
    expect(refused).toEqual([ofAccount, ofProvider])
  })

  it('loses nothing to a key that is refused itself', () => {
    const limits = createRateLimits({ perKey: 1, perAddress: 0, clock: createFakeClock() })
    const states = ['a', 'a', 'a', 'b'].map((sid) => limits.ofCaller(callerOf(sid, [ofAccount]))?.state)
    expect(states).toEqual(['"key";r=0;t=60', '"key";r=0;t=60', '"key";r=0;t=60', '"key";r=0;t=60'])
    expect(limits.ofCaller(callerOf('c', [ofAccount]))?.isAllowed).toBe(true)
    expect(limits.ofCaller(callerOf('d', [ofAccount]))?.state).toBe('"account";r=0;t=20')
  })

  it('stands in the policy of its callers alone', () => {
    const limits = createRateLimits({ perKey: 0, perAddress: 4, clock: createFakeClock() })
    expect(limits.policyOf(callerOf('a', [ofAccount, ofProvider]))).toBe(
      '"address";q=4;w=60, "account";q=3;w=60, "service_provider";q=2;w=60',
    )
    expect(limits.policyOf(callerOf('b'))).toBe('"address";q=4;w=60')
  })
})

describe('a server with limits', () => {
  let server: HttpServer
  afterEach(() => server.stop())

  const clock = createFakeClock()
  const serve = (rules: RateLimitRules, trustedProxies?: readonly string[]): void => {
    const route = { path: '/things', status: 200, handle: async () => ({ ok: true }) } as const
    server = createHttp({
      bind: '127.0.0.1',
      port: 0,
      prefix: '/v1',
      routes: [
        { ...route, method: 'GET', access: ['admin'] },
        { ...route, method: 'GET', path: '/open', access: 'public' },
      ],
      authenticator: { authenticate: (header) => callerOf(header ?? '') },
      rateLimits: createRateLimits({ ...rules, clock }),
      trustedProxies,
      isReady: () => true,
      clock: systemClock,
      log: silentLogger,
    })
  }
  const get = (url: string, headers: Record<string, string> = {}) => server.inject({ url, headers })

  it('tells every answer its policy and what is left', async () => {
    serve({ perKey: 100, perAddress: 200 })
    const { headers } = await get('/v1/things', { authorization: 'a' })
    expect(headers['ratelimit-policy']).toBe('"address";q=200;w=60, "key";q=100;w=60')
    expect(headers['ratelimit']).toBe('"key";r=99;t=1')
    expect((await get('/v1/open')).headers['ratelimit']).toBe('"address";r=198;t=1')
    expect((await get('/v1/nowhere')).headers['ratelimit']).toBe('"address";r=197;t=1')
  })

  it('counts a request with two Host headers too, which it refuses', async () => {
    serve({ perKey: 0, perAddress: 2 })
    await server.start()
    const statuses: string[] = []
    for (let count = 0; count < 3; count++) {
      const socket = connect(server.address.port, '127.0.0.1')
      socket.write('GET /v1/open HTTP/1.1\r\nhost: a\r\nhost: b\r\nconnection: close\r\n\r\n')
      statuses.push((await text(socket)).slice(9, 12))
    }
    expect(statuses).toEqual(['400', '400', '429'])
  })

  it('tells of the address where that is nearer to its end than the key', async () => {
    serve({ perKey: 3, perAddress: 4 })
    const states: unknown[] = []
    for (const authorization of ['a', 'a', 'b', 'b'])
      states.push((await get('/v1/things', { authorization })).headers['ratelimit'])
    expect(states).toEqual(['"key";r=2;t=20', '"key";r=1;t=40', '"address";r=1;t=45', '"address";r=0;t=60'])
  })

  it('answers 429 {msg} with Retry-After to the key that is too fast, and to no other', async () => {
    serve({ perKey: 2, perAddress: 0 })
    const send = (authorization: string) => get('/v1/things', { authorization })
    await send('a')
    await send('a')
    const refused = await send('a')
    expect(refused.statusCode).toBe(429)
    expect(refused.headers).toMatchObject({ 'retry-after': '30', ratelimit: '"key";r=0;t=30' })
    const msg = 'more than 2 requests a minute'
    expect(refused.json()).toMatchObject({ msg, code: 'too_many_requests' })
    expect((await send('b')).statusCode).toBe(200)
    clock.advance(30_000)
    expect((await send('a')).statusCode).toBe(200)
  })

  it('holds back an address before it asks who is there, whatever it asks for, but not its health checks', async () => {
    serve({ perKey: 0, perAddress: 2 })
    await get('/v1/open')
    await get('/v1/nowhere')
    expect((await get('/v1/things')).statusCode).toBe(429)
    expect((await get('/v1/nowhere')).statusCode).toBe(429)
    expect((await get('/health')).statusCode).toBe(200)
    expect((await server.inject({ method: 'OPTIONS', url: '/v1/things' })).statusCode).toBe(204)
  })

  it('counts the clients behind a proxy it trusts one by one, and believes no other sender', async () => {
    const send = async (address: string): Promise<number> =>
      (await get('/v1/open', { 'x-forwarded-for': address })).statusCode
    serve({ perKey: 0, perAddress: 1 }, ['127.0.0.0/8'])
    expect([await send('192.0.2.1'), await send('192.0.2.2'), await send('192.0.2.1')]).toEqual([
      200, 200, 429,
    ])
    await server.stop()
    serve({ perKey: 0, perAddress: 1 })
    expect([await send('192.0.2.1'), await send('192.0.2.2')]).toEqual([200, 429])
  })
})
