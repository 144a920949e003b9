import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { hookDescriptions, hookExamples } from './hook-payloads.ts'

const reference = ['verbs', 'resources'].map((page) =>
  readFileSync(join(import.meta.dirname, `../../docs/reference/${page}.md`), 'utf8'),
)

/** The hooks with an effect, by property name. */
const hooks = reference
  .flatMap((page) => page.split('\n'))
  .filter((row) => !/of no effect until .* served/.test(row))
  .flatMap((row) => /^\| `(?:\w+\.)*(\w*(?:Hook|_hook))` \|/.exec(row)?.[1] ?? [])

it.each([...new Set(hooks)])('the payload of %s is described', (name) => {
  expect(hookDescriptions.filter(({ purpose }) => purpose.includes(`\`${name}\``))).not.toEqual([])
})

it.each(hookDescriptions)('$name has the examples that a test has received', (hook) => {
  for (const { body } of hookExamples(hook)) expect(body).toEqual(expect.any(Object))
})
