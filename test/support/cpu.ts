// What work costs the processor, which a busy machine does not change, unlike the time it takes.

/** Processor time of one run, of all threads of the process, in milliseconds. */
function cpuMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * Processor time of the quickest of up to five runs, in milliseconds; no further run is made once one stays below
 * `enoughMs`. The garbage collector and the compiler make some runs dear, never all of them.
 */
export function quickestMs(work: () => void, enoughMs: number): number {
  let quickest = Infinity
  for (let run = 0; run < 5 && quickest >= enoughMs; run++) quickest = Math.min(quickest, cpuMs(work))
  return quickest
}
