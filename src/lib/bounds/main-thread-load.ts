// The share of its time that the main thread works.
import { performance } from 'node:perf_hooks'

/** Returns the load since the last call, from 0 to 1. Waiting for a processor counts as work. */
export function createMainThreadLoad(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const current = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(current, last)
    last = current
    return utilization
  }
}
