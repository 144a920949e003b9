// Settings of the process: how it logs and stops.
import type { LogLevel } from '../lib/log.ts'
import { count, type Setting } from './setting.ts'

export const processSettings = {
  logLevel: {
    name: 'SWITCHHOOK_LOG_LEVEL',
    fallback: 'info',
    describe: 'error, warn, info, debug or silent.',
    parse: (text) => {
      const level = (['error', 'warn', 'info', 'debug', 'silent'] as const).find((known) => known === text)
      if (level === undefined) throw new Error('must be error, warn, info, debug or silent')
      return level
    },
  } satisfies Setting<LogLevel>,
  drainSeconds: count(
    'SWITCHHOOK_DRAIN_SECONDS',
    '3600',
    'How long SIGTERM waits for running calls before it hangs them up.',
    0,
  ),
  isProduction: {
    name: 'NODE_ENV',
    fallback: '',
    describe:
      'production closes the loopback exception of SWITCHHOOK_WEBHOOK_ALLOW, and refuses the secrets that the documentation shows.',
    parse: (text) => text === 'production',
  } satisfies Setting<boolean>,
}
