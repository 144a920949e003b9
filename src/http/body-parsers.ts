// Which body is read how, by its content type.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../lib/errors.ts'
import { parseFormBody, parseJsonBody, parseMultipartBody } from './parse-body.ts'

export function addBodyParsers(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  const add = (contentType: string, parse: (text: string) => unknown): void =>
    server.addContentTypeParser<string>(
      contentType,
      { parseAs: 'string' },
      // A body on DELETE has no meaning (RFC 9110 §9.3.5), and clients send one.
      async (request: FastifyRequest, text: string) => {
        if (request.method === 'DELETE') return
        refuseEncoding(request, text)
        return parse(text)
      },
    )
  add('application/x-www-form-urlencoded', parseFormBody)
  server.addContentTypeParser<Buffer>(
    'multipart/form-data',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      if (request.method === 'DELETE') return
      refuseEncoding(request, '')
      return parseMultipartBody(bytes, request.headers['content-type'])
    },
  )
  // Everything else, under whatever name it comes, is JSON or empty.
  add('*', parseJsonBody)
}

/** `text` was read as UTF-8, whatever the headers say that it is. */
function refuseEncoding({ headers }: FastifyRequest, text: string): void {
  const encoding = headers['content-encoding']?.trim() ?? ''
  if (!/^(identity)?$/i.test(encoding)) throw refusal('a compressed body is not read')
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8'
  // Some clients name ISO-8859-1 with each request: what is ASCII reads the same.
  if (!/^utf-?8$/i.test(charset) && !isAscii(text)) throw refusal('the body is in another charset than UTF-8')
}

function refusal(message: string): AppError {
  return new AppError('encoding_not_supported', message)
}

/** UTF-16 has zeros. */
function isAscii(text: string): boolean {
  return /^\p{ASCII}*$/u.test(text) && !text.includes('\0')
}
