// The difference between the clock of this node and that of the database, which all nodes share. A node whose clock is
// wrong would end the sessions of users, remove rows too early, or keep them too long.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'

export interface ClockWatch {
  /** Asks the database for its time. Rejects if it does not respond. */
  look(): Promise<void>
  /** Returns why nothing may depend on the time of this node, or undefined. */
  refusal(): AppError | undefined
  /** Sets the listener that runs when the clock becomes wrong. */
  onWrong(listener: (reason: AppError) => void): void
}

export interface ClockWatchOptions {
  /** Returns the time of the database in epoch ms. Undefined where the database has no clock of its own. */
  readonly databaseTime: (() => Promise<number>) | undefined
  readonly clock: Clock
  readonly log: Logger
}

const noticedMs = 2000
const wrongMs = 60_000

export function createClockWatch({ databaseTime, clock, log }: ClockWatchOptions): ClockWatch {
  let offMs = 0
  let level: 'fine' | 'noticed' | 'wrong' = 'fine'
  let listener: (reason: AppError) => void = () => undefined

  function refusal(): AppError | undefined {
    if (level !== 'wrong') return undefined
    const way = offMs > 0 ? 'ahead of' : 'behind'
    return new AppError(
      'clock_wrong',
      `the clock of this node is ${Math.round(Math.abs(offMs) / 1000)} s ${way} that of the database`,
    )
  }

  return {
    refusal,
    async look() {
      if (databaseTime === undefined) return
      const before = clock.now()
      const theirs = await databaseTime()
      const [least, most] = [before - theirs, clock.now() - theirs]
      // The response took a while, so the difference lies in between; 0 may be in it.
      offMs = least > 0 ? least : Math.min(0, most)
      const off = Math.abs(offMs)
      const found = off > wrongMs ? 'wrong' : off > noticedMs ? 'noticed' : 'fine'
      if (found === level) return
      level = found
      const reason = refusal()
      if (reason !== undefined) {
        log.error(
          { offMs, code: reason.code, cure: reason.cure },
          'no logins and no removal of expired rows: the clock is wrong',
        )
        listener(reason)
      } else if (found === 'noticed')
        log.warn({ offMs }, 'the clock of this node differs from that of the database')
      else log.info({ offMs }, 'the clock of this node agrees with that of the database')
    },
    onWrong(given) {
      listener = given
    },
  }
}
