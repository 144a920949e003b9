import { expect, it } from 'vitest'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createOutageLog } from './outage-log.ts'

it('the failures of an outage are logged at first, and then once a minute with how many there were', () => {
  const clock = createFakeClock()
  const lines: unknown[] = []
  const fail = createOutageLog({ error: (...line: unknown[]) => void lines.push(line) }, clock)
  for (let tries = 0; tries < 240; tries += 1) {
    fail({ waiting: tries }, 'not written')
    clock.advance(500)
  }
  fail({}, 'not read')
  expect(lines).toEqual([
    [{ waiting: 0 }, 'not written'],
    [{ waiting: 120, times: 120 }, 'not written'],
    [{}, 'not read'],
  ])
})
