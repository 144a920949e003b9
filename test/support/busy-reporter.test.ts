import { availableParallelism } from 'node:os'
import { describe, expect, it } from 'vitest'
import { BusyReporter, busySentence } from './busy-reporter.ts'

const calm = { cores: 2, peakLoad: 4.5, ranMs: 100_000, lateMs: 900, longestLateMs: 300 }

describe('a run with failures', () => {
  it('says that the machine was too busy for its load, or because this process got no time', () => {
    expect(busySentence(calm)).toBeUndefined()
    expect(busySentence({ ...calm, peakLoad: 10.2 })).toBe(
      'This machine was too busy: its load was up to 10.2 on 2 cores, and timers were late for 1 % of the run, up to 0.3 s. Run the files that failed again when it has time for them.',
    )
    expect(busySentence({ ...calm, lateMs: 12_000, longestLateMs: 4100 })).toContain(
      'timers were late for 12 % of the run, up to 4.1 s',
    )
  })

  const printedBy = (load: number, reason: 'passed' | 'failed'): string[] => {
    const printed: string[] = []
    const reporter = new BusyReporter({ load: () => load, print: (line) => void printed.push(line) })
    reporter.onTestRunStart()
    reporter.onTestRunEnd([], [], reason)
    return printed
  }

  it('says so at its end, and a run that passed says nothing', () => {
    const busy = 5 * availableParallelism()
    expect(printedBy(busy, 'failed').join('')).toContain(`its load was up to ${busy}.0`)
    expect(printedBy(busy, 'passed')).toEqual([])
    expect(printedBy(0, 'failed')).toEqual([])
  })
})
