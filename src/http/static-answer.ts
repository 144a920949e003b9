// Responses that are the same for every client until the next start: made once, compressed once, and not sent again to
// a client that has them.
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

interface Form {
  readonly bytes: Buffer
  /** RFC 9110 §8.8.3.3: a coding makes another representation, with a tag of its own. */
  readonly etag: string
}

type Coding = 'br' | 'gzip'

export interface StaticAnswer {
  send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>
}

// Compressed once, in the pool of threads. Level 11 would take many times as long for a tenth fewer bytes.
const brotliQuality = 9
const toBrotli = promisify(brotliCompress)
const toGzip = promisify(gzip)

/** `mediaType` includes the charset. */
export function createStaticAnswer(text: string, mediaType: string): StaticAnswer {
  const bytes = Buffer.from(text)
  const tag = hash('sha256', bytes, 'base64url').slice(0, 22)
  const plain: Form = { bytes, etag: `"${tag}"` }
  const coded = new Map<Coding, Promise<Form>>()

  function formIn(coding: Coding | undefined): Promise<Form> {
    if (coding === undefined) return Promise.resolve(plain)
    const known = coded.get(coding)
    if (known !== undefined) return known
    const made = compress(bytes, coding).then((result) => ({ bytes: result, etag: `"${tag}.${coding}"` }))
    coded.set(coding, made)
    return made
  }

  return {
    async send({ headers }, reply) {
      const coding = codingOf(headers['accept-encoding'])
      const form = await formIn(coding)
      const vary = [reply.getHeader('vary'), 'accept-encoding'].filter(Boolean).join(', ')
      reply.headers({ etag: form.etag, vary, 'cache-control': 'no-cache' })
      if (isSeen(headers['if-none-match'], form.etag)) return reply.code(304).send()
      if (coding !== undefined) reply.header('content-encoding', coding)
      return reply.type(mediaType).send(form.bytes)
    },
  }
}

function compress(bytes: Buffer, coding: Coding): Promise<Buffer> {
  if (coding === 'gzip') return toGzip(bytes)
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants
  return toBrotli(bytes, {
    params: { [BROTLI_PARAM_QUALITY]: brotliQuality, [BROTLI_PARAM_SIZE_HINT]: bytes.byteLength },
  })
}

/** Returns the smallest coding that the client accepts, undefined if it names none: RFC 9110 §12.5.3. */
function codingOf(header: string | string[] | undefined): Coding | undefined {
  const weights = new Map<string, number>()
  for (const part of String(header ?? '')
    .toLowerCase()
    .split(',')) {
    const [name = '', ...parameters] = part.split(';').map((word) => word.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)))
  }
  return (['br', 'gzip'] as const).find((coding) => (weights.get(coding) ?? weights.get('*') ?? 0) > 0)
}

/** Compares weakly, RFC 9110 §13.1.2. Our tags have no commas. */
function isSeen(header: string | undefined, etag: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return tags.includes(etag) || tags.includes('*')
}
