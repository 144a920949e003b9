// RFC 9110 and RFC 9112 let a server send much before and around its answer: the verbs are the same whatever it is.
import { createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { listenLocally } from '../../test/support/local-http.ts'
import { ThreadTime } from '../lib/bounds/thread-time.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createOutgoing } from '../outgoing/create-outgoing.ts'
import { createAppEnv } from './create-app-env.ts'
import { createHooks } from './create-hooks.ts'

const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0)) await one.close()
})

const verbs = [{ verb: 'say', text: 'grüße' }]
const variables = { name: { type: 'string', description: 'grüße' } }

/** Opens a server that sends these bytes as the answer to each request, and closes the connection if that ends it. */
async function answering(answer: Buffer, ends: boolean): Promise<string> {
  const server = await listenLocally(
    createServer((socket) => {
      socket.on('error', () => undefined)
      let asked = ''
      socket.on('data', (bytes: Buffer) => {
        asked += bytes.toString('latin1')
        const [head, body] = asked.split('\r\n\r\n', 2)
        const length = Number(/content-length: (\d+)/i.exec(head ?? '')?.[1] ?? 0)
        if (body === undefined || Buffer.byteLength(body, 'latin1') < length) return
        asked = ''
        if (ends) socket.end(answer)
        else socket.write(answer)
      })
    }),
  )
  closing.push(server)
  return server.url
}

interface Way {
  readonly before?: string
  readonly status?: string
  readonly headers?: readonly string[]
  /** Writes the body; by default with Content-Length. */
  readonly framed?: (body: Buffer) => Buffer
  readonly ends?: boolean
}

const crlf = '\r\n'
const lengthOf = (body: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`Content-Length: ${body.length}${crlf}${crlf}`), body])
const chunked =
  (extension = '', trailers = '') =>
  (body: Buffer): Buffer => {
    const parts = [body.subarray(0, 5), body.subarray(5)]
    const chunks = parts.map((part) =>
      Buffer.concat([Buffer.from(`${part.length.toString(16)}${extension}${crlf}`), part, Buffer.from(crlf)]),
    )
    const head = Buffer.from(`Transfer-Encoding: chunked${crlf}${crlf}`)
    return Buffer.concat([head, ...chunks, Buffer.from(`0${extension}${crlf}${trailers}${crlf}`)])
  }

const ways: Readonly<Record<string, Way>> = {
  'a length': {},
  '102 before it': { before: `HTTP/1.1 102 Processing${crlf}X-A: b${crlf}${crlf}` },
  '103 before it': { before: `HTTP/1.1 103 Early Hints${crlf}Link: </x>; rel=preload${crlf}${crlf}` },
  'several of them': {
    before: `HTTP/1.1 102 Processing${crlf}${crlf}`.repeat(2) + `HTTP/1.1 103 Early Hints${crlf}${crlf}`,
  },
  'a reason phrase of its own': { status: '200 Tout va bien' },
  'no reason phrase': { status: '200 ' },
  'a charset': { headers: ['Content-Type: application/json; charset=utf-8'] },
  'a quoted charset in capitals': { headers: ['content-type:Application/JSON;Charset="UTF-8"'] },
  'other parameters': { headers: ['Content-Type: application/json;profile="a;b"; q=1'] },
  'a byte order mark': { framed: (body) => lengthOf(Buffer.concat([Buffer.from('\uFEFF'), body])) },
  'white space around it': {
    framed: (body) => lengthOf(Buffer.concat([Buffer.from('\r\n\t '), body, Buffer.from('\n\n')])),
  },
  chunks: { framed: chunked() },
  'chunks with extensions': { framed: chunked(';name=value;other="a b"') },
  'chunks with trailers': { framed: chunked('', `X-Checksum: 1${crlf}X-Other: 2${crlf}`) },
  'announced trailers': {
    headers: ['Content-Type: application/json', 'Trailer: X-Checksum'],
    framed: chunked('', `X-Checksum: 1${crlf}`),
  },
  'Connection: close': { headers: ['Content-Type: application/json', 'Connection: close'], ends: true },
  'no length, until the connection closes': {
    headers: ['Content-Type: application/json', 'Connection: close'],
    framed: (body) => Buffer.concat([Buffer.from(crlf), body]),
    ends: true,
  },
  'HTTP/1.0 without a length': {
    before: '1.0',
    framed: (body) => Buffer.concat([Buffer.from(crlf), body]),
    ends: true,
  },
  'the encoding identity': { headers: ['Content-Type: application/json', 'Content-Encoding: identity'] },
  'headers in other cases, and unknown ones': {
    headers: [
      'CONTENT-TYPE: application/json',
      'X-Powered-By: x',
      'Set-Cookie: a=b',
      'Set-Cookie: c=d',
      'Vary: *',
    ],
  },
}

function toAnswer({ before = '', status = '200 OK', headers, framed = lengthOf }: Way, body: string): Buffer {
  const [first, version] = before === '1.0' ? ['', '1.0'] : [before, '1.1']
  const fields = (headers ?? ['Content-Type: application/json']).map((field) => `${field}${crlf}`).join('')
  return Buffer.concat([
    Buffer.from(`${first}HTTP/${version} ${status}${crlf}${fields}`),
    framed(Buffer.from(body)),
  ])
}

function parts() {
  const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger })
  closing.push(outgoing)
  const threadTime = new ThreadTime({ clock: systemClock })
  const hooks = createHooks({
    outgoing,
    signingSecret: () => Promise.resolve('wh_secret_test'),
    clock: systemClock,
    log: silentLogger,
    userAgent: 'switchhook/test',
    threadTime,
    budgets: { answerMs: 60_000, totalMs: 60_000 },
  })
  const ask = (url: string) =>
    hooks.ask({
      account_sid: 'a',
      hook: { url, method: 'POST', username: null, password: null },
      payload: { call_sid: 'c' },
    })
  return { ask, appEnv: createAppEnv({ outgoing, threadTime }) }
}

describe('the answer of an application', () => {
  it.each(Object.entries(ways))('is read with %s', async (_, way) => {
    const { ask, appEnv } = parts()
    const ofHook = await answering(toAnswer(way, JSON.stringify(verbs)), way.ends ?? false)
    expect(await ask(ofHook)).toMatchObject({ status: 200, body: verbs })
    // The connection is as good as before.
    expect(await ask(ofHook)).toMatchObject({ status: 200, body: verbs })
    const ofApp = await answering(toAnswer(way, JSON.stringify(variables)), way.ends ?? false)
    expect(await appEnv.ask(ofApp)).toEqual({ outcome: 'schema', schema: variables })
  })

  it.each<[string, string]>([
    ['204', `HTTP/1.1 204 No Content${crlf}${crlf}`],
    ['204 with a content type', `HTTP/1.1 204 No Content${crlf}Content-Type: application/json${crlf}${crlf}`],
    ['202 without a body', `HTTP/1.1 202 Accepted${crlf}Content-Length: 0${crlf}${crlf}`],
    ['200 without a body', `HTTP/1.1 200 OK${crlf}Content-Length: 0${crlf}${crlf}`],
    [
      '200 without a body, as JSON',
      `HTTP/1.1 200 OK${crlf}Content-Type: application/json${crlf}Content-Length: 0${crlf}${crlf}`,
    ],
    [
      '200 without a body, in chunks',
      `HTTP/1.1 200 OK${crlf}Content-Type: application/json${crlf}Transfer-Encoding: chunked${crlf}${crlf}0${crlf}${crlf}`,
    ],
    ['200 and a text without a content type', `HTTP/1.1 200 OK${crlf}Content-Length: 2${crlf}${crlf}OK`],
    [
      '200 and a text that is no JSON',
      `HTTP/1.1 200 OK${crlf}Content-Type: text/plain${crlf}Content-Length: 2${crlf}${crlf}OK`,
    ],
  ])('counts as none with %s', async (_, answer) => {
    const { ask, appEnv } = parts()
    const url = await answering(Buffer.from(answer), false)
    expect((await ask(url)).body).toBeUndefined()
    expect(await appEnv.ask(url)).toEqual({ outcome: 'none' })
  })

  it.each<[string, string, string]>([
    ...['301', '302', '303', '307', '308'].map((status): [string, string, string] => [
      status,
      `HTTP/1.1 ${status} Moved${crlf}Location: /other${crlf}Content-Length: 0${crlf}${crlf}`,
      'hook_bad_status',
    ]),
    [
      // The HTTP library closes the connection: the request has no Expect.
      '100, which was not asked for',
      `HTTP/1.1 100 Continue${crlf}${crlf}HTTP/1.1 204 No Content${crlf}${crlf}`,
      'hook_unreachable',
    ],
    ['304', `HTTP/1.1 304 Not Modified${crlf}${crlf}`, 'hook_bad_status'],
    [
      'an encoding that was not asked for',
      `HTTP/1.1 200 OK${crlf}Content-Type: application/json${crlf}Content-Encoding: gzip${crlf}Content-Length: 2${crlf}${crlf}[]`,
      'hook_invalid_payload',
    ],
  ])('is refused by name with %s', async (_, answer, code) => {
    const { ask } = parts()
    await expect(ask(await answering(Buffer.from(answer), false))).rejects.toMatchObject({ code })
  })
})
