// Before the tests: installs what they need beyond npm where it may (Debian, root), and names what is skipped otherwise.
import { spawnSync } from 'node:child_process'
import { existsSync, writeSync } from 'node:fs'
import { commandPath, hasCommand, tools } from '../test/support/tools.ts'
import type { Tool } from '../test/support/tools.ts'

const all: readonly Tool[] = Object.values(tools)
const missing = (): readonly Tool[] => all.filter((tool) => commandPath(tool) === undefined)

/** Why nothing can be installed here; undefined when it can. */
function obstacle(): string | undefined {
  if (process.platform !== 'linux' || !existsSync('/etc/debian_version')) return 'this is not Debian'
  if (process.getuid?.() !== 0) return 'not running as root'
  if (!hasCommand('apt-get')) return 'apt-get is not here'
  return undefined
}

function install(wanted: readonly Tool[]): string | undefined {
  const packages = wanted.flatMap((tool) => tool.packages)
  say(`installing for the tests: ${packages.join(' ')}`)
  const options = {
    timeout: 300_000,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: 'ignore',
  } as const
  // The output of apt names mirrors, which do not belong in a log: its status says enough.
  const update = spawnSync('apt-get', ['update', '-qq'], options)
  const installed = spawnSync(
    'apt-get',
    ['install', '-y', '-qq', '--no-install-recommends', ...packages],
    options,
  )
  if (installed.status === 0) return undefined
  return `apt-get install ${packages.join(' ')} failed${update.status === 0 ? '' : ' (so did apt-get update)'}`
}

function say(line: string): void {
  writeSync(1, `${line}\n`)
}

const wanted = missing()
if (wanted.length > 0) {
  const reason = obstacle() ?? install(wanted)
  for (const { command, packages, suites } of missing()) {
    for (const suite of suites)
      say(
        `SKIPPED  ${suite}: ${command} is missing (${packages.join(', ')}); ${reason ?? 'it was not found after installing'}`,
      )
  }
  if (missing().length > 0 && process.env['CI'] === 'true') {
    say('CI=true: a missing tool is a failure, not a skipped suite.')
    process.exitCode = 1
  }
}
