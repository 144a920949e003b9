// The errors of work that is tried again and again while its cause lasts, a full disk for one: the first is logged, then one a
// minute with how many there were, so that the log neither hides what else happens nor fills the disk itself.
import type { Clock } from './clock.ts'
import type { Logger } from './log.ts'

const quietMs = 60_000

export type OutageLog = Pick<Logger, 'error'>

/** Each constant message has a minute of its own. */
export function createOutageLog(
  log: OutageLog,
  clock: Pick<Clock, 'monotonic'>,
): (fields: object, message: string) => void {
  const said = new Map<string, { at: number; unsaid: number }>()
  return (fields, message) => {
    const now = clock.monotonic()
    const last = said.get(message)
    if (last !== undefined && now - last.at < quietMs) {
      last.unsaid += 1
      return
    }
    said.set(message, { at: now, unsaid: 0 })
    log.error(
      { ...fields, ...(last === undefined || last.unsaid === 0 ? {} : { times: last.unsaid + 1 }) },
      message,
    )
  }
}
