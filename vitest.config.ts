import { existsSync, statfsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BusyReporter } from './test/support/busy-reporter.ts'
import { LongFirst } from './test/support/long-first.ts'
import { isMissing } from './test/support/tools.ts'

const resultFile = process.env['SWITCHHOOK_TEST_RESULT']

/** They start the product as a process. */
const journeys = ['test/{journeys,guides,clients}/**/*.test.ts', 'examples/*.test.ts']

// The whole API over PostgreSQL, once: every sentence of the interface, every field with what it takes, every list, every secret, and
// the wall of storage between tenants. What is refused before any SQL is sent on SQLite alone (fuzz), as is the matrix of who may ask for
// what. The suites of src/storage are not here: they declare themselves for each store (onEachStore). What else opens a
// platform runs on SQLite alone, since no SQL is written outside of src/storage.
const onPostgresToo = ['fuzz', 'idempotency', 'lists', 'second-wall', 'secrets', 'spec'].map(
  (name) => `test/conformance/${name}.test.ts`,
)
for (const file of onPostgresToo)
  if (!existsSync(join(import.meta.dirname, file)))
    throw new Error(`vitest.config.ts names ${file}, which is not there`)

// npm names its script here. What is quick does without two databases, killed processes and disks, without real time and random histories.
const isQuick = process.env['npm_lifecycle_event'] === 'test:quick'
const slow = [
  ...['src/storage/**', 'src/media/**', 'src/**/*interleavings.test.ts'],
  ...['src/streams/create-streams.test.ts', 'src/recordings/create-recordings.test.ts'],
]

// Some hundred databases are made and removed, each of hundreds of files: on a disk that took a quarter of the whole run.
const memory = '/dev/shm'
const memoryNeeded = 4e9
if (process.env['TMPDIR'] === undefined && existsSync(memory)) {
  const { bavail, bsize } = statfsSync(memory)
  if (bavail * bsize >= memoryNeeded) process.env['TMPDIR'] = memory
}

const cores = availableParallelism()

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/each-file.ts'],
    // Files share a process, and so the modules they import: a process for each file took a third of the time.
    isolate: false,
    // Node imports the sources as the platform does. Vite's runner rewrites every import to a look-up in an object, which cost an eighth
    // of the processor time; what it is for (mocked modules) is not used here.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // MB. Random histories make much that lives for a moment: with the usual 16 a quarter of their time goes to collecting it.
    // A process in which threads with WebAssembly come and go may end in V8 when it frees their code: src/main.ts has it too.
    execArgv: ['--max-semi-space-size=64', '--no-wasm-code-gc'],
    // Two more than there are cores: many files wait, for a worker of media or for a database. With one more, two cores stood
    // still for a third of the time.
    maxWorkers: cores + 2,
    sequence: { sequencer: LongFirst },
    // Generous, since a machine may be slow or busy: they end what hangs and measure nothing.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // One slip of a slow machine does not throw a run away; scripts/count-tests.ts names the test, so that it is mended.
    retry: process.env['CI'] === 'true' ? 1 : 0,
    expect: { poll: { timeout: 45_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'SQLite',
          include: ['{src,test,examples,scripts}/**/*.test.ts'],
          exclude: isQuick ? [...journeys, ...slow] : journeys,
          provide: { store: 'SQLite' },
        },
      },
      // Without PostgreSQL these are left out, as `npm test` says at its start.
      ...(isMissing('postgres')
        ? []
        : [
            {
              extends: true as const,
              test: { name: 'PostgreSQL', include: onPostgresToo, provide: { store: 'PostgreSQL' as const } },
            },
          ]),
      {
        extends: true,
        test: {
          name: 'journeys',
          include: journeys,
          // Journeys wait for phones and timers most of the time. They come last, when nothing else is measured.
          maxWorkers: cores + 3,
          sequence: { groupOrder: 1 },
          provide: { store: 'SQLite' },
        },
      },
    ],
    // CI reads the count of tests from the file.
    reporters: [
      'default' as const,
      new BusyReporter(),
      ...(resultFile === undefined ? [] : [['json', { outputFile: resultFile }] as ['json', object]]),
    ],
  },
})
