// A scripted application server: responds to hooks as the test says, well or badly, and records every request.
import http, { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Inbox } from './wait.ts'

export interface HookCall {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly raw: string
  /** The parsed body; undefined if it is not JSON. */
  readonly body: Record<string, unknown>
  readonly at: number
}

export type Answer =
  /** A JSON document, normally an array of verbs. */
  | { readonly json: unknown }
  | {
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string | Buffer
    }
  /** Reads the request and never responds. */
  | 'hang'
  /** Resets the connection. */
  | 'reset'
  /** A JSON array of 10 MB. */
  | 'huge'

export type Script = Answer | ((request: HookCall) => Answer | Promise<Answer>)

export interface Application {
  readonly origin: string
  url(path: string): string
  readonly requests: Inbox<HookCall>
  /** Sets the answer of `path` from now on. A path without a script responds with 404. */
  on(path: string, script: Script): void
  /** Returns the requests to `path` so far, in order of arrival. */
  to(path: string): HookCall[]
  close(): Promise<void>
}

export async function startApplication(): Promise<Application> {
  const requests = new Inbox<HookCall>()
  const scripts = new Map<string, Script>()
  const server = http.createServer((incoming, response) => {
    void serve(incoming, response, scripts, requests).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  return {
    origin,
    url: (path) => `${origin}${path}`,
    requests,
    on: (path, script) => void scripts.set(path, script),
    to: (path) => requests.items.filter((request) => request.path === path),
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

async function serve(
  incoming: IncomingMessage,
  response: ServerResponse,
  scripts: ReadonlyMap<string, Script>,
  requests: Inbox<HookCall>,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const raw = Buffer.concat(chunks).toString('utf8')
  const { pathname: path, searchParams: query } = new URL(incoming.url ?? '/', 'http://app.test')
  // The platform requests an application's variables by OPTIONS (spec "AppEnv"). This server has none; it is not a
  // hook.
  if (incoming.method === 'OPTIONS') {
    answer({ status: 404 }, response)
    return
  }
  const request: HookCall = {
    method: incoming.method ?? '',
    path,
    query,
    headers: incoming.headers,
    raw,
    body: parsed(raw),
    at: Date.now(),
  }
  requests.push(request)
  const script = scripts.get(path) ?? { status: 404 }
  answer(typeof script === 'function' ? await script(request) : script, response)
}

function answer(what: Answer, response: ServerResponse): void {
  if (what === 'hang') return
  if (what === 'reset') {
    response.destroy()
    return
  }
  if (what === 'huge') {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify([{ verb: 'say', text: 'x'.repeat(10 * 1024 * 1024) }]))
    return
  }
  if ('json' in what) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(what.json))
    return
  }
  response.writeHead(what.status, what.headers)
  response.end(what.body)
}

function parsed(raw: string): Record<string, unknown> {
  try {
    return JSON.parse(raw) as Record<string, unknown>
  } catch {
    return {}
  }
}
