// Who runs on which of the two cores: what is measured on one, what makes the load on the other. Left to the scheduler, a
// generator of higher priority lands beside the media worker now and then and keeps it waiting for tenths of a second.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
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

/**
 * For a process that was started detached: its session gets the priority of this one's. The kernel divides what a session gets
 * (`autogroup`) by the priorities of its threads: on a machine with other work, phones of the highest one on the other core leave
 * next to nothing for what is measured beside them in one session.
 */
export function giveOwnShare(pid: number): void {
  try {
    const [, nice = '0'] = /nice (-?\d+)/.exec(readFileSync('/proc/self/autogroup', 'utf8')) ?? []
    writeFileSync(`/proc/${pid}/autogroup`, nice)
  } catch {
    // Without groups, or without the right to change them, the priorities of the threads alone count.
  }
}
