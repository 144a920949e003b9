// The log level, which follows SystemInformation: an operator can switch debug on for all running nodes.
import { systemTenancy } from '../contracts/caller.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { LeveledLogger, LogLevel } from '../lib/log.ts'
import type { Storage } from '../storage/storage.ts'

export interface LogLevelOptions {
  readonly storage: Pick<Storage, 'for'>
  /** The level of the settings. `debug` in SystemInformation overrides it. */
  readonly configured: LogLevel
  readonly log: LeveledLogger
  readonly clock: Clock
}

// The change may have been made through another node, so storage is read periodically.
const lookEveryMs = 5000

export function createLogLevel({ storage, configured, log, clock }: LogLevelOptions): Part {
  let timer: Timer | undefined
  let isStopped = false

  async function look(): Promise<void> {
    try {
      const [stored] = await storage.for(systemTenancy).system_information.list({ limit: 1 })
      const level = stored?.log_level === 'debug' ? 'debug' : configured
      if (level !== log.level) {
        log.level = level
        log.info({ log_level: level }, 'log level changed')
      }
    } catch (error) {
      log.warn({ err: error }, 'log level cannot be read')
    }
    if (!isStopped) timer = clock.after(lookEveryMs, () => void look())
  }

  return {
    name: 'log level',
    start: look,
    async stop() {
      isStopped = true
      timer?.cancel()
    },
  }
}
