// A client for the REST API of a platform that runs as its own process.

export interface ApiReply {
  readonly status: number
  readonly headers: Headers
  /** The parsed body; undefined if it is empty or not JSON. */
  readonly body: unknown
  readonly text: string
}

export interface Api {
  call(method: string, path: string, body?: unknown, token?: string | null): Promise<ApiReply>
  /** Calls as `call` does, and fails the test unless the status is 2xx. */
  must<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T>
}

export function createApi(base: string, apiKey: string): Api {
  const call: Api['call'] = async (method, path, body, token = apiKey) => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(45_000),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: jsonOf(text), text }
  }
  return {
    call,
    async must<T>(method: string, path: string, body?: unknown) {
      const reply = await call(method, path, body)
      if (reply.status < 200 || reply.status > 299)
        throw new Error(`${method} ${path} answered ${reply.status}: ${reply.text}`)
      return reply.body as T
    },
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
