// The log of errors in work that is retried while their cause, such as a full disk, lasts. The first error is logged,
// then one a minute with the number since then, so that the log neither hides other events nor fills the disk itself.
import type { Clock } from './clock.ts'
import type { Logger } from './log.ts'

const quietMs = 60_000

export type OutageLog = Pick<Logger, 'error'>

/** Gives each constant message a minute of its own. */
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
