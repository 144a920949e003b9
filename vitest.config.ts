import { defineConfig } from 'vitest/config'

const resultFile = process.env['SWITCHHOOK_TEST_RESULT']

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts', 'scripts/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 15_000,
    hookTimeout: 30_000,
    // CI reads the count of tests from there.
    ...(resultFile === undefined ? {} : { reporters: ['default', ['json', { outputFile: resultFile }]] }),
  },
})
