// The id that ties a response to its log lines: the client's own when it is harmless, else a fresh one.
import type { IncomingMessage } from 'node:http'
import { createSid } from '../lib/ids.ts'

// Nothing that could break a log line, a header or a page that shows it.
const harmless = /^[A-Za-z0-9._:/+=@-]{1,128}$/

export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && harmless.test(given) ? given : createSid()
}
