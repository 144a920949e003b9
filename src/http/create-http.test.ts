import { METHODS } from 'node:http'
import { connect } from 'node:net'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../../test/support/covers.ts'
import { AppError } from '../lib/errors.ts'
import { createLogger } from '../lib/log.ts'
import { systemClock } from '../lib/clock.ts'
import { createHttp } from './create-http.ts'
import type { HttpServer } from './http.ts'
import type { HttpRoute } from './route.ts'

const lines: string[] = []
const log = createLogger('debug', { write: (line) => void lines.push(line) })
let isReady = true
let server: HttpServer

const echo: HttpRoute = {
  method: 'POST',
  path: '/Things/{ThingSid}',
  access: 'public',
  status: 200,
  handle: async ({ body, params, query }) => ({ body: body ?? null, params, query }),
}

const routes: HttpRoute[] = [
  echo,
  { ...echo, method: 'DELETE' },
  { ...echo, method: 'GET', path: '/Things' },
  {
    ...echo,
    method: 'GET',
    path: '/broken',
    handle: () => Promise.reject(new Error('SELECT secret FROM somewhere')),
  },
  {
    ...echo,
    method: 'GET',
    path: '/refused',
    handle: () => Promise.reject(new AppError('in_use', 'still in use', { detail: { table: 'x' } })),
  },
  {
    ...echo,
    method: 'GET',
    path: '/filtered',
    replySchema: { type: 'object', properties: { shown: { type: 'string' } } },
    handle: async () => ({ shown: 'yes', hashed_password: 'no' }),
  },
]

beforeAll(async () => {
  server = createHttp({
    bind: '127.0.0.1',
    port: 0,
    prefix: '/v1',
    routes,
    authenticator: { authenticate: () => Promise.reject(new Error('unused')) },
    isReady: () => isReady,
    clock: systemClock,
    log,
  })
  await server.start()
})
afterAll(() => server.stop())

/** Writes bytes to a real socket and returns all that comes back. */
async function exchange(bytes: string): Promise<string> {
  const socket = connect(server.address.port, '127.0.0.1')
  let received = ''
  socket.on('data', (data) => (received += String(data)))
  socket.write(bytes)
  await once(socket, 'close')
  return received
}

/** Methods whose body is read before the route is looked up, those that routes have, and CONNECT, which has no path. */
const served = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT'])

const json = (headers: Record<string, string> = {}) => ({ 'content-type': 'application/json', ...headers })

describe('paths', () => {
  it.each([
    '/v1/Things/aB-1',
    '/v1/Things/aB-1/',
    '/v1//Things/aB-1',
    '/V1/tHINGS/aB-1',
    '/v1//things//aB-1//',
  ])('answers %s, and keeps the letters of the value', async (url) => {
    const answer = await server.inject({ method: 'POST', url })
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toMatchObject({ params: { ThingSid: 'aB-1' } })
  })

  it.each([
    ['GET', '/v1/nothing'],
    ['GET', '/nothing'],
    ['PUT', '/v1/Things/1/2'],
    ['PATCH', '/v1'],
    ['POST', `/v1/Things/${'x'.repeat(500)}`],
  ] as const)('answers 404 {msg} to %s %.40s', async (method, url) => {
    const answer = await server.inject({ method, url, headers: json() })
    expect(answer.statusCode).toBe(404)
    expect(answer.json()).toMatchObject({ msg: expect.any(String) })
  })

  it.each([
    ['PUT', '/v1/Things/1', 'POST, DELETE, OPTIONS'],
    ['PATCH', '/V1//things/1/?a=/b', 'POST, DELETE, OPTIONS'],
    ['DELETE', '/v1/Things', 'GET, HEAD, OPTIONS'],
    ['POST', '/health', 'GET, HEAD, OPTIONS'],
    ['POST', '/', 'GET, HEAD, OPTIONS'],
  ] as const)('answers 405 and the methods there are to %s %s', async (method, url, allow) => {
    const answer = await server.inject({ method, url })
    expect(answer.statusCode).toBe(405)
    expect(answer.headers['allow']?.toString().split(', ').sort()).toEqual(allow.split(', ').sort())
    expect(answer.json()).toMatchObject({ code: 'method_not_allowed', msg: expect.stringContaining(method) })
  })

  it('answers 400 {msg} to a path that is not properly encoded', async () => {
    const answer = await server.inject({ method: 'POST', url: '/v1/Things/%zz' })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ msg: 'the path is not a valid URL' })
    expect(answer.headers['x-request-id']).toBe(answer.json().request_id)
  })

  it('takes query values that are not percent-encoded', async () => {
    const answer = await server.inject({ method: 'GET', url: '/v1/Things?url=https://x/y?z=1&at=10:00' })
    expect(answer.json().query).toEqual({ url: 'https://x/y?z=1', at: '10:00' })
  })
})

describe('bodies', () => {
  const post = (payload: string | Buffer | undefined, headers: Record<string, string>) =>
    server.inject({
      method: 'POST',
      url: '/v1/Things/1',
      headers,
      ...(payload === undefined ? {} : { payload }),
    })

  it('takes no body under any content type', async () => {
    for (const headers of [{}, json(), { 'content-type': 'text/plain' }]) {
      const answer = await post(undefined, headers)
      expect(answer.statusCode).toBe(200)
      expect(answer.json().body).toBe(null)
    }
  })

  it('takes JSON, with and without its name, and forms', async () => {
    expect((await post('{"a":1}', json())).json().body).toEqual({ a: 1 })
    expect((await post('{"a":1}', {})).json().body).toEqual({ a: 1 })
    expect((await post('a=1', form)).json().body).toEqual({ a: '1' })
  })

  it.each(['{"a":', 'hello', '{"a":1,"a":1}', '{"__proto__":1}'])(
    'answers 400 {msg} to %s',
    async (payload) => {
      const answer = await post(payload, json())
      expect(answer.statusCode).toBe(400)
      expect(answer.json()).toMatchObject({ code: 'malformed_body' })
    },
  )

  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const multipart = { 'content-type': 'multipart/form-data; boundary=b' }
  const part = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n'
  it.each([
    ['{"a":"b\xff\xfe"}', json()],
    ['{"a":"\xed\xa0\x80"}', {}],
    ['a=\xc3', form],
    [`${part}\xff\r\n--b--\r\n`, multipart],
  ])('answers 400 {msg} to what is not UTF-8: %j', async (bytes, headers) => {
    const answer = await post(Buffer.from(bytes, 'latin1'), headers)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ code: 'malformed_body', msg: 'the body is not valid UTF-8' })
  })

  it('leaves out the byte order mark at the beginning, and no other', async () => {
    expect((await post('\ufeff{"a":"\ufeff1"}', json())).json().body).toEqual({ a: '\ufeff1' })
    expect((await post('\ufeffa=1', form)).json().body).toEqual({ a: '1' })
    expect((await post('\ufeff', json())).json().body).toBe(null)
  })

  it.each([
    { 'content-encoding': 'gzip' },
    { 'content-type': 'application/json; charset=ISO-8859-1' },
    { 'content-type': 'application/x-www-form-urlencoded; charset="utf-16"' },
    { 'content-type': 'multipart/form-data; boundary=x', 'content-encoding': 'br' },
  ])('answers 415 {msg} to %o', async (headers) => {
    const answer = await post('{"a":"é"}', { ...json(), ...headers })
    expect(answer.statusCode).toBe(415)
    expect(answer.json()).toMatchObject({ code: 'encoding_not_supported' })
    expect(answer.headers['accept-encoding']).toBe('identity')
  })

  it.each([
    { 'content-encoding': 'identity' },
    { 'content-type': 'application/json; charset="UTF-8"' },
    { 'content-type': 'application/json;charset=utf8' },
  ])('takes %o', async (headers) => {
    expect((await post('{"a":"é"}', { ...json(), ...headers })).json().body).toEqual({ a: 'é' })
  })

  it('takes ASCII by whatever name', async () => {
    const latin = { 'content-type': 'application/json; charset=ISO-8859-1' }
    expect((await post('{"a":1}', latin)).json().body).toEqual({ a: 1 })
    expect((await post(Buffer.from('{"a":"\xe9"}', 'latin1'), latin)).statusCode).toBe(415)
  })

  it('answers 413 {msg} to more than 1 MiB', async () => {
    const answer = await post(`"${'x'.repeat(1_048_576)}"`, json())
    expect(answer.statusCode).toBe(413)
    expect(answer.json()).toMatchObject({ code: 'too_large' })
  })

  it.each(['/v1/Things/1', '/nothing'])(
    'answers so to a stranger who sends more than 64 KiB to %s',
    async (url) => {
      const sent = (bytes: number) =>
        server.inject({ method: 'POST', url, headers: json(), payload: `"${'x'.repeat(bytes - 2)}"` })
      expect((await sent(65_536)).statusCode).not.toBe(413)
      expect((await sent(65_537)).statusCode).toBe(413)
    },
  )

  it('answers so to a client that reads once it has sent all of 16 MiB, and serves its next request', async () => {
    const socket = connect(server.address.port, '127.0.0.1')
    const head = 'POST /v1/Things/1 HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n'
    await new Promise<unknown>((sent) =>
      socket.write(`${head}content-length: ${16 << 20}\r\n\r\n${'x'.repeat(16 << 20)}`, sent),
    )
    socket.write(`${head}content-length: 2\r\nconnection: close\r\n\r\n{}`)
    const received = await text(socket)
    expect(received.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
  })

  it('ignores the body of a DELETE, whatever it is', async () => {
    for (const payload of ['{"password":"x"}', '{"a":'])
      expect(
        (await server.inject({ method: 'DELETE', url: '/v1/Things/1', headers: json(), payload })).json()
          .body,
      ).toBe(null)
  })
})

describe('a request with two Host headers', () => {
  it.each([
    ['of two names', 'host: a\r\nHost: b\r\n'],
    ['of the same name', 'Host: a\r\nx: y\r\nHOST: a\r\n'],
  ])('%s is refused', async (_, hosts) => {
    const socket = connect(server.address.port, '127.0.0.1')
    socket.write(`GET /v1/Things/1 HTTP/1.1\r\n${hosts}connection: close\r\n\r\n`)
    const received = await text(socket)
    expect(received).toMatch(/^HTTP\/1.1 400 /)
    expect(received).toContain('more than one Host header')
  })
})

describe('request ids', () => {
  it('echoes a harmless one in header, error body and log', async () => {
    const headers = { 'x-request-id': 'client-1.2:3' }
    const answer = await server.inject({ method: 'GET', url: '/v1/refused', headers })
    expect(answer.headers['x-request-id']).toBe('client-1.2:3')
    expect(answer.json()).toMatchObject({ request_id: 'client-1.2:3' })
    expect(lines.join('')).toContain('"request_id":"client-1.2:3"')
  })

  it.each(['', 'a b', 'x'.repeat(129), '<script>', 'a"b'])(
    'makes a new one in place of %.20j',
    async (given) => {
      const answer = await server.inject({
        method: 'GET',
        url: '/health',
        headers: { 'x-request-id': given },
      })
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    },
  )
})

describe('errors', () => {
  it(
    'answers {msg, code, request_id, cure} and keeps the detail in the log',
    covers({
      section: 'Not shown',
      says: 'The general error object.',
      chosen: '`{msg, code, request_id, cure}`; codes are in errors.md.',
    }),
    async () => {
      const answer = await server.inject({ method: 'GET', url: '/v1/refused' })
      expect(answer.statusCode).toBe(422)
      expect(answer.json()).toEqual({
        msg: 'still in use',
        code: 'in_use',
        request_id: answer.headers['x-request-id'],
        cure: expect.any(String),
      })
    },
  )

  it('answers a bug with 500 and a fixed text; the stack is in the log', async () => {
    const answer = await server.inject({ method: 'GET', url: '/v1/broken' })
    expect(answer.statusCode).toBe(500)
    expect(answer.json().msg).toBe('something went wrong on our side')
    expect(answer.body).not.toContain('SELECT')
    expect(lines.join('')).toContain('SELECT secret FROM somewhere')
  })

  it('leaves out what the schema of the answer does not name', async () => {
    const answer = await server.inject({ method: 'GET', url: '/v1/filtered' })
    expect(answer.json()).toEqual({ shown: 'yes' })
  })
})

describe('every response', () => {
  it.each(['/health', '/v1/nothing', '/v1/Things', '/v1/broken'])(
    'carries the safe headers: %s',
    async (url) => {
      const { headers } = await server.inject({ method: 'GET', url })
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringContaining("default-src 'none'"),
        'access-control-allow-origin': '*',
      })
      expect(headers).not.toHaveProperty('access-control-allow-credentials')
      expect(headers).not.toHaveProperty('x-powered-by')
    },
  )

  it('a preflight passes for any path, method and the headers clients send', async () => {
    const answer = await server.inject({
      method: 'OPTIONS',
      url: '/v1/Things/1',
      headers: {
        origin: 'https://portal.example.com',
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'authorization,content-type',
      },
    })
    expect(answer.statusCode).toBe(204)
    expect(answer.headers['access-control-allow-methods']).toContain('PUT')
    expect(answer.headers['access-control-allow-headers']).toContain('authorization')
  })
})

describe('health', () => {
  it.each(['/health', '/'])('%s answers 200 once ready and 503 otherwise', async (url) => {
    expect((await server.inject({ method: 'GET', url })).statusCode).toBe(200)
    isReady = false
    const unready = await server.inject({ method: 'GET', url })
    expect(unready.statusCode).toBe(503)
    expect(unready.json()).toEqual({ status: 'unavailable', reason: 'starting' })
    isReady = true
  })
})

describe('stop', () => {
  it('may be called twice, and before the start', async () => {
    const other = createHttp({
      bind: '127.0.0.1',
      port: 0,
      prefix: '/v1',
      routes: [],
      authenticator: { authenticate: () => Promise.reject(new Error('unused')) },
      isReady: () => true,
      clock: systemClock,
      log,
    })
    await other.stop()
    await other.stop()
  })
})

describe('over a socket', () => {
  it.each(METHODS.filter((method) => !served.has(method)))(
    'answers %s with 404 or 405 and logs no error, with a body and without',
    async (method) => {
      lines.length = 0
      const bodies = ['\r\n', 'content-length: 1\r\n\r\n{', 'content-type: x\r\ncontent-length: 1\r\n\r\n{']
      for (const rest of bodies)
        for (const [path, status] of [
          ['/health', 405],
          ['/v1/Things', 405],
          ['/nothing', 404],
        ] as const) {
          const answer = await exchange(
            `${method} ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${rest}`,
          )
          expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
        }
      expect(lines.join('')).not.toContain('request failed')
    },
  )

  it('answers 400 {msg} to what is not HTTP', async () => {
    const answer = await exchange('INVITE sip:a@b SIP/2.0\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ msg: expect.any(String) })
  })

  it('answers 431 {msg} to headers or a URL over 16 KiB', async () => {
    const long = 'x'.repeat(20_000)
    for (const request of [
      `GET /v1/Things HTTP/1.1\r\nHost: a\r\nX-Long: ${long}\r\n\r\n`,
      `GET /v1/Things?a=${long} HTTP/1.1\r\nHost: a\r\n\r\n`,
    ]) {
      const answer = await exchange(request)
      expect(answer).toMatch(/^HTTP\/1\.1 431 /)
      expect(answer).toContain('"msg"')
    }
  })

  it('refuses a request with two lengths', async () => {
    const answer = await exchange(
      'POST /v1/Things/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    )
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  })
})
