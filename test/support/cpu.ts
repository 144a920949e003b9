// The processor time of work: unlike elapsed time, it is the same on a busy machine.
import { readFileSync } from 'node:fs'

/** Returns the processor time of the main thread of a process, in milliseconds; Linux only. */
export function mainThreadMs(pid: number): number {
  const [ranNs] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')
  return Number(ranNs) / 1e6
}

/** Returns the processor time of one run, over all threads of the process, in milliseconds. */
function cpuMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * Returns the processor time of the quickest of up to five runs, in milliseconds, and stops after a run below
 * `enoughMs`. The garbage collector and the compiler slow some runs down, never all of them.
 */
export function quickestMs(work: () => void, enoughMs: number): number {
  let quickest = Infinity
  for (let run = 0; run < 5 && quickest >= enoughMs; run++) quickest = Math.min(quickest, cpuMs(work))
  return quickest
}
