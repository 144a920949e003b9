import { expect, it } from 'vitest'
import { HoldUps } from './hold-ups.ts'
import { until } from './wait.ts'

it('ranMs leaves out the time during which the process was held up, and nothing else', async () => {
  const holdUps = new HoldUps()
  const fromMs = performance.now()
  while (performance.now() < fromMs + 500);
  expect(holdUps.ranMs(fromMs)).toBeLessThan(200)
  const nextMs = performance.now()
  await until('time in which it ran to count', () => holdUps.ranMs(nextMs) > 300)
  holdUps.close()
})
