// The forms that RFC 9110 and RFC 9112 allow an answer and all that comes before it, for tests of each part that asks a server.
import { createServer } from 'node:net'
import { listenLocally, type LocalServer } from './local-http.ts'

/** Opens a server that sends these bytes as the answer to each request, and closes the connection if that ends it. */
export function answering(answer: Buffer, ends: boolean): Promise<LocalServer> {
  return listenLocally(
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
}

export interface Way {
  readonly before?: string
  readonly status?: string
  readonly headers?: readonly string[]
  /** Writes the body; by default with Content-Length. */
  readonly framed?: (body: Buffer) => Buffer
  readonly ends?: boolean
}

export const crlf = '\r\n'
export const lengthOf = (body: Buffer): Buffer =>
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

/** The ways that a length, chunks, interim responses and headers of one answer take. */
export const ways: Readonly<Record<string, Way>> = {
  'a length': {},
  '102 before it': { before: `HTTP/1.1 102 Processing${crlf}X-A: b${crlf}${crlf}` },
  '103 before it': { before: `HTTP/1.1 103 Early Hints${crlf}Link: </x>; rel=preload${crlf}${crlf}` },
  '100 before it, which was not asked for': { before: `HTTP/1.1 100 Continue${crlf}${crlf}` },
  'several of them': {
    before:
      `HTTP/1.1 100 Continue${crlf}X-A: b${crlf}${crlf}`.repeat(2) +
      `HTTP/1.1 102 Processing${crlf}${crlf}`.repeat(2) +
      `HTTP/1.1 103 Early Hints${crlf}${crlf}`,
  },
  'a reason phrase of its own': { status: '200 Tout va bien' },
  'no reason phrase': { status: '200 ' },
  'a charset': { headers: ['Content-Type: application/json; charset=utf-8'] },
  'a quoted charset in capitals': { headers: ['content-type:Application/JSON;Charset="UTF-8"'] },
  'other parameters': { headers: ['Content-Type: application/json;profile="a;b"; q=1'] },
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

export function toAnswer(
  { before = '', status = '200 OK', headers, framed = lengthOf }: Way,
  body: Buffer,
): Buffer {
  const [first, version] = before === '1.0' ? ['', '1.0'] : [before, '1.1']
  const fields = (headers ?? ['Content-Type: application/json']).map((field) => `${field}${crlf}`).join('')
  return Buffer.concat([Buffer.from(`${first}HTTP/${version} ${status}${crlf}${fields}`), framed(body)])
}
