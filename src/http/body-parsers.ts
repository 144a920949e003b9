// Which body is read how, by its content type.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseFormBody, parseJsonBody, parseMultipartBody } from './parse-body.ts'

export function addBodyParsers(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  const add = (contentType: string, parse: (text: string) => unknown): void =>
    server.addContentTypeParser<string>(
      contentType,
      { parseAs: 'string' },
      // A body on DELETE has no meaning (RFC 9110 §9.3.5), and clients send one.
      async (request: FastifyRequest, text: string) =>
        request.method === 'DELETE' ? undefined : parse(text),
    )
  add('application/x-www-form-urlencoded', parseFormBody)
  server.addContentTypeParser<Buffer>(
    'multipart/form-data',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) =>
      request.method === 'DELETE' ? undefined : parseMultipartBody(bytes, request.headers['content-type']),
  )
  // Everything else, under whatever name it comes, is JSON or empty.
  add('*', parseJsonBody)
}
