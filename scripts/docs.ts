// Writes docs/reference from the code; with --check compares instead and fails on a difference.
import { spawnSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { conformancePage } from './reference/conformance.ts'
import { errorsPage } from './reference/errors.ts'
import { openApiFile, resourcesPage } from './reference/openapi.ts'
import { rfcsPage } from './reference/rfcs.ts'
import { settingsPage } from './reference/settings.ts'
import { verbsPage } from './reference/verbs.ts'

const folder = join(import.meta.dirname, '../docs/reference')

interface Page {
  readonly name: string
  readonly write: () => string | Promise<string>
}

const pages: readonly Page[] = [
  { name: 'conformance.md', write: conformancePage },
  { name: 'errors.md', write: errorsPage },
  { name: 'openapi.json', write: openApiFile },
  { name: 'resources.md', write: resourcesPage },
  { name: 'rfcs.md', write: rfcsPage },
  { name: 'settings.md', write: settingsPage },
  { name: 'verbs.md', write: verbsPage },
]

async function isCurrent({ name, write }: Page): Promise<boolean> {
  const stored = await readFile(join(folder, name), 'utf8').catch(() => '')
  return (await write()) === stored
}

/** Examples come from a test, which is what compares them otherwise. */
function renewExamples(): void {
  const vitest = join(import.meta.dirname, '../node_modules/.bin/vitest')
  const args = ['run', '--project', 'SQLite', 'test/conformance/examples.test.ts', '--update']
  const { status, stdout } = spawnSync(vitest, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the examples of the reference could not be made\n${stdout}`)
}

if (process.argv.includes('--check')) {
  for (const candidate of pages) {
    if (await isCurrent(candidate)) continue
    console.log(`docs/reference/${candidate.name} is not what the code says`)
    process.exitCode = 1
  }
} else {
  renewExamples()
  await mkdir(folder, { recursive: true })
  for (const { name, write } of pages) await writeFile(join(folder, name), await write())
  console.log(`wrote ${pages.map(({ name }) => `docs/reference/${name}`).join(', ')}`)
}
