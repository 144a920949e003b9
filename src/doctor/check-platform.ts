// The check that the platform runs, and is well.
import { bad, note, ok, type Check, type Finding } from './doctor.ts'
import type { RunningPlatform } from './running-platform.ts'

export function createPlatformCheck(platform: () => Promise<RunningPlatform>): Check {
  return {
    name: 'platform',
    look: async () => [findingOn(await platform())],
  }
}

function findingOn({ health, pid }: RunningPlatform): Finding {
  const who = pid === undefined ? 'The platform' : `The platform (process ${pid})`
  switch (health) {
    case 'ok':
      return ok(`${who} runs and is well`)
    case 'starting':
    case 'stopping':
      return note(`${who} is ${health}: it takes no calls`, 'Run the doctor again in a minute.')
    case 'database_unavailable':
      return bad(`${who} runs and cannot write to its database`, 'See the lines of database and disk.')
    case 'disk_full':
      return bad(
        `${who} runs and refuses calls and changes: its disk is full`,
        'See the line of disk, and make room.',
      )
    case 'clock_wrong':
      return bad(
        `${who} runs and refuses logins: its clock differs from that of the database`,
        'See the line of clock.',
      )
    case 'foreign':
    case 'none':
      return pid === undefined
        ? note('The platform does not run')
        : bad(
            `Process ${pid} has the data directory, and /health of it does not respond`,
            'It hangs, is just starting, or has other settings: see its log, and start it again.',
          )
  }
}
