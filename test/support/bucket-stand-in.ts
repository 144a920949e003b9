// The common part of the stand-ins for bucket vendors, on loopback. Each checks its requests independently against the
// vendor's documentation, keeps objects in memory and responds as documented, failures included.
import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { serveLocally, type LocalServer } from './local-http.ts'
import { Inbox } from './wait.ts'

export interface BucketRequest {
  readonly method: string
  readonly url: URL
  /** The path as it was sent, for signatures. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface KeptObject {
  readonly contentType: string | undefined
  readonly bytes: Buffer
  readonly tags: Readonly<Record<string, string>>
}

export interface BucketStandIn extends LocalServer {
  /** The objects by `bucket/key`. The only bucket is `recordings`. */
  readonly objects: Map<string, KeptObject>
  readonly received: BucketRequest[]
  /** One entry for each response that was sent completely or whose connection was cut. */
  readonly answered: Inbox<'sent' | 'cut'>
  /** Responds instead of the vendor; the test that sets it clears it. */
  instead: ((request: BucketRequest, response: ServerResponse) => boolean) | undefined
}

type Answer = (request: BucketRequest, response: ServerResponse, objects: BucketStandIn['objects']) => unknown

export const bucket = 'recordings'

export async function serveVendor(answer: Answer): Promise<BucketStandIn> {
  const objects: BucketStandIn['objects'] = new Map()
  const received: BucketRequest[] = []
  const answered = new Inbox<'sent' | 'cut'>()
  const server = await serveLocally((incoming, response) => {
    const chunks: Buffer[] = []
    response.on('close', () => answered.push(response.writableFinished ? 'sent' : 'cut'))
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const { method = '', headers, url: path = '' } = incoming
      const url = new URL(path, 'http://storage.invalid')
      const request = { method, url, path: path.replace(/\?.*$/, ''), headers, body: Buffer.concat(chunks) }
      received.push(request)
      if (storage.instead?.(request, response) !== true) void answer(request, response, objects)
    })
  })
  const storage: BucketStandIn = { ...server, objects, received, answered, instead: undefined }
  return storage
}

export function sendXml(response: ServerResponse, status: number, code: string, message: string): void {
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`
  response.writeHead(status, { 'content-type': 'application/xml' }).end(xml)
}

/** Sends the object, or the requested range of it (RFC 9110 §14.2). */
export function sendObject(
  response: ServerResponse,
  { bytes, contentType }: KeptObject,
  range?: string,
): void {
  const [, first = '', last = ''] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? []
  if (first !== '') {
    if (Number(first) >= bytes.length)
      return void response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end()
    const part = bytes.subarray(Number(first), last === '' ? bytes.length : Number(last) + 1)
    const shown = `bytes ${first}-${Number(first) + part.length - 1}/${bytes.length}`
    const headers = { 'content-range': shown, 'content-length': part.length }
    return void response.writeHead(206, { 'content-type': contentType ?? '', ...headers }).end(part)
  }
  response
    .writeHead(200, { 'content-type': contentType ?? 'binary/octet-stream', 'content-length': bytes.length })
    .end(bytes)
}

export const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()
