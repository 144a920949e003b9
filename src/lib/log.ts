// The one structured logger. The message is a constant phrase, the data are fields; secrets are redacted here.
import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino'

export type Logger = Pick<PinoLogger, 'error' | 'warn' | 'info' | 'debug' | 'child' | 'isLevelEnabled'>
/** Its level may be changed while it is in use; `child` loggers keep the one that they were made with. */
export type LeveledLogger = Logger & Pick<PinoLogger, 'level'>
export type LogLevel = 'error' | 'warn' | 'info' | 'debug' | 'silent'

const secretKeys = [
  'password',
  'initial_password',
  'old_password',
  'new_password',
  'token',
  'authorization',
  'webhook_secret',
  'secret',
  'api_key',
  'secret_access_key',
  'service_key',
  'auth_token',
  'client_key',
  'client_secret',
  'stt_api_key',
  'tts_api_key',
  'voice_cloning_key',
]

export function createLogger(level: LogLevel, destination?: DestinationStream): PinoLogger {
  const paths = secretKeys.flatMap((key) => [key, `*.${key}`, `*.*.${key}`])
  const options = { level, base: null, redact: { paths, censor: '[redacted]' } }
  return destination === undefined ? pino(options) : pino(options, destination)
}

export const silentLogger: Logger = createLogger('silent')
