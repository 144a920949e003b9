import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { DigitCollector } from './digit-collector.ts'
import type { Collected, DigitRules } from './digit-collector.ts'

interface Case {
  readonly name: string
  readonly rules?: Partial<DigitRules>
  /** A key, `.` for the end of the prompt, or a number of ms that pass. */
  readonly script: readonly (string | number)[]
  readonly outcome: Collected | undefined
  readonly bargeIns?: number
}

const digits = (pressed: string): Collected => ({ reason: 'digits', digits: pressed })
const timeout: Collected = { reason: 'timeout' }

const cases: readonly Case[] = [
  {
    name: 'numDigits completes',
    rules: { numDigits: 2 },
    script: ['.', '1', '2', '3'],
    outcome: digits('12'),
  },
  {
    name: 'maxDigits completes',
    rules: { maxDigits: 3 },
    script: ['.', '1', '2', '3'],
    outcome: digits('123'),
  },
  {
    name: 'the finish key completes and is left out',
    rules: { finishOnKey: '#' },
    script: ['.', '1', '#'],
    outcome: digits('1'),
  },
  {
    name: 'the finish key alone gives an empty entry',
    rules: { finishOnKey: '#' },
    script: ['.', '#'],
    outcome: digits(''),
  },
  { name: 'silence is a timeout', script: ['.', 15_000], outcome: timeout },
  { name: 'time only counts from the end of the prompt', script: [60_000, '.', 14_999], outcome: undefined },
  { name: 'a digit starts the silence again', script: ['.', 10_000, '1', 10_000], outcome: undefined },
  {
    name: 'digits before a timeout are lost without minDigits',
    script: ['.', '1', 15_000],
    outcome: timeout,
  },
  {
    name: 'enough digits before a timeout count',
    rules: { minDigits: 1 },
    script: ['.', '1', 15_000],
    outcome: digits('1'),
  },
  {
    name: 'too few digits before a timeout are lost',
    rules: { minDigits: 2 },
    script: ['.', '1', 15_000],
    outcome: timeout,
  },
  {
    name: 'minDigits 0 needs a digit all the same',
    rules: { minDigits: 0 },
    script: ['.', 15_000],
    outcome: timeout,
  },
  {
    name: 'a pause between digits completes',
    rules: { interDigitTimeoutMs: 2000 },
    script: ['.', '1', 1999, '2', 2000],
    outcome: digits('12'),
  },
  {
    name: 'the pause counts only once minDigits are there',
    rules: { interDigitTimeoutMs: 2000, minDigits: 2 },
    script: ['.', '1', 3000],
    outcome: undefined,
  },
  {
    name: 'the pause does not run before the first digit',
    rules: { interDigitTimeoutMs: 2000 },
    script: ['.', 3000],
    outcome: undefined,
  },
  { name: 'timeout 0 waits for ever', rules: { timeoutMs: 0 }, script: ['.', 9_000_000], outcome: undefined },
  {
    name: 'a digit stops the prompt',
    rules: { numDigits: 1 },
    script: ['1'],
    outcome: digits('1'),
    bargeIns: 1,
  },
  {
    name: 'without barge-in the prompt is heard to its end first',
    rules: { numDigits: 1, stopsPrompt: false },
    script: ['1', 5000],
    outcome: undefined,
    bargeIns: 0,
  },
  {
    name: 'and then the entry counts',
    rules: { numDigits: 1, stopsPrompt: false },
    script: ['1', '2', '.'],
    outcome: digits('1'),
  },
  {
    name: 'a deaf prompt ignores digits',
    rules: { numDigits: 1, listensDuringPrompt: false },
    script: ['1', '.'],
    outcome: undefined,
    bargeIns: 0,
  },
  {
    name: 'a question without digits only times out',
    rules: { takesDigits: false, numDigits: 1 },
    script: ['.', '1', 15_000],
    outcome: timeout,
  },
]

describe('DigitCollector', () => {
  it.each(cases)('$name', async ({ rules, script, outcome, bargeIns }) => {
    const clock = createFakeClock()
    let count = 0
    const collector = new DigitCollector({
      rules: { takesDigits: true, timeoutMs: 15_000, listensDuringPrompt: true, stopsPrompt: true, ...rules },
      clock,
      onBargeIn: () => count++,
    })
    for (const step of script) {
      if (typeof step === 'number') clock.advance(step)
      else if (step === '.') collector.promptEnded()
      else collector.press(step)
    }
    const undecided = Promise.resolve(undefined)
    expect(await Promise.race([collector.outcome, undecided.then(() => undefined)])).toEqual(outcome)
    if (bargeIns !== undefined) expect(count).toBe(bargeIns)
    collector.stop()
    expect(clock.pending).toBe(0)
  })
})
