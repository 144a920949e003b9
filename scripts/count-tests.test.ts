import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

interface Outcome {
  readonly line: string
  readonly code: number | null
}

function count(result: object | undefined, exitCode: number): Outcome {
  const folder = mkdtempSync(join(tmpdir(), 'switchhook-count-'))
  try {
    const path = join(folder, 'result.json')
    if (result !== undefined) writeFileSync(path, JSON.stringify(result))
    const script = join(import.meta.dirname, 'count-tests.ts')
    const { stdout, status } = spawnSync(process.execPath, [script, path, String(exitCode)], {
      encoding: 'utf8',
    })
    return { line: stdout.trimEnd(), code: status }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const good = {
  numPassedTests: 12,
  numFailedTests: 0,
  testResults: [{ status: 'passed', assertionResults: [{}] }],
}

describe('the line that CI ends with', () => {
  it('counts what passed and what failed', () => {
    expect(count(good, 0)).toEqual({ line: 'tests: 12 passed, 0 failed', code: 0 })
    expect(count({ ...good, numFailedTests: 2 }, 1)).toEqual({ line: 'tests: 12 passed, 2 failed', code: 1 })
  })

  it('counts a file that could not be loaded as a failure', () => {
    const broken = { ...good, testResults: [{ status: 'failed', assertionResults: [] }] }
    expect(count(broken, 1)).toEqual({ line: 'tests: 12 passed, 1 failed', code: 1 })
  })

  it('never calls a failed run green', () => {
    expect(count(good, 1)).toEqual({ line: 'tests: 12 passed, 1 failed', code: 1 })
    expect(count(undefined, 0)).toEqual({ line: 'tests: 0 passed, 1 failed', code: 1 })
  })
})
