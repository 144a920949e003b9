// Requests for the variables of an application, by OPTIONS to the application.
import { AppError } from '../lib/errors.ts'
import { actingTenant } from '../lib/acting-for.ts'
import { oneStep, type ThreadTime } from '../lib/bounds/thread-time.ts'
import { foreignJson, readJson, UnreadableJson } from '../lib/read-json.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { schemaFault, type AppEnv, type AppEnvSchema, type PublishedEnv } from './app-env.ts'

// A person waits for the response in front of a form.
const answerTimeoutMs = 3000
const totalTimeoutMs = 5000
export interface AppEnvOptions {
  readonly outgoing: Pick<Outgoing, 'request'>
  readonly threadTime: ThreadTime
}

export function createAppEnv({ outgoing, threadTime }: AppEnvOptions): AppEnv {
  return {
    async ask(url, signal) {
      const account = actingTenant()
      if (account !== undefined) await threadTime.turn(account, totalTimeoutMs, signal)
      let answer
      try {
        answer = await outgoing.request({
          url: toHttp(url),
          method: 'OPTIONS',
          headers: { accept: 'application/json' },
          subject: 'the application',
          answerTimeoutMs,
          totalTimeoutMs,
          // Room for long default texts, such as prompts.
          maxBodyBytes: foreignJson.maxLength,
          ...(signal === undefined ? {} : { signal }),
        })
      } catch (error) {
        if (error instanceof AppError && error.code.startsWith('hook_')) return { outcome: 'none' }
        throw error
      }
      if (answer.status < 200 || answer.status > 299) return { outcome: 'none' }
      const { body } = answer
      return await threadTime.inTurn(
        account,
        oneStep(() => toPublished(body)),
        { maxMs: totalTimeoutMs, signal },
      )
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

function toPublished(body: Buffer): PublishedEnv {
  let published: unknown
  try {
    published = readJson(body)
  } catch (error) {
    if (!(error instanceof UnreadableJson)) throw error
    return { outcome: 'none' }
  }
  const fault = schemaFault(published)
  if (fault !== undefined) return { outcome: 'invalid', fault }
  return { outcome: 'schema', schema: published as AppEnvSchema }
}
