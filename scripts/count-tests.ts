// The summary of the tests from their machine-readable result: names the tests that passed only at their second try,
// and prints the one line that CI ends with.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

interface TestResult {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly FileResult[]
}

interface FileResult {
  /** The path of the file. */
  readonly name: string
  readonly status: string
  readonly assertionResults: readonly {
    readonly fullName: string
    readonly status: string
    /** The failures of every try, including those before a successful one. */
    readonly failureMessages: readonly string[]
  }[]
}

const [path, exitCode] = process.argv.slice(2)

function read(): TestResult | undefined {
  try {
    return JSON.parse(readFileSync(path ?? '', 'utf8')) as TestResult
  } catch {
    return undefined
  }
}

function count(result: TestResult | undefined): { passed: number; failed: number } {
  if (result === undefined) return { passed: 0, failed: 1 }
  // A file that could not even be loaded has no tests to fail, so it counts as one.
  const broken = result.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  ).length
  const failed = result.numFailedTests + broken
  // Errors outside any test (an unhandled rejection) fail the run without failing a test.
  return { passed: result.numPassedTests, failed: failed === 0 && exitCode !== '0' ? 1 : failed }
}

/** Returns one line for each test: `file: test: why the first try failed`. */
function secondTries({ testResults }: TestResult): string[] {
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status, failureMessages }) => status === 'passed' && failureMessages.length > 0)
      .map(({ fullName, failureMessages }) => {
        const [reason = ''] = (failureMessages[0] ?? '').split('\n')
        return `${relative(process.cwd(), name)}: ${fullName}: ${reason}`
      }),
  )
}

const result = read()
for (const test of result === undefined ? [] : secondTries(result))
  console.log(`needed a second try: ${test}`)
const { passed, failed } = count(result)
console.log(`tests: ${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
