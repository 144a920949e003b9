// The processor time of work: unlike elapsed time, it is the same on a busy machine.

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
