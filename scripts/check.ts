// The checks, apart from the tests, that a change must pass: types, lint, format, imports, generated files.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

interface Check {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  readonly cure: string
}

const root = join(import.meta.dirname, '..')
const bin = (name: string): string => join(root, 'node_modules/.bin', name)

const checks: readonly Check[] = [
  { name: 'types', command: [bin('tsc'), '-p', '.'], cure: 'Correct the types the compiler names.' },
  {
    name: 'lint',
    command: [bin('oxlint'), '--type-aware', '--deny-warnings'],
    cure: 'Correct what the rule names; rules are explained in CONTRIBUTING.md.',
  },
  {
    name: 'walls, doors, floors, circles, starts, map and words',
    command: [process.execPath, join(root, 'scripts/house.ts')],
    cure: 'Move what passes a wall, open the circle, load at the first use, complete the map, or say it in other words.',
  },
  { name: 'format', command: [bin('prettier'), '--check', '.'], cure: 'Run: npm run format' },
  {
    name: 'generated files',
    command: [process.execPath, join(root, 'scripts/docs.ts'), '--check'],
    cure: 'Run: npm run docs, and commit what it writes',
  },
]

const failed: Check[] = []
for (const check of checks) {
  const [command, ...args] = check.command
  const startedAt = performance.now()
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  const isGood = status === 0
  console.log(`${isGood ? 'ok    ' : 'FAILED'}  ${check.name} (${seconds} s)`)
  if (isGood) continue
  failed.push(check)
  console.log([stdout, stderr, error?.message].filter(Boolean).join('\n').trimEnd())
}

if (failed.length > 0) {
  console.log(`\n${failed.length} of ${checks.length} checks failed:`)
  for (const { name, cure } of failed) console.log(`  ${name}: ${cure}`)
  process.exitCode = 1
} else {
  console.log(`\nAll ${checks.length} checks passed.`)
}
