// Writes what is generated: docs/reference, the index of decisions, the row types of storage; with --check fails on a difference.
import { spawnSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { audioStreamsPage } from './reference/audio-streams.ts'
import { conformancePage } from './reference/conformance.ts'
import { decisionsPage } from './reference/decisions.ts'
import { destinationsPage } from './reference/destinations.ts'
import { errorsPage } from './reference/errors.ts'
import { hooksPage } from './reference/hooks.ts'
import { resourcesPage } from './reference/resources.ts'
import { rfcsPage } from './reference/rfcs.ts'
import { routingPage } from './reference/routing.ts'
import { settingsPage } from './reference/settings.ts'
import { tablesFile } from './reference/tables.ts'
import { verbsPage } from './reference/verbs.ts'
import { webSocketPage } from './reference/websocket.ts'

const root = join(import.meta.dirname, '..')

interface Page {
  readonly path: string
  readonly write: () => string | Promise<string>
}

const pages: readonly Page[] = [
  { path: 'docs/decisions/README.md', write: decisionsPage },
  { path: 'docs/reference/audio-streams.md', write: audioStreamsPage },
  { path: 'docs/reference/conformance.md', write: conformancePage },
  { path: 'docs/reference/destinations.md', write: destinationsPage },
  { path: 'docs/reference/errors.md', write: errorsPage },
  { path: 'docs/reference/hooks.md', write: hooksPage },
  { path: 'docs/reference/resources.md', write: resourcesPage },
  { path: 'docs/reference/rfcs.md', write: rfcsPage },
  { path: 'docs/reference/routing.md', write: routingPage },
  { path: 'docs/reference/settings.md', write: settingsPage },
  { path: 'docs/reference/verbs.md', write: verbsPage },
  { path: 'docs/reference/websocket.md', write: webSocketPage },
  { path: 'src/storage/tables.ts', write: tablesFile },
]

async function isCurrent({ path, write }: Page): Promise<boolean> {
  const stored = await readFile(join(root, path), 'utf8').catch(() => '')
  return (await write()) === stored
}

/** Examples come from a test, which is what compares them otherwise. */
function renewExamples(): void {
  const vitest = join(import.meta.dirname, '../node_modules/.bin/vitest')
  const tests = ['test/conformance/examples.test.ts', 'src/verbs/socket-examples.test.ts']
  const args = ['run', '--project', 'SQLite', ...tests, '--update']
  const { status, stdout } = spawnSync(vitest, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the examples of the reference could not be made\n${stdout}`)
}

if (process.argv.includes('--check')) {
  for (const candidate of pages) {
    if (await isCurrent(candidate)) continue
    console.log(`${candidate.path} is not what the code says`)
    process.exitCode = 1
  }
} else {
  renewExamples()
  await mkdir(join(root, 'docs/reference'), { recursive: true })
  for (const { path, write } of pages) await writeFile(join(root, path), await write())
  console.log(`wrote ${pages.map(({ path }) => path).join(', ')}`)
}
