import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { isMissing } from './test/support/tools.ts'

const resultFile = process.env['SWITCHHOOK_TEST_RESULT']

const everything = ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts', 'scripts/**/*.test.ts']

// What opens a platform by test/support runs on either store, and says so by its imports.
const onEitherStore = globSync(everything, { cwd: import.meta.dirname }).filter((file) =>
  /from '.*\/(support\/api|api\/world)\.ts'/.test(readFileSync(join(import.meta.dirname, file), 'utf8')),
)

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // Generous, since a machine may be slow or busy: they end what hangs and measure nothing.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // One slip of a slow machine does not throw a run away; scripts/count-tests.ts names the test, so that it is mended.
    retry: process.env['CI'] === 'true' ? 1 : 0,
    expect: { poll: { timeout: 45_000 } },
    projects: [
      { extends: true, test: { name: 'SQLite', include: everything, provide: { store: 'SQLite' } } },
      // Without PostgreSQL these are left out, as `npm test` says at its start.
      ...(isMissing('postgres')
        ? []
        : [
            {
              extends: true as const,
              test: { name: 'PostgreSQL', include: onEitherStore, provide: { store: 'PostgreSQL' as const } },
            },
          ]),
    ],
    // CI reads the count of tests from there.
    ...(resultFile === undefined ? {} : { reporters: ['default', ['json', { outputFile: resultFile }]] }),
  },
})
