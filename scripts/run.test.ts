// The npm commands where they cannot run: one sentence with its cure, and no stack.
import { execFileSync } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ToolProcess } from '../test/support/processes.ts'

const root = join(import.meta.dirname, '..')

/** A Node of the system that is older than the one that the platform needs; undefined if there is none. */
const oldNode = process.env['PATH']
  ?.split(':')
  .map((folder) => join(folder, 'node'))
  .find((path) => {
    try {
      return Number(/^v(\d+)/.exec(execFileSync(path, ['--version'], { encoding: 'utf8' }))?.[1]) < 24
    } catch {
      return false
    }
  })

let clone: string
beforeEach(async () => {
  clone = await mkdtemp(join(tmpdir(), 'clone-'))
  await mkdir(join(clone, 'scripts'))
  for (const name of ['package.json', 'scripts/run.cjs']) await copyFile(join(root, name), join(clone, name))
})
afterEach(() => rm(clone, { recursive: true, force: true }))

/** Runs a command of the package file in the clone, with this Node first in the PATH. */
async function run(script: string, node = process.execPath): Promise<ToolProcess> {
  const child = new ToolProcess({
    command: 'npm',
    args: ['--silent', 'run', script],
    cwd: clone,
    env: { PATH: `${dirname(node)}:${process.env['PATH']}` },
  })
  await child.exited
  return child
}

const sentenceOf = async (child: Promise<ToolProcess>): Promise<string> => {
  const { output, stderr, exited } = await child
  expect((await exited).code, output).toBe(1)
  expect(stderr.trimEnd().split('\n'), output).toHaveLength(1)
  return stderr.trimEnd()
}

/** Installs empty packages under the names of the product's own. */
async function installWithoutTests(): Promise<void> {
  const { dependencies } = JSON.parse(await readPackage()) as { dependencies: Record<string, string> }
  for (const name of Object.keys(dependencies)) {
    await mkdir(join(clone, 'node_modules', name), { recursive: true })
    await writeFile(join(clone, 'node_modules', name, 'package.json'), '{}')
  }
}
const readPackage = async (): Promise<string> =>
  (await import('node:fs/promises')).readFile(join(root, 'package.json'), 'utf8')

describe('a command of npm', () => {
  it.each(['start', 'demo', 'call', 'story', 'example', 'doctor', 'reset-admin', 'pretest'])(
    '%s says that npm ci is to be run first',
    async (script) => {
      const sentence = await sentenceOf(run(script))
      expect(sentence).toMatch(
        /\.ts cannot run: Its packages are not all installed \(\S+ is missing\)\. Run npm ci\.$/,
      )
    },
  )

  it.skipIf(oldNode === undefined)('says which Node it needs, and that npm ci installs it', async () => {
    expect(await sentenceOf(run('start', oldNode))).toMatch(
      /^src\/main\.ts cannot run: Switchhook needs Node 24 or later, and this is Node \d+\.\d+\.\d+\. (Run npm ci, which installs it in this folder|Install Node 24)/,
    )
  })

  it.skipIf(oldNode === undefined)('uses the Node that npm ci has installed', async () => {
    await symlink(join(root, 'node_modules'), join(clone, 'node_modules'))
    await mkdir(join(clone, 'src'))
    await writeFile(
      join(clone, 'src/main.ts'),
      'console.log(process.version satisfies string, process.argv.slice(2))',
    )
    expect((await run('start', oldNode)).output).toMatch(/^v(2[4-9]|[3-9]\d)\S* \[\]\n$/)
  })

  it('runs the product without the packages of the tests, and the tests only with them', async () => {
    await installWithoutTests()
    await mkdir(join(clone, 'src'))
    await writeFile(join(clone, 'src/main.ts'), 'console.log(import.meta.main, process.argv.slice(2))')
    expect((await run('doctor')).output).toMatch(/\[ 'doctor' \]\n$/)
    expect(await sentenceOf(run('pretest'))).toContain('Run npm ci.')
  })
})
