// The web server of an example: it verifies that the platform has signed a hook, and answers it with verbs.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { isSignedWith } from '../hello.ts'
import { text, type Answers, type Payload } from './example.ts'
import { pageHeaders, pageStyle } from './page-policy.ts'

/** Returns the reason and the cure that the platform recorded for a refused call, or undefined if there are none. */
export type WhyFailed = (call_sid: string) => Promise<string | undefined>

export interface HookServer {
  readonly url: string
  /** Sets the answers and the secret, which are known once the account is. Until then every request is refused. */
  serve(answers: Answers, webhookSecret: string, whyFailed: WhyFailed): void
  close(): Promise<void>
}

export interface HookServerOptions {
  readonly port: number
  readonly print: (line: string) => void
}

interface Served {
  readonly answers: Answers
  readonly secret: string
  readonly whyFailed: WhyFailed
  /** The names of calls in the log, by call_sid: a hook of a queue does not name the caller that waits. */
  readonly names: Map<string, string>
}

const maxNames = 1000
const maxBodyBytes = 1024 * 1024

export async function startHookServer({ port, print }: HookServerOptions): Promise<HookServer> {
  let served: Served | undefined
  const server = createServer((request, response) => {
    respond(request, response, served, print).catch((error: unknown) => {
      print(`error: ${error instanceof Error ? error.message : String(error)}`)
      if (!response.headersSent) response.writeHead(500)
      response.end()
    })
  })
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxBodyBytes })
  server.on('upgrade', (request, stream, head) => {
    const serve = served?.answers.sockets?.[new URL(request.url ?? '/', 'http://localhost').pathname]
    if (serve === undefined) return void stream.end('HTTP/1.1 404 Not Found\r\n\r\n')
    // The socket of a call is signed like a request without a body. The socket of a stream is not signed.
    const signature = request.headers['jambonz-signature']
    if (isOfCall(request) && !isSignedWith(served?.secret ?? '', signature, 'null'))
      return void stream.end('HTTP/1.1 401 Unauthorized\r\n\r\n')
    sockets.handleUpgrade(request, stream, head, (socket) => {
      // A caller who hangs up in the middle of a frame must not cause an error here.
      socket.on('error', () => undefined)
      serve(socket)
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (answers, secret, whyFailed) => void (served = { answers, secret, whyFailed, names: new Map() }),
    async close() {
      server.close()
      server.closeAllConnections()
      for (const socket of sockets.clients) socket.terminate()
      if (server.listening) await once(server, 'close')
    },
  }
}

function isOfCall({ url = '/' }: IncomingMessage): boolean {
  return new URL(url, 'http://localhost').pathname === '/call'
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  served: Served | undefined,
  print: (line: string) => void,
): Promise<void> {
  if (served === undefined) return void response.writeHead(503).end()
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  const page = served.answers.pages?.[`${request.method} ${pathname}`]
  const hook = served.answers.hooks[pathname]
  const body = await readBody(request)
  if (page !== undefined) {
    const {
      status = 200,
      type,
      body: content,
    } = await page({
      contentType: request.headers['content-type'] ?? '',
      body,
    })
    const headers = type.startsWith('text/html') ? pageHeaders(String(content)) : { 'content-type': type }
    return void response.writeHead(status, headers).end(content)
  }
  if (`${request.method} ${pathname}` === 'GET /page.css')
    return void response.writeHead(200, { 'content-type': 'text/css; charset=utf-8' }).end(await pageStyle())
  const isStatus = pathname === '/status'
  if (request.method !== 'POST' || (hook === undefined && !isStatus))
    return void response.writeHead(404).end()
  if (!isSignedWith(served.secret, request.headers['jambonz-signature'], body)) {
    print(`POST ${pathname}: refused, the signature does not match`)
    return void response.writeHead(401).end()
  }
  const payload = JSON.parse(body) as Payload
  if (hook === undefined) {
    print(`${whose(payload, served.names)}: ${text(payload['call_status'])}`)
    response.writeHead(204).end()
    if (payload['call_status'] !== 'failed') return
    const why = await served.whyFailed(text(payload['call_sid']))
    return print(`  ${why ?? `${String(payload['sip_status'])} ${text(payload['sip_reason'])}`}`)
  }
  const verbs = await hook(payload)
  print(
    `${whose(payload, served.names)}: POST ${pathname}, answers ${verbs.map(({ verb }) => verb).join(', ') || 'nothing'}`,
  )
  response.setHeader('Content-Type', 'application/json').end(JSON.stringify(verbs))
}

/** Returns a name for the call that a person recognises, because several calls run at the same time. */
function whose({ call_sid, direction, from, to }: Payload, names: Served['names']): string {
  const id = text(call_sid)
  const known = names.get(id)
  if (known !== undefined || from === undefined) return known ?? `call ${id}`
  const name = direction === 'outbound' ? `call to ${text(to)}` : `call from ${text(from)} to ${text(to)}`
  const [oldest] = names.keys()
  if (names.size >= maxNames && oldest !== undefined) names.delete(oldest)
  names.set(id, name)
  return name
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBodyBytes) throw new Error('the request is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
