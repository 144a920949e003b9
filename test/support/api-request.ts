// Requests to the HTTP server of a test. Each response is checked against the OpenAPI document.
import type { HttpServer } from '../../src/http/http.ts'
import { documented } from './documented.ts'

export interface ApiAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>
  /** The parsed body; undefined if the response has none. */
  readonly body: never
  readonly text: string
  readonly bytes: Buffer
}

export interface ApiRequestOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export type ApiRequester = (
  method: string,
  path: string,
  token?: string,
  options?: ApiRequestOptions,
) => Promise<ApiAnswer>

export function createRequester(http: HttpServer): ApiRequester {
  return async (method, path, token, { body, headers = {} } = {}) => {
    const answer = await http.inject({
      method: method as 'GET',
      url: path.startsWith('//') ? path.slice(1) : `/v1${path}`,
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    })
    const text = answer.body
    const contentType = String(answer.headers['content-type'] ?? 'application/json')
    const isJson = contentType.startsWith('application/json')
    const parsed: unknown = text === '' ? undefined : isJson ? JSON.parse(text) : text
    const observed = { status: answer.statusCode, body: parsed, contentType }
    const fault = path.startsWith('//') ? undefined : documented().faultOf(method, path, observed)
    if (fault !== undefined)
      throw new Error(`${method} ${path} answered what the OpenAPI document does not say: ${fault}\n${text}`)
    return {
      status: answer.statusCode,
      headers: answer.headers as ApiAnswer['headers'],
      text,
      bytes: answer.rawPayload,
      body: parsed as never,
    }
  }
}
