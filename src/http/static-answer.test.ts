import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createHttp } from './create-http.ts'
import type { HttpServer } from './http.ts'

const text = JSON.stringify({ words: 'the same for everybody '.repeat(500) })
const render = vi.fn(({ name }: Readonly<Record<string, string | undefined>>) =>
  name?.toLowerCase() === 'known' ? text : undefined,
)

let server: HttpServer
beforeAll(async () => {
  server = createHttp({
    bind: '127.0.0.1',
    port: 0,
    prefix: '/v1',
    routes: [],
    pages: [{ path: '/pages/:name', mediaType: 'application/json; charset=utf-8', render }],
    authenticator: { authenticate: () => Promise.reject(new Error('unused')) },
    isReady: () => true,
    clock: systemClock,
    log: silentLogger,
  })
  await server.start()
})
afterAll(() => server.stop())

const ask = (headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET', path = '/pages/known') =>
  server.inject({ method, url: path, headers })

describe('a page', () => {
  it.each([
    ['br, gzip', 'br'],
    ['gzip, deflate', 'gzip'],
    ['*', 'br'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['identity', undefined],
    ['', undefined],
  ])('to a client that takes %j comes coded as %s', async (accepted, coding) => {
    const { headers, rawPayload } = await ask({ 'accept-encoding': accepted })
    expect(headers['content-encoding']).toBe(coding)
    expect(headers['vary']).toBe('accept-encoding')
    const plain = { br: brotliDecompressSync, gzip: gunzipSync }
    const decode = coding === undefined ? (bytes: Buffer) => bytes : plain[coding as 'br' | 'gzip']
    expect(decode(rawPayload).toString()).toBe(text)
    if (coding !== undefined) expect(rawPayload.byteLength).toBeLessThan(text.length / 10)
  })

  it('is not sent again to a client that has it, in the coding that it has', async () => {
    for (const accepted of ['br', 'gzip', 'identity']) {
      const etag = String((await ask({ 'accept-encoding': accepted })).headers['etag'])
      for (const seen of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const { statusCode, headers, body } = await ask({
          'accept-encoding': accepted,
          'if-none-match': seen,
        })
        expect([statusCode, headers['etag'], body]).toEqual([304, etag, ''])
      }
      expect((await ask({ 'accept-encoding': accepted, 'if-none-match': '"other"' })).statusCode).toBe(200)
    }
    const tags = await Promise.all(
      ['br', 'gzip', 'identity'].map(
        async (accepted) => (await ask({ 'accept-encoding': accepted })).headers['etag'],
      ),
    )
    expect(new Set(tags).size).toBe(3)
  })

  it('has the length of its bytes, also when only the head is asked for', async () => {
    const { headers, rawPayload } = await ask({ 'accept-encoding': 'gzip' })
    expect(headers['content-length']).toBe(String(rawPayload.byteLength))
    const head = await ask({ 'accept-encoding': 'gzip' }, 'HEAD')
    expect([head.headers['content-length'], head.body]).toEqual([headers['content-length'], ''])
  })

  it('is made once, however many ask, and what does not exist is not remembered', async () => {
    render.mockClear()
    await Promise.all(Array.from({ length: 20 }, () => ask({ 'accept-encoding': 'br' })))
    // A name of twelve letters can be written in four thousand ways.
    for (const path of ['/pages/KNOWN', '/pages/Known', '/PAGES/knowN'])
      expect((await ask({}, 'GET', path)).body).toBe(text)
    expect(render).not.toHaveBeenCalled()
    for (let count = 0; count < 2; count++)
      expect((await ask({}, 'GET', '/pages/unknown')).statusCode).toBe(404)
    expect(render).toHaveBeenCalledTimes(2)
  })
})
