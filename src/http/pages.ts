// Pages outside the API, each rendered once, and the clients that get them.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../lib/errors.ts'
import type { HttpPage } from './route.ts'
import { createStaticAnswer, type StaticAnswer } from './static-answer.ts'

/** Reports a browser, which names HTML; programs name JSON, anything or nothing. */
export function wantsPage(accept = ''): boolean {
  return /\btext\/html\b/i.test(accept) && !/\bapplication\/json\b/i.test(accept)
}

const htmlType = 'text/html; charset=utf-8'

export function createPageHandler({ mediaType = htmlType, policy, absent, render }: HttpPage) {
  const made = new Map<string, StaticAnswer>()
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    // Paths are the same in any letter case, and so is what is kept of them: a page is not kept once for each spelling.
    const params = inLowerCase(request.params as Readonly<Record<string, string>>)
    const name = Object.values(params).join('/')
    let answer = made.get(name)
    if (answer === undefined) {
      const text = await render(params)
      // A missing page is not kept, since any number of names can be requested.
      if (text === undefined) {
        if (absent === undefined || !wantsPage(request.headers.accept))
          throw new AppError('no_such_route', 'no such page')
        if (policy !== undefined) reply.header('content-security-policy', policy)
        return reply.code(404).header('vary', 'accept').type(htmlType).send(absent())
      }
      answer = createStaticAnswer(text, mediaType)
      made.set(name, answer)
    }
    if (policy !== undefined) reply.header('content-security-policy', policy)
    return answer.send(request, reply)
  }
}

function inLowerCase(params: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, value.toLowerCase()]))
}
