import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemTenancy } from '../contracts/caller.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createLogger, type LogLevel } from '../lib/log.ts'
import { createLogLevel } from './log-level.ts'
import { openTestStorage, type TestStorage } from '../../test/support/each-store.ts'
import { until } from '../../test/support/wait.ts'

let test: TestStorage
beforeAll(async () => {
  test = await openTestStorage()
})
afterAll(() => test.close())

const write = async (log_level: 'info' | 'debug'): Promise<void> => {
  const rows = test.storage.for(systemTenancy).system_information
  if (!(await rows.update('default', { log_level })))
    await rows.insert({ system_information_sid: 'default', log_level })
}

describe('the log level', () => {
  it('is debug as soon as an operator has written so, and that of the settings otherwise', async () => {
    const clock = createFakeClock()
    const lines: { level: number; msg: string }[] = []
    const log = createLogger('warn', { write: (line) => void lines.push(JSON.parse(line)) })
    const part = createLogLevel({ storage: test.storage, configured: 'warn', log, clock })
    const becomes = async (level: LogLevel): Promise<void> => {
      clock.advance(5000)
      await until('the level', () => log.level === level)
      // The next look is planned before the clock moves on.
      await until('the next look', () => clock.pending === 1)
    }
    await part.start()
    expect(log.level).toBe('warn')
    await write('debug')
    await becomes('debug')
    log.debug('seen')
    await write('info')
    await becomes('warn')
    log.info('not seen')
    expect(lines.map(({ msg }) => msg)).toEqual(['log level changed', 'seen'])
    await part.stop()
    expect(clock.pending).toBe(0)
  })

  it('is known at the start', async () => {
    await write('debug')
    const log = createLogger('silent')
    const part = createLogLevel({ storage: test.storage, configured: 'info', log, clock: createFakeClock() })
    await part.start()
    await part.stop()
    expect(log.level).toBe('debug')
  })
})
