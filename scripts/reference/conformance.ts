// docs/reference/conformance.md, from the sentences that tests declare to cover (test/support/covers.ts).
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { createVitest, type TestCase } from 'vitest/node'
import type { Sentence } from '../../test/support/covers.ts'
import { table } from '../../src/api/docs/schema-text.ts'
import { page } from './page.ts'

const root = join(import.meta.dirname, '../..')

interface Covered {
  readonly sentence: Sentence
  readonly tests: TestCase[]
}

export async function conformancePage(): Promise<string> {
  const covered = bySentence(await testsThatCover())
  const sections = [...new Set(covered.map(({ sentence }) => sentence.section))].sort(byPlace)
  const chosen = covered.filter(({ sentence }) => sentence.chosen !== undefined)
  return page('Conformance', 'what the tests say that they cover', [
    'Each sentence of the interface specification that can be tested, and the tests that cover it. Where the',
    'specification leaves something out, the row says what was chosen. A test names the sentence in its options',
    '(`test/support/covers.ts`), and `npm test` passes only when each of them does.',
    '',
    `${covered.length} sentences, ${chosen.length} of them with a choice.`,
    ...sections.flatMap((section) => [
      '',
      `## ${section}`,
      '',
      ...table(
        ['The specification says', 'Tests'],
        covered.filter(({ sentence }) => sentence.section === section).map(row),
      ),
    ]),
  ])
}

/** Returns the tests, found by loading the test files without running a test. */
async function testsThatCover(): Promise<TestCase[]> {
  const files = globSync('{src,test}/**/*.test.ts', { cwd: root })
    .filter((file) => readFileSync(join(root, file), 'utf8').includes('support/covers.ts'))
    .map((file) => join(root, file))
  const vitest = await createVitest({ root, watch: false, reporters: [{}], project: ['SQLite', 'journeys'] })
  try {
    const { testModules, unhandledErrors } = await vitest.collect(files, { staticParse: false })
    const errors = [...unhandledErrors, ...testModules.flatMap((module) => module.errors())]
    if (errors.length > 0) throw new AggregateError(errors, 'the tests could not be read')
    const tests = testModules.flatMap(({ children }) => [...children.allTests()])
    return tests.filter((test) => test.meta().covers !== undefined).sort(byName)
  } finally {
    await vitest.close()
  }
}

function bySentence(tests: readonly TestCase[]): readonly Covered[] {
  const covered = new Map<string, Covered>()
  for (const test of tests)
    for (const sentence of test.meta().covers ?? []) {
      const key = `${sentence.section}: ${sentence.says}`
      const known = covered.get(key)
      if (known === undefined) covered.set(key, { sentence, tests: [test] })
      else if (known.sentence.chosen === sentence.chosen) known.tests.push(test)
      else throw new Error(`two tests say differently what was chosen: ${key}`)
    }
  return [...covered.values()]
}

const fileOf = (test: TestCase): string => relative(root, test.module.moduleId)

/** Compares by file, and keeps the order within a file. */
function byName(a: TestCase, b: TestCase): number {
  return fileOf(a) < fileOf(b) ? -1 : fileOf(a) > fileOf(b) ? 1 : 0
}

const places = [
  'Notation',
  'Fields',
  'States',
  'Endpoints',
  'Authentication',
  'Events',
  'Errors',
  'Limits',
  'Versioning',
]

/** Compares by the order of the specification; sections that are not listed come last. */
function byPlace(a: string, b: string): number {
  const placeOf = (section: string): number => {
    const place = places.findIndex((start) => section.startsWith(start))
    return place < 0 ? places.length : place
  }
  return placeOf(a) - placeOf(b) || (a < b ? -1 : 1)
}

const mostNamed = 2

function row({ sentence: { says, chosen }, tests }: Covered): string[] {
  const names = tests.map((test) => `\`${fileOf(test)}\`: ${test.fullName}`)
  const rest = names.length - mostNamed
  return [
    says,
    [
      ...(chosen === undefined ? [] : [`Chosen: ${chosen}`]),
      ...names.slice(0, mostNamed),
      ...(rest > 0 ? [`and ${rest} more`] : []),
    ].join('<br>'),
  ]
}
