// The check of what confines the process that carries the media of browsers: its user, and a filter of system calls.
import { readFile } from 'node:fs/promises'
import { bad, note, ok, type Check, type Finding } from './doctor.ts'
import type { RunningPlatform } from './running-platform.ts'

export interface ConfinementOptions {
  readonly browserUser: { readonly uid: number; readonly gid: number } | undefined
  readonly platform: () => Promise<RunningPlatform>
  /** Returns /proc/PID/status. */
  readonly statusOf?: (pid: number | undefined) => Promise<string>
}

const guide = 'docs/guides/production.md, "The process of browsers"'

export function createConfinementCheck({
  browserUser,
  platform,
  statusOf = (pid) => readFile(`/proc/${pid ?? 'self'}/status`, 'utf8'),
}: ConfinementOptions): Check {
  return {
    name: 'browsers',
    async look() {
      const { pid } = await platform()
      const status = await statusOf(pid).catch(() => '')
      const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1])
      if (Number.isNaN(uid)) return [note('Not checked: this system does not say what confines a process')]
      // The filter of a shell says nothing of the platform.
      return [ofUser(uid, browserUser), ...(pid === undefined ? [] : [ofFilter(status)])]
    },
  }
}

function ofUser(uid: number, user: ConfinementOptions['browserUser']): Finding {
  if (user !== undefined && uid !== 0)
    return bad(
      `SWITCHHOOK_BROWSER_USER is set, and user ${uid} may not start a process of another user`,
      'Start the platform as root, or leave the setting empty.',
    )
  if (user !== undefined)
    return ok(`The media of browsers has a user of its own, ${user.uid}, who cannot read what only root may`)
  return uid === 0
    ? note(
        'The media of browsers runs as root, by a library in C over OpenSSL 1.1.1w',
        `Set SWITCHHOOK_BROWSER_USER=65534:65534: ${guide}.`,
      )
    : note(
        `The media of browsers, a library in C over OpenSSL 1.1.1w, has the user of the platform, ${uid}, who can read the key file and the database`,
        `A user of its own needs a start as root and SWITCHHOOK_BROWSER_USER: ${guide}.`,
      )
}

/** A filter of the platform holds for its processes too. */
function ofFilter(status: string): Finding {
  const hasFilter = /^Seccomp:\s+2/m.test(status)
  const isFixed = /^NoNewPrivs:\s+1/m.test(status)
  if (hasFilter && isFixed) return ok('A filter of system calls and NoNewPrivileges confine the platform')
  const missing = [...(hasFilter ? [] : ['SystemCallFilter']), ...(isFixed ? [] : ['NoNewPrivileges'])].join(
    ' and ',
  )
  return note(
    `The platform and its process of browsers run without ${missing}`,
    `Start it by the unit of systemd, or give the container such a profile: ${guide}.`,
  )
}
