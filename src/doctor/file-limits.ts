// The check that the process may open as many files and sockets as the calls that the settings allow may take.
import { readFile } from 'node:fs/promises'
import { bad, note, ok, type Check } from './doctor.ts'
import type { RunningPlatform } from './running-platform.ts'

export interface FileLimitsOptions {
  /** The most calls that the RTP ports allow. */
  readonly maxCalls: number
  readonly platform: () => Promise<RunningPlatform>
}

// One for RTP and one for RTCP.
const socketsOfCall = 2
// Connections of the API, of hooks and of phones over TCP, the database, and threads.
const others = 1000

export function createFileLimitsCheck({ maxCalls, platform }: FileLimitsOptions): Check {
  return {
    name: 'file limits',
    async look() {
      const { pid } = await platform()
      const limit = await limitOf(pid)
      if (limit === undefined)
        return [note('Not checked: this system does not say how many files may be open')]
      const needed = socketsOfCall * maxCalls + others
      const who = pid === undefined ? 'A process started from here' : `The platform (process ${pid})`
      const what = `${who} may open ${limit} files; ${maxCalls} calls and their connections take ${needed}`
      return [
        limit >= needed
          ? ok(what)
          : bad(
              what,
              'Set LimitNOFILE=65536 in the unit of systemd, or run "ulimit -n 65536" before the start.',
            ),
      ]
    },
  }
}

/** Returns the limit in force: Node.js raises the soft limit to the hard one at its start. */
async function limitOf(pid: number | undefined): Promise<number | undefined> {
  try {
    const text = await readFile(`/proc/${pid ?? 'self'}/limits`, 'utf8')
    const [, soft, hard] = /^Max open files +(\S+) +(\S+)/m.exec(text) ?? []
    const limit = pid === undefined ? hard : soft
    return limit === 'unlimited' ? Number.POSITIVE_INFINITY : limit === undefined ? undefined : Number(limit)
  } catch {
    return undefined
  }
}
