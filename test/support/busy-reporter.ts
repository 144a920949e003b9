// Says at the end of a run with failures whether the machine was too busy for it: a failure may then be that of time.
import { availableParallelism, loadavg } from 'node:os'
import type { Reporter, TestRunEndReason } from 'vitest/node'

const everyMs = 200
/** The load of a run alone is up to two for each core. */
const busyLoadOfCore = 4
/** The share of the run in which the event loop of this process was late. */
const busyShare = 0.05

export interface Pressure {
  readonly cores: number
  /** The highest load average of a minute. */
  readonly peakLoad: number
  readonly ranMs: number
  /** The time by which the timers of this process were late: all of it, and the longest once. */
  readonly lateMs: number
  readonly longestLateMs: number
}

/** Returns undefined if the machine had time for the tests. */
export function busySentence(pressure: Pressure): string | undefined {
  const { cores, peakLoad, ranMs, lateMs, longestLateMs } = pressure
  if (peakLoad < busyLoadOfCore * cores && lateMs < busyShare * ranMs) return undefined
  const share = Math.round((100 * lateMs) / Math.max(1, ranMs))
  return (
    `This machine was too busy: its load was up to ${peakLoad.toFixed(1)} on ${cores} core${cores === 1 ? '' : 's'}, and timers were late ` +
    `for ${share} % of the run, up to ${(longestLateMs / 1000).toFixed(1)} s. Run the files that failed again when it has time for them.`
  )
}

export interface BusyReporterOptions {
  readonly load?: () => number
  readonly print?: (line: string) => void
}

export class BusyReporter implements Reporter {
  readonly #load: () => number
  readonly #print: (line: string) => void
  #timer: NodeJS.Timeout | undefined
  #startedMs = 0
  #lastMs = 0
  #pressure = { peakLoad: 0, lateMs: 0, longestLateMs: 0 }

  constructor({
    load = () => loadavg()[0] ?? 0,
    print = (line) => process.stderr.write(`${line}\n`),
  }: BusyReporterOptions = {}) {
    this.#load = load
    this.#print = print
  }

  onTestRunStart(): void {
    clearInterval(this.#timer)
    this.#startedMs = this.#lastMs = performance.now()
    this.#pressure = { peakLoad: 0, lateMs: 0, longestLateMs: 0 }
    this.#timer = setInterval(() => this.#look(), everyMs)
    this.#timer.unref()
  }

  onTestRunEnd(_modules: unknown, errors: readonly unknown[], reason: TestRunEndReason): void {
    this.#look()
    clearInterval(this.#timer)
    if (reason === 'passed' && errors.length === 0) return
    const sentence = busySentence({
      ...this.#pressure,
      cores: availableParallelism(),
      ranMs: performance.now() - this.#startedMs,
    })
    if (sentence !== undefined) this.#print(`\n${sentence}\n`)
  }

  #look(): void {
    const nowMs = performance.now()
    const lateMs = Math.max(0, nowMs - this.#lastMs - everyMs)
    this.#lastMs = nowMs
    const { peakLoad, lateMs: all, longestLateMs } = this.#pressure
    this.#pressure = {
      peakLoad: Math.max(peakLoad, this.#load()),
      lateMs: all + lateMs,
      longestLateMs: Math.max(longestLateMs, lateMs),
    }
  }
}
