// Reads the machine-readable result of the tests and prints the one line that CI ends with.
import { readFileSync } from 'node:fs'

interface TestResult {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[]
}

const [path, exitCode] = process.argv.slice(2)

function read(): TestResult | undefined {
  try {
    return JSON.parse(readFileSync(path ?? '', 'utf8')) as TestResult
  } catch {
    return undefined
  }
}

function count(): { passed: number; failed: number } {
  const result = read()
  if (result === undefined) return { passed: 0, failed: 1 }
  // A file that could not even be loaded has no tests to fail, so it counts as one.
  const broken = result.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  ).length
  const failed = result.numFailedTests + broken
  // Errors outside any test (an unhandled rejection) fail the run without failing a test.
  return { passed: result.numPassedTests, failed: failed === 0 && exitCode !== '0' ? 1 : failed }
}

const { passed, failed } = count()
console.log(`tests: ${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
