import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'

interface Outcome {
  readonly lines: readonly string[]
  readonly code: number | null
}

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchhook-count-'))
  folders.push(folder)
  return folder
}

function countIn(folder: string, exitCode: number): Outcome {
  const script = join(import.meta.dirname, 'count-tests.ts')
  const { stdout, status } = spawnSync(
    process.execPath,
    [script, join(folder, 'result.json'), String(exitCode)],
    { cwd: folder, encoding: 'utf8' },
  )
  return { lines: stdout.trimEnd().split('\n'), code: status }
}

function count(result: object | undefined, exitCode: number): Outcome {
  const folder = makeFolder()
  if (result !== undefined) writeFileSync(join(folder, 'result.json'), JSON.stringify(result))
  return countIn(folder, exitCode)
}

const good = {
  numPassedTests: 12,
  numFailedTests: 0,
  testResults: [
    {
      name: 'a.test.ts',
      status: 'passed',
      assertionResults: [{ fullName: 'a', status: 'passed', failureMessages: [] }],
    },
  ],
}

describe('the line that CI ends with', () => {
  it('counts what passed and what failed', () => {
    expect(count(good, 0)).toEqual({ lines: ['tests: 12 passed, 0 failed'], code: 0 })
    expect(count({ ...good, numFailedTests: 2 }, 1)).toEqual({
      lines: ['tests: 12 passed, 2 failed'],
      code: 1,
    })
  })

  it('counts a file that could not be loaded as a failure', () => {
    const broken = { ...good, testResults: [{ name: 'b.test.ts', status: 'failed', assertionResults: [] }] }
    expect(count(broken, 1)).toEqual({ lines: ['tests: 12 passed, 1 failed'], code: 1 })
  })

  it('never calls a failed run green', () => {
    expect(count(good, 1)).toEqual({ lines: ['tests: 12 passed, 1 failed'], code: 1 })
    expect(count(undefined, 0)).toEqual({ lines: ['tests: 0 passed, 1 failed'], code: 1 })
  })
})

describe('a test that passed at its second try', () => {
  it('is named with its first failure before the last line, and counts as passed', () => {
    const folder = makeFolder()
    writeFileSync(
      join(folder, 'flaky.test.ts'),
      `let tries = 0
       describe('a thing', () => {
         it('works in the end', () => { if (++tries === 1) throw new Error('too early') })
         it('works', () => {})
       })`,
    )
    const config = { test: { globals: true, retry: 1, reporters: [['json', { outputFile: 'result.json' }]] } }
    writeFileSync(join(folder, 'vitest.config.mjs'), `export default ${JSON.stringify(config)}`)
    const vitest = join(import.meta.dirname, '../node_modules/vitest/vitest.mjs')
    const { status } = spawnSync(process.execPath, [vitest, 'run', '--root', folder], { cwd: folder })
    expect(countIn(folder, status ?? 1)).toEqual({
      lines: [
        'needed a second try: flaky.test.ts: a thing works in the end: Error: too early',
        'tests: 2 passed, 0 failed',
      ],
      code: 0,
    })
  })
})
