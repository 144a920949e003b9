// Each rule of the house refuses a tree that is made up to break it, and nothing else of that tree.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'

type Tree = Readonly<Record<string, string>>

interface Outcome {
  readonly faults: readonly string[]
  readonly code: number | null
}

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const sound: Tree = {
  'ARCHITECTURE.md': '| `api/` | what customers see |\n| `lib/` | leaves |\n| `sip/` | signalling |\n',
  'src/main.ts': "import { a } from './api/a.ts'\n",
  'src/api/a.ts': "import { b } from '../lib/b.ts'\nexport const a = b\n",
  'src/lib/b.ts': 'export const b = 1\n',
  'src/sip/c.ts': 'export const c = 1\n',
}

/** The rules over a sound tree with these files besides, or in place of its own. */
function judge(more: Tree): Outcome {
  const root = mkdtempSync(join(tmpdir(), 'switchhook-house-'))
  folders.push(root)
  for (const [path, text] of Object.entries({ ...sound, ...more })) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const script = join(import.meta.dirname, 'house.ts')
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, root], { encoding: 'utf8' })
  expect(stderr).toBe('')
  const lines = stdout.trimEnd().split('\n')
  return { faults: lines.filter((line) => !/^\w+: \d+ faults$/.test(line)), code: status }
}

function expectFault(more: Tree, fault: string): void {
  expect(judge(more)).toEqual({ faults: [expect.stringContaining(fault)], code: 1 })
}

/** A test with this title, as source text. */
const titled = (title: string, call = 'it'): string => `${call}(${JSON.stringify(title)}, () => {})\n`

describe('the rules of the house', () => {
  it('let a sound tree pass', () => {
    expect(judge({})).toEqual({ faults: [], code: 0 })
  })

  it.each<[string, string, string, string]>([
    [
      'a mechanism that imports another room',
      'src/sip/c.ts',
      "import '../api/a.ts'\n",
      'src/sip/c.ts imports src/api/a.ts: sip/ may import only network, certificates, lib, contracts',
    ],
    [
      'an import of a type',
      'src/sip/c.ts',
      "import type { A } from '../api/a.ts'\n",
      'src/sip/c.ts imports src/api/a.ts',
    ],
    [
      'an import at run time',
      'src/sip/c.ts',
      "export const c = () => import('../api/a.ts')\n",
      'src/sip/c.ts imports src/api/a.ts',
    ],
    [
      'a leaf that imports a room',
      'src/lib/b.ts',
      "export { c as b } from '../sip/c.ts'\n",
      'src/lib/b.ts imports src/sip/c.ts: lib/ may import nothing besides itself',
    ],
    [
      'a leaf that imports a package',
      'src/lib/b.ts',
      "import 'fastify'\n",
      'src/lib/b.ts imports fastify: lib/ is a leaf',
    ],
    [
      'a room that imports what puts it together',
      'src/sip/c.ts',
      "import '../app.ts'\n",
      'src/sip/c.ts imports src/app.ts: no room imports what puts it together',
    ],
    [
      'a file at the root of src that imports nothing',
      'src/loose.ts',
      'export const loose = 1\n',
      'src/loose.ts: only main.ts',
    ],
    [
      'a file at the root of src, once, however much it imports',
      'src/loose.ts',
      "import './lib/b.ts'\nimport './sip/c.ts'\n",
      'src/loose.ts: only main.ts',
    ],
  ])('refuse, for a wall, %s', (_what, path, text, fault) => {
    expectFault({ [path]: text }, fault)
  })

  it('refuse, for a wall, an import past the doors of a part', () => {
    expectFault(
      {
        'src/calls/a.ts': "import '../sip/dialog/dialog-table.ts'\n",
        'ARCHITECTURE.md': `${sound['ARCHITECTURE.md']}| \`calls/\` | the engine |\n`,
      },
      'src/calls/a.ts imports src/sip/dialog/dialog-table.ts, which is no door of sip/',
    )
  })

  it('let other parts in by a door, and those that put parts together by any file', () => {
    const { faults } = judge({
      'src/calls/a.ts': "import '../sip/sip.ts'\n",
      'src/sip/sip.ts': 'export const sip = 1\n',
      'src/parts/a.ts': "import '../sip/c.ts'\n",
      'ARCHITECTURE.md': `${sound['ARCHITECTURE.md']}| \`calls/\` | the engine |\n| \`parts/\` | all of it |\n`,
    })
    expect(faults).toEqual([])
  })

  it('refuse a door that no other part uses', () => {
    expectFault(
      { 'src/sip/sip.ts': 'export const sip = 1\n' },
      'src/sip/sip.ts is a door that no other part uses',
    )
  })

  it('refuse an import that runs up to a higher floor of its part', () => {
    expectFault(
      {
        'src/sip/message/a.ts': "import type { B } from '../dialog/b.ts'\n",
        'src/sip/dialog/b.ts': 'export type B = 1\n',
        'ARCHITECTURE.md': `${sound['ARCHITECTURE.md']}| \`sip/message/\` | a |\n| \`sip/dialog/\` | b |\n`,
      },
      'src/sip/message/a.ts imports src/sip/dialog/b.ts, which lies above it',
    )
  })

  it('refuse a room without a floor, in a part that has floors', () => {
    expectFault(
      {
        'src/sip/attic/a.ts': 'export const a = 1\n',
        'ARCHITECTURE.md': `${sound['ARCHITECTURE.md']}| \`sip/attic/\` | a |\n`,
      },
      'src/sip/attic/a.ts: attic/ has no floor',
    )
  })

  it('let tests pass walls', () => {
    expect(judge({ 'src/sip/c.test.ts': "import '../api/a.ts'\n" }).faults).toEqual([])
  })

  it('refuse what a start would load before its first use, however far from the root', () => {
    expectFault(
      {
        'src/app.ts': "export { a } from './api/a.ts'\n",
        'src/api/a.ts': "import { d } from './d.ts'\nexport const a = d\n",
        'src/api/d.ts': "import {\n  Agent,\n} from 'undici'\nexport const d = Agent\n",
      },
      'src/api/d.ts imports undici, and each start loads it',
    )
  })

  it('let a start name the types of it, and load it at the first use', () => {
    const { faults } = judge({
      'src/app.ts': "export { a } from './api/a.ts'\n",
      'src/api/a.ts':
        "import type { Agent } from 'undici'\nexport const a = async (): Promise<Agent> => (await import('./d.ts')).d\n",
      'src/api/d.ts': "import { Agent } from 'undici'\nexport const d = new Agent()\n",
    })
    expect(faults).toEqual([])
  })

  it('refuse a circle of three files, types included', () => {
    const circle = {
      'src/sip/c.ts': "import type { D } from './d.ts'\n",
      'src/sip/d.ts': "import { e } from './e.ts'\n",
      'src/sip/e.ts': "export { c } from './c.ts'\n",
    }
    expectFault(circle, 'a circle of imports, types included: src/sip/c.ts, src/sip/d.ts, src/sip/e.ts')
  })

  it('refuse a room that the map does not name', () => {
    const room = { 'src/api/calls/d.ts': 'export const d = 1\n' }
    expectFault(room, 'ARCHITECTURE.md does not name src/api/calls/')
  })

  it('refuse a map that names a room which does not exist', () => {
    const map = { 'ARCHITECTURE.md': `${sound['ARCHITECTURE.md']}| \`media/\` | sound |\n` }
    expectFault(map, 'ARCHITECTURE.md names src/media/, which does not exist')
  })

  it.each<[string, string, string, string]>([
    ['a comment', 'src/sip/c.ts', '// For whoever calls.\n', 'src/sip/c.ts:1: "whoever"'],
    [
      'a comment behind code',
      'bench/d.ts',
      ['const d = 1', '// of ours\n'].join(' '),
      'bench/d.ts:1: "of ours"',
    ],
    ['the head of a comment', 'test/d.ts', '/** Of the call: its sid. */\n', 'test/d.ts:1: "Of the"'],
    ['the beginning of a comment', 'src/sip/c.ts', '/**\n * What is sent.\n */\n', 'src/sip/c.ts:2: "What"'],
    ['a document', 'docs/guides/d.md', 'Begin.\n\nIt is told.\n', 'docs/guides/d.md:3: "is told"'],
    [
      'a document that is not in the repository',
      'src/sip/c.ts',
      '// See rest.md.\n',
      'src/sip/c.ts:1: "rest.md"',
    ],
    ['a title of a test', 'src/sip/c.test.ts', titled('asks nobody'), 'src/sip/c.test.ts:1: "nobody"'],
    [
      'a title behind a table',
      'test/d.test.ts',
      `\n${titled('%s begins anew', 'it.each([1, (2)])')}`,
      'test/d.test.ts:2: "anew"',
    ],
    [
      'a title of a suite',
      'test/d.test.ts',
      titled('but for one', 'describe'),
      'test/d.test.ts:1: "but for"',
    ],
  ])('refuse a word that CONTRIBUTING lists in %s', (_where, path, text, fault) => {
    expectFault({ [path]: text }, fault)
  })

  it('let a comment have a question or a clause behind its beginning', () => {
    const text = '// A reader asks this.\n// What is sent?\nexport const c = 1\n'
    expect(judge({ 'src/sip/c.ts': text }).faults).toEqual([])
  })

  it('let the list of words stand in CONTRIBUTING, and what is no title in a test', () => {
    const more = {
      'CONTRIBUTING.md': 'Not: whoever, nobody.\n',
      'src/sip/c.test.ts': "export const name = 'nobody'\n",
    }
    expect(judge(more).faults).toEqual([])
  })
})
