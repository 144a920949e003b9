import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../lib/log.ts'
import { actingFor } from '../lib/acting-for.ts'
import { createOutgoing, type OutgoingOptions } from './create-outgoing.ts'
import type { Outgoing, OutgoingRequest } from './outgoing.ts'

const open: { close(): unknown }[] = []

afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

function outgoing(options: Partial<OutgoingOptions> = {}): Outgoing {
  const made = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger, ...options })
  open.push(made)
  return made
}

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push({
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const serve = (listener: RequestListener): Promise<string> => listen(createServer(listener))

const get = (url: string, more: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  url,
  method: 'GET',
  subject: 'the hook',
  answerTimeoutMs: 30_000,
  totalTimeoutMs: 40_000,
  maxBodyBytes: 1024 * 1024,
  ...more,
})

describe('request', () => {
  it('posts headers and body and answers status, headers and body', async () => {
    const seen: string[] = []
    const url = await serve((request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => seen.push(text))
      request.on('end', () => {
        seen.push(request.method ?? '', request.url ?? '', String(request.headers['x-test']))
        response.setHeader('content-type', 'application/json').end('[1]')
      })
    })
    const answer = await outgoing().request(
      get(`${url}/a?b=1#fragment`, { method: 'POST', headers: { 'x-test': 'yes' }, body: '{"é":1}' }),
    )
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json')
    expect(answer.body.toString()).toBe('[1]')
    expect(seen).toEqual(['{"é":1}', 'POST', '/a?b=1', 'yes'])
  })

  it('asks for no content encoding', async () => {
    const url = await serve((request, response) => response.end(request.headers['accept-encoding']))
    expect((await outgoing().request(get(url))).body.toString()).toBe('identity')
  })

  it('leaves a gzip bomb packed, however often it was not asked for one', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024))
    const url = await serve((_request, response) => response.setHeader('content-encoding', 'gzip').end(bomb))
    const answer = await outgoing().request(get(url))
    expect(answer.body.length).toBe(bomb.length)
  })

  it('returns a redirect as what it is and sends no other request', async () => {
    let visits = 0
    const elsewhere = await serve((_request, response) => void (visits++, response.end()))
    const url = await serve((_request, response) => response.writeHead(302, { location: elsewhere }).end())
    const answer = await outgoing().request(get(url))
    expect(answer.status).toBe(302)
    expect(visits).toBe(0)
  })

  it('pays no attention to a proxy in the environment', async () => {
    let proxied = 0
    const proxy = await serve((_request, response) => void (proxied++, response.end()))
    const url = await serve((_request, response) => response.end('direct'))
    const before = { ...process.env }
    Object.assign(process.env, {
      HTTP_PROXY: proxy,
      http_proxy: proxy,
      ALL_PROXY: proxy,
      NODE_USE_ENV_PROXY: '1',
    })
    try {
      const answer = await outgoing().request(get(url))
      expect(answer.body.toString()).toBe('direct')
      expect(proxied).toBe(0)
    } finally {
      process.env = before
    }
  })

  it('keeps connections and uses them again', async () => {
    const ports = new Set<number | undefined>()
    const url = await serve(
      (request, response) => void (ports.add(request.socket.remotePort), response.end('x')),
    )
    const client = outgoing()
    for (let turn = 0; turn < 10; turn++) await client.request(get(url))
    // There may be more than one, because a response is reported a moment before its connection is free again.
    expect(ports.size).toBeLessThanOrEqual(5)
  })

  it('opens no more connections to one origin than its bound', async () => {
    const ports = new Set<number | undefined>()
    const held: ServerResponse[] = []
    const url = await serve((request, response) => {
      ports.add(request.socket.remotePort)
      if (held.push(response) === 3) for (const one of held.splice(0)) one.end()
    })
    const client = outgoing({ maxConnectionsPerOrigin: 3 })
    await Promise.all(Array.from({ length: 30 }, () => client.request(get(url))))
    expect(ports.size).toBe(3)
  })

  it('says a request once more when a kept connection was closed under it', async () => {
    let requests = 0
    const server = createTcpServer((socket) => {
      let answered = false
      socket.on('data', () => {
        requests++
        if (answered) return socket.destroy()
        answered = true
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      })
    })
    const url = await listen(server)
    const client = outgoing({ maxConnectionsPerOrigin: 1 })
    await client.request(get(url, { method: 'POST', body: '1' }))
    expect((await client.request(get(url, { method: 'POST', body: '2' }))).status).toBe(200)
    expect(requests).toBe(3)
  })

  it('says it once more also while connections to others are opened', async () => {
    const other = await serve((_request, response) => void response.end())
    let requests = 0
    const client = outgoing({ maxConnectionsPerOrigin: 1 })
    const url = await listen(
      createTcpServer((socket) => {
        let answered = false
        socket.on('data', () => {
          requests++
          if (answered) return void client.request(get(other)).then(() => socket.destroy())
          answered = true
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
        })
      }),
    )
    await client.request(get(url, { method: 'POST', body: '1' }))
    expect((await client.request(get(url, { method: 'POST', body: '2' }))).status).toBe(200)
    expect(requests).toBe(3)
  })

  it('says it once more also while another connection to the same place is opened', async () => {
    const [asked, met] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const bodies: string[] = []
    const url = await listen(
      createTcpServer((socket) => {
        let answered = false
        socket.on('data', (data) => {
          bodies.push(String(data).slice(-1))
          if (answered) {
            asked.resolve()
            return void met.promise.then(() => socket.destroy())
          }
          answered = true
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
        })
      }),
    )
    const client = outgoing()
    await client.request(get(url, { method: 'POST', body: '1' }))
    // The HTTP library takes its next request for the same connection only now.
    await new Promise(setImmediate)
    const stale = client.request(get(url, { method: 'POST', body: '2' }))
    await asked.promise
    await client.request(get(url, { method: 'POST', body: '3' }))
    met.resolve()
    expect((await stale).status).toBe(200)
    expect(bodies.join('')).toBe('1232')
  })

  it('does not repeat itself when a new connection is closed without an answer', async () => {
    let requests = 0
    const url = await listen(
      createTcpServer((socket) => socket.on('data', () => void (requests++, socket.destroy()))),
    )
    await expect(outgoing().request(get(url))).rejects.toMatchObject({ code: 'hook_unreachable' })
    expect(requests).toBe(1)
  })
})

describe('limits', () => {
  it('gives up on a receiver that accepts and says nothing', async () => {
    const url = await serve(() => {})
    await expect(outgoing().request(get(url, { answerTimeoutMs: 100 }))).rejects.toMatchObject({
      code: 'hook_timeout',
      message: 'the hook did not answer in time',
    })
  })

  it('gives up on a receiver that drips its body, at the total time', async () => {
    const url = await serve((_request, response) => {
      const drip = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(drip))
    })
    await expect(outgoing().request(get(url, { totalTimeoutMs: 200 }))).rejects.toMatchObject({
      code: 'hook_timeout',
    })
  })

  it('gives up on a receiver that drips its headers', async () => {
    const url = await listen(
      createTcpServer((socket) => {
        socket.write('HTTP/1.1 200 OK\r\n')
        const drip = setInterval(() => socket.write('x'), 20)
        socket.on('close', () => clearInterval(drip))
      }),
    )
    await expect(outgoing().request(get(url, { answerTimeoutMs: 150 }))).rejects.toMatchObject({
      code: 'hook_timeout',
    })
  })

  it('hangs up on a body beyond its bytes instead of reading on', async () => {
    let sent = 0
    const url = await serve((_request, response) => {
      const chunk = Buffer.alloc(64 * 1024)
      const more = (): void => {
        while (sent < 1024 * 1024 * 1024 && !response.destroyed) {
          sent += chunk.length
          if (!response.write(chunk)) return void response.once('drain', more)
        }
      }
      more()
    })
    await expect(outgoing().request(get(url, { maxBodyBytes: 100_000 }))).rejects.toMatchObject({
      code: 'hook_too_large',
    })
    expect(sent).toBeLessThan(50 * 1024 * 1024)
  })

  it('stops at headers without end', async () => {
    const url = await listen(
      createTcpServer(
        (socket) => void socket.write(`HTTP/1.1 200 OK\r\n${'x-a: aaaaaaaaaaaa\r\n'.repeat(5000)}\r\n`),
      ),
    )
    await expect(outgoing().request(get(url))).rejects.toMatchObject({ code: 'hook_too_large' })
  })

  it('answers with the status at once when the body is discarded, and cuts a long one', async () => {
    let closed = (): void => {}
    const isClosed = new Promise<void>((resolve) => (closed = resolve))
    const url = await serve((_request, response) => {
      response.on('close', closed)
      response.write(Buffer.alloc(10 * 1024 * 1024))
    })
    const answer = await outgoing().request(get(url, { answerBody: 'discard' }))
    expect(answer.status).toBe(200)
    await isClosed
  })

  it('slows the sender down to the pace of the sink', async () => {
    const url = await serve((_request, response) => response.end(Buffer.alloc(1024 * 1024)))
    let writing = false
    let bytes = 0
    await outgoing().request(
      get(url, {
        maxBodyBytes: 2 * 1024 * 1024,
        answerBody: () => async (chunk) => {
          expect(writing).toBe(false)
          writing = true
          await new Promise((resolve) => setImmediate(resolve))
          writing = false
          bytes += chunk.length
        },
      }),
    )
    expect(bytes).toBe(1024 * 1024)
  })

  it('ends with the reason of its signal, before and during the request', async () => {
    const controller = new AbortController()
    const url = await serve(() => controller.abort(new Error('hung up')))
    const client = outgoing()
    await expect(client.request(get(url, { signal: controller.signal }))).rejects.toThrow('hung up')
    await expect(client.request(get(url, { signal: controller.signal }))).rejects.toThrow('hung up')
  })

  it('refuses more than its bound of requests at a time', async () => {
    const url = await serve(() => {})
    const client = outgoing({ maxRunning: 1 })
    const first = client.request(get(url, { answerTimeoutMs: 100 }))
    await expect(client.request(get(url))).rejects.toMatchObject({ code: 'overloaded' })
    await expect(first).rejects.toMatchObject({ code: 'hook_timeout' })
  })

  it('refuses a tenant more than its share of them, and refuses no other tenant', async () => {
    const url = await serve(() => {})
    const client = outgoing({ maxRunning: 10 })
    const ask = (tenant: string): Promise<unknown> =>
      actingFor(tenant, () => client.request(get(url, { answerTimeoutMs: 300 })))
    const running = Array.from({ length: 8 }, () => ask('a'))
    await expect(ask('a')).rejects.toMatchObject({ code: 'account_share' })
    for (const request of [...running, ask('b')])
      await expect(request).rejects.toMatchObject({ code: 'hook_timeout' })
  })

  it('cuts what runs when it is closed', async () => {
    const client = outgoing()
    const url = await serve(() => void client.close())
    await expect(client.request(get(url))).rejects.toMatchObject({ code: 'hook_unreachable' })
  })
})

describe('failures', () => {
  it('says that a connection was refused', async () => {
    const server = createTcpServer()
    const url = await listen(server)
    server.close()
    await once(server, 'close')
    await expect(outgoing().request(get(url))).rejects.toMatchObject({
      code: 'hook_unreachable',
      message: 'the hook refused the connection',
    })
  })

  it('says that a name does not resolve', async () => {
    const resolve = (): Promise<never> =>
      Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))
    await expect(outgoing({ resolve }).request(get('http://nowhere.test/'))).rejects.toMatchObject({
      code: 'hook_unreachable',
      message: 'the hook has a host name that does not resolve',
    })
  })

  it('says that the other side does not speak TLS, or shows no certificate', async () => {
    const plain = await serve((_request, response) => response.end())
    await expect(outgoing().request(get(plain.replace('http', 'https')))).rejects.toMatchObject({
      code: 'hook_unreachable',
      message: 'the hook does not speak TLS',
      cure: expect.stringContaining('Write http or ws'),
    })
    const bare = await listen(createTlsServer().on('tlsClientError', () => undefined))
    await expect(outgoing().request(get(bare.replace('http', 'https')))).rejects.toMatchObject({
      message: 'the hook could not agree on TLS with the platform',
    })
  })

  it('says that the other side does not speak HTTP', async () => {
    const url = await listen(createTcpServer((socket) => void socket.end('SSH-2.0-OpenSSH\r\n')))
    await expect(outgoing().request(get(url))).rejects.toMatchObject({
      code: 'hook_unreachable',
      message: 'the hook did not answer with valid HTTP',
    })
  })

  it('tries the next address when the first of a name is dead', async () => {
    const url = new URL(await serve((_request, response) => response.end('alive')))
    const resolve = async () => [
      { address: '127.0.0.2', family: 4 as const },
      { address: '127.0.0.1', family: 4 as const },
    ]
    const answer = await outgoing({ resolve }).request(get(`http://two.test:${url.port}/`))
    expect(answer.body.toString()).toBe('alive')
  })
})
