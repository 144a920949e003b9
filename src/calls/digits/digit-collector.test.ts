import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { DigitCollector, type Collected, type DigitRules } from './digit-collector.ts'

interface Case {
  readonly name: string
  readonly rules?: Partial<DigitRules>
  /** A key, `.` for the end of the prompt, or a number of ms that pass. */
  readonly script: readonly (string | number)[]
  readonly outcome: Collected | undefined
  readonly bargeIns?: number
}

const digits = (pressed: string): Collected => ({ reason: 'digits', digits: pressed })
const timeout: Collected = { reason: 'timeout', digits: '' }
const tooFew = (pressed: string): Collected => ({ reason: 'timeout', digits: pressed })

type ShortTimeout = readonly [
  string,
  Partial<DigitRules> & { readonly wasPrompted?: boolean },
  readonly (string | number)[],
  string,
]

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
    name: 'one digit before a timeout is an entry, as minDigits is 1 by default',
    script: ['.', '1', 15_000],
    outcome: digits('1'),
  },
  {
    name: 'enough digits before a timeout count',
    rules: { minDigits: 2 },
    script: ['.', '1', '2', 15_000],
    outcome: digits('12'),
  },
  {
    name: 'too few digits before a timeout are no entry, and are kept',
    rules: { minDigits: 2 },
    script: ['.', '1', 15_000],
    outcome: tooFew('1'),
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
    name: 'the pause ends the question with too few digits, and keeps them',
    rules: { interDigitTimeoutMs: 2000, minDigits: 2 },
    script: ['.', '1', 2000],
    outcome: tooFew('1'),
  },
  ...(
    [
      ['finishOnKey', { finishOnKey: '#' }, ['1', 3000, '2', 300, '#'], '12'],
      [
        'minDigits that are not there yet',
        { minDigits: 4, finishOnKey: '#' },
        ['1', 3000, '2', 3000, '3', '4', '#'],
        '1234',
      ],
      ['minDigits that are there', { minDigits: 2 }, ['1', '2', 5999, '3', 6000], '123'],
      ['numDigits', { numDigits: 3 }, ['1', 3000, '2', 3000, '3'], '123'],
      [
        'a prompt that the first key stops',
        { finishOnKey: '#', wasPrompted: true },
        ['1', '.', 5999, '2', '#'],
        '12',
      ],
    ] satisfies readonly ShortTimeout[]
  ).map(([name, { wasPrompted = false, ...rules }, script, pressed]: ShortTimeout): Case => ({
    name: `from the first digit on a longer pause decides alone, with ${name}`,
    rules: { timeoutMs: 2000, interDigitTimeoutMs: 6000, ...rules },
    script: wasPrompted ? script : ['.', ...script],
    outcome: digits(pressed),
  })),
  {
    name: 'before the first digit the timeout decides, however long the pause may be',
    rules: { timeoutMs: 2000, interDigitTimeoutMs: 6000 },
    script: ['.', 2000],
    outcome: timeout,
  },
  {
    name: 'the pause ends a question that has no timeout',
    rules: { timeoutMs: 0, interDigitTimeoutMs: 6000 },
    script: ['.', 60_000, '1', 6000],
    outcome: digits('1'),
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
