// The step before the tests: installs the tools that they need beyond npm where it may (Debian, root), and names the
// suites that are skipped otherwise.
import { spawnSync } from 'node:child_process'
import { existsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { commandPath, hasCommand, pythonFolder, tools, type Tool } from '../test/support/tools.ts'

const all: readonly Tool[] = Object.values(tools)
const missing = (): readonly Tool[] => all.filter((tool) => commandPath(tool) === undefined)

/** Returns why Debian cannot install anything here, or undefined if it can. */
function obstacle(): string | undefined {
  if (process.platform !== 'linux' || !existsSync('/etc/debian_version')) return 'this is not Debian'
  if (process.getuid?.() !== 0) return 'not running as root'
  if (!hasCommand('apt-get')) return 'apt-get is not here'
  return undefined
}

// The output of apt and pip names mirrors, which do not belong in a log; the status is enough.
const options = {
  timeout: 300_000,
  env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  stdio: 'ignore',
} as const

function installPackages(wanted: readonly Tool[]): string | undefined {
  const packages = wanted.flatMap((tool) => tool.packages)
  say(`installing for the tests: ${packages.join(' ')}`)
  const update = spawnSync('apt-get', ['update', '-qq'], options)
  const installed = spawnSync(
    'apt-get',
    ['install', '-y', '-qq', '--no-install-recommends', ...packages],
    options,
  )
  if (installed.status === 0) return undefined
  return `apt-get install ${packages.join(' ')} failed${update.status === 0 ? '' : ' (so did apt-get update)'}`
}

/** Installs a package that is built for this machine only: nothing is compiled here. */
function installPython({ command, python = '', pythonBeside }: Tool): string | undefined {
  const folder = pythonFolder(python)
  say(`installing for the tests, with pip into a folder of its own: ${python}`)
  const packages = pythonBeside === undefined ? ['--no-deps', python] : [python, ...pythonBeside]
  const pip = ['install', '--quiet', '--only-binary', ':all:', ...packages]
  const steps = [
    ['python3', '-m', 'venv', '--clear', folder],
    [join(folder, 'bin/python3'), '-m', 'pip', ...pip],
    // This is the last step, so that an interrupted installation does not count as installed.
    ['ln', '-s', 'python3', join(folder, 'bin', command)],
  ]
  const failed = steps.find(([program = '', ...args]) => spawnSync(program, args, options).status !== 0)
  return failed && `${failed.slice(0, 3).join(' ').replace(folder, '...')} failed for ${python}`
}

function install(wanted: readonly Tool[]): string | undefined {
  const refusal = obstacle() ?? installPackages(wanted)
  const refusals = wanted.filter(({ python }) => python !== undefined).map(installPython)
  return [refusal, ...refusals].filter((reason) => reason !== undefined).join('; ') || undefined
}

function say(line: string): void {
  writeSync(1, `${line}\n`)
}

const wanted = missing()
if (wanted.length > 0) {
  const reason = install(wanted)
  for (const { command, packages, python, suites } of missing()) {
    const source = [...packages, ...(python === undefined ? [] : [`${python} of Python's registry`])].join(
      ', ',
    )
    for (const suite of suites)
      say(
        `SKIPPED  ${suite}: ${command} is missing (${source}); ${reason ?? 'it was not found after installing'}`,
      )
  }
  if (missing().length > 0 && process.env['CI'] === 'true') {
    say('CI=true: a missing tool is a failure, not a skipped suite.')
    process.exitCode = 1
  }
}
