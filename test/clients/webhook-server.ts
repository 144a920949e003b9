// A web server as an application of the public client libraries runs it: Express-style middleware, JSON bodies, routes.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listenLocally, type LocalServer } from '../support/local-http.ts'
import { Inbox } from '../support/wait.ts'

export interface WebhookRequest extends IncomingMessage {
  body: Record<string, unknown>
  get(name: string): string | undefined
}

export interface WebhookReply extends ServerResponse {
  json(body: unknown): void
}

export type Middleware = (
  request: WebhookRequest,
  reply: WebhookReply,
  next: (error?: Error) => void,
) => unknown

/** A route. It resolves with the answer to the hook: verbs, or nothing. */
export type Route = (body: Record<string, unknown>, request: WebhookRequest) => unknown

export class WebhookServer {
  readonly #middleware: Middleware[] = []
  readonly #routes = new Map<string, Route>()
  /** The bodies that passed every middleware, with the path they came to. */
  readonly taken = new Inbox<{ readonly path: string; readonly body: Record<string, unknown> }>()
  /** The messages of the middleware that refused a request. */
  readonly refused = new Inbox<string>()
  #listening: LocalServer | undefined

  async start(): Promise<void> {
    const server = createServer((request, response) => void this.#serve(request, response))
    this.#listening = await listenLocally(server)
  }

  use(middleware: Middleware): void {
    this.#middleware.push(middleware)
  }

  on(path: string, route: Route): void {
    this.#routes.set(path, route)
  }

  url(path: string): string {
    return `${this.#listening?.url}${path}`
  }

  hook(path: string): { url: string; method: 'POST' } {
    return { url: this.url(path), method: 'POST' }
  }

  /** Resolves with the first body at this path for which `holds` is true. */
  async body(
    path: string,
    holds: (body: Record<string, unknown>) => boolean = () => true,
  ): Promise<Record<string, unknown>> {
    const { body } = await this.taken.next(
      `a request to ${path}`,
      (one) => one.path === path && holds(one.body),
    )
    return body
  }

  async close(): Promise<void> {
    await this.#listening?.close()
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString('utf8')
    const request = Object.assign(incoming, {
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      get: (name: string) => incoming.headers[name.toLowerCase()] as string | undefined,
    })
    const json = (body: unknown): void => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body ?? []))
    }
    const reply = Object.assign(response, { json })
    try {
      for (const middleware of this.#middleware) {
        await new Promise<void>((resolve, reject) => {
          response.once('finish', () => resolve())
          middleware(request, reply, (error) => (error === undefined ? resolve() : reject(error)))
        })
        if (response.writableEnded) return
      }
    } catch (error) {
      this.refused.push(String(error))
      response.writeHead(500).end()
      return
    }
    const path = new URL(request.url ?? '/', 'http://app.test').pathname
    const route = this.#routes.get(path)
    if (route === undefined) {
      response.writeHead(404).end()
      return
    }
    const answer = await route(request.body, request)
    this.taken.push({ path, body: request.body })
    json(answer)
  }
}
