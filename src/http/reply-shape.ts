// The serialisation of the value that a handler returns.
import type { FastifyReply } from 'fastify'
import { jsonType } from './response-headers.ts'
import type { HttpRoute } from './route.ts'

/** Writes replies by the schema of the route, compiled for the first one: a start would pay for every route. */
export function createReplyShape({ status, mediaType, replySchema }: HttpRoute) {
  if (replySchema === undefined) return undefined
  const schema: Record<string, unknown> = { ...replySchema }
  let write: ReturnType<FastifyReply['compileSerializationSchema']> | undefined
  return (reply: FastifyReply): void => {
    if (mediaType === undefined) reply.type(jsonType)
    reply.serializer((body: string | Record<string, unknown>) => {
      if (typeof body === 'string') return body
      if (reply.statusCode !== status) return JSON.stringify(body)
      write ??= reply.compileSerializationSchema(schema)
      return write(body)
    })
  }
}
