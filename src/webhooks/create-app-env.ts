// Requests for the variables of an application, by OPTIONS to the application.
import { AppError } from '../lib/errors.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { schemaFault } from './app-env.ts'
import type { AppEnv, AppEnvSchema } from './app-env.ts'

// A person waits for the response in front of a form.
const answerTimeoutMs = 3000
const totalTimeoutMs = 5000
// Room for long default texts, such as prompts.
const maxBodyBytes = 262_144

export function createAppEnv({ outgoing }: { readonly outgoing: Pick<Outgoing, 'request'> }): AppEnv {
  return {
    async ask(url, signal) {
      let answer
      try {
        answer = await outgoing.request({
          url: toHttp(url),
          method: 'OPTIONS',
          headers: { accept: 'application/json' },
          subject: 'the application',
          answerTimeoutMs,
          totalTimeoutMs,
          maxBodyBytes,
          ...(signal === undefined ? {} : { signal }),
        })
      } catch (error) {
        if (error instanceof AppError && error.code.startsWith('hook_')) return { outcome: 'none' }
        throw error
      }
      if (answer.status < 200 || answer.status > 299) return { outcome: 'none' }
      const published = parseJson(answer.body)
      if (published === undefined) return { outcome: 'none' }
      const fault = schemaFault(published)
      if (fault !== undefined) return { outcome: 'invalid', fault }
      return { outcome: 'schema', schema: published as AppEnvSchema }
    },
  }
}

/** Returns the URL over HTTP: a WebSocket application responds to OPTIONS at the same address. */
function toHttp(text: string): string {
  const url = new URL(text)
  if (url.protocol === 'ws:') url.protocol = 'http:'
  if (url.protocol === 'wss:') url.protocol = 'https:'
  url.hash = ''
  return url.href
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
