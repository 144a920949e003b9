// Who runs on which of the two cores: what is measured on one, what makes the load on the other. Left to the scheduler, a
// generator of higher priority lands beside the media worker now and then and keeps it waiting for tenths of a second.
import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

export const platformCore = 0
export const loadCore = 1

/** All threads of the process, and those that they start. */
export function pin(pid: number, core: number): void {
  place(pid, String(core))
}

export function unpin(pid: number): void {
  place(pid, `0-${availableParallelism() - 1}`)
}

function place(pid: number, cores: string): void {
  execFileSync('taskset', ['-a', '-c', '-p', cores, String(pid)], { stdio: 'ignore' })
}
