// The id that ties a response to its log lines: the client's own if it is harmless, otherwise a new one.
import type { IncomingMessage } from 'node:http'
import { createSid } from '../lib/ids.ts'

// Excludes characters that could break a log line, a header or a page that shows the id.
const harmless = /^[A-Za-z0-9._:/+=@-]{1,128}$/

export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && harmless.test(given) ? given : createSid()
}
