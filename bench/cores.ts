// The assignment of processes to the two cores: the measured one on one, the load on the other. If left to the
// scheduler, a load generator of higher priority now and then lands beside the media worker and delays it by tenths of
// a second.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

export const platformCore = 0
export const loadCore = 1

/** Pins all threads of the process, and those that they will start. */
export function pin(pid: number, core: number): void {
  place(pid, String(core))
}

export function unpin(pid: number): void {
  place(pid, `0-${availableParallelism() - 1}`)
}

function place(pid: number, cores: string): void {
  execFileSync('taskset', ['-a', '-c', '-p', cores, String(pid)], { stdio: 'ignore' })
}

/**
 * Gives the session of a detached process the priority of this one's. The kernel divides the share of a session
 * (`autogroup`) by the priorities of its threads. On a machine with other work, phones of the highest priority on the
 * other core would leave almost nothing for the measured process in the same session.
 */
export function giveOwnShare(pid: number): void {
  try {
    const [, nice = '0'] = /nice (-?\d+)/.exec(readFileSync('/proc/self/autogroup', 'utf8')) ?? []
    writeFileSync(`/proc/${pid}/autogroup`, nice)
  } catch {
    // Without groups, or without the right to change them, only the priorities of the threads count.
  }
}
