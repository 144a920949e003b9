// The choice of a body parser by the content type.
import { isAscii, isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../lib/errors.ts'
import { parseFormBody, parseJsonBody, parseMultipartBody } from './parse-body.ts'

export function addBodyParsers(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  const add = (contentType: string, parse: BodyParser): void =>
    server.addContentTypeParser<Buffer>(
      contentType,
      { parseAs: 'buffer' },
      // A body on DELETE has no meaning (RFC 9110 §9.3.5), but some clients send one.
      async (request: FastifyRequest, bytes: Buffer) => {
        if (request.method === 'DELETE') return
        refuseEncoding(request, bytes)
        return parse(bytes, request.headers['content-type'])
      },
    )
  add('application/x-www-form-urlencoded', (bytes) => parseFormBody(textOf(bytes)))
  add('multipart/form-data', parseMultipartBody)
  // Every other content type is parsed as JSON, or is an empty body.
  add('*', (bytes) => parseJsonBody(textOf(bytes)))
}

type BodyParser = (bytes: Buffer, contentType: string | undefined) => unknown

/** Refuses other encodings: bodies are read as UTF-8, whatever their headers say. */
function refuseEncoding({ headers }: FastifyRequest, bytes: Buffer): void {
  const encoding = headers['content-encoding']?.trim() ?? ''
  if (!/^(identity)?$/i.test(encoding)) throw refusal('a compressed body is not read')
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8'
  // Some clients name ISO-8859-1 in every request; ASCII is the same in it. UTF-16 has zero bytes.
  const isUnderstood = /^utf-?8$/i.test(charset) || (isAscii(bytes) && !bytes.includes(0))
  if (!isUnderstood) throw refusal('the body is in another charset than UTF-8')
  if (!isUtf8(bytes)) throw new AppError('malformed_body', 'the body is not valid UTF-8')
}

function refusal(message: string): AppError {
  return new AppError('encoding_not_supported', message)
}

/** Returns the text without the byte order mark that some editors and libraries put first (RFC 8259 §8.1). */
function textOf(bytes: Buffer): string {
  const text = bytes.toString()
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}
