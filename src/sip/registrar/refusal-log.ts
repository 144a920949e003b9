// Log messages about refused registrations: the phone itself may show no more than that it is offline.
import type { Clock } from '../../lib/clock.ts'
import { entryOf, type ErrorCode } from '../../lib/errors.ts'
import { createLogBounds } from '../../lib/log-bounds.ts'
import type { Logger } from '../../lib/log.ts'
import { headerOf, type SipRequest } from '../message/message.ts'
import { parseNameAddr } from '../message/name-addr.ts'
import type { Remote } from '../transport/transports.ts'
import type { Reply } from '../message/reply.ts'

const maxUserChars = 128

export type RefusalLog = (request: SipRequest, remote: Remote, reply: Reply) => void

/**
 * Returns the function to call for each response to a REGISTER. It skips challenges, and 423, which phones handle by
 * themselves.
 */
export function createRefusalLog({
  clock,
  log,
}: {
  readonly clock: Clock
  readonly log: Pick<Logger, 'info'>
}): RefusalLog {
  const mayLog = createLogBounds(clock)
  return (request, { address }, { status, headers = [] }) => {
    if (status < 400 || status === 401 || status === 423) return
    const said = (name: string): string | undefined => headers.find((header) => header.name === name)?.value
    const code = said('x-reason-code') as ErrorCode | undefined
    if (code === undefined) return
    const user = parseNameAddr(headerOf(request, 'to') ?? '').uri.slice(0, maxUserChars)
    if (!mayLog(code, `${address} ${user}`)) return
    const { cure } = entryOf(code)
    log.info(
      { code, sentence: said('x-reason'), cure, remote: address, user, status },
      'registration refused',
    )
  }
}
