// The claims of CONTRIBUTING.md and ARCHITECTURE.md about the code, checked against the code.
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')

async function section(title: string): Promise<string> {
  const text = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8')
  const found = text.split(/^## /m).find((part) => part.startsWith(`${title}\n`))
  if (found === undefined) throw new Error(`no section "${title}"`)
  return found
}

describe('CONTRIBUTING', () => {
  it('CONTRIBUTING answers questions of a newcomer with paths that exist', async () => {
    const rows = [
      ...(await section('Where is the rule that ...')).matchAll(/^\| (?!\.\.\.|-)(.+?) +\| `(.+?)` +\|$/gm),
    ]
    expect(rows.length).toBeGreaterThanOrEqual(25)
    expect(rows.filter(([, , path = '']) => !existsSync(join(root, path)))).toEqual([])
  })

  it('CONTRIBUTING names files of the sources that exist', async () => {
    const text = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8')
    const paths = [...text.matchAll(/`((?:src|test|scripts|docs|examples)\/[^`<*\s]+)`/g)].map(
      ([, path = '']) => path,
    )
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  it('every journey says in its first line what it guarantees, as CONTRIBUTING promises', async () => {
    const folder = join(root, 'test/journeys')
    const journeys = (await readdir(folder)).filter((name) => name.endsWith('.test.ts'))
    const texts = await Promise.all(journeys.map((name) => readFile(join(folder, name), 'utf8')))
    expect(journeys.length).toBeGreaterThan(40)
    expect(journeys.filter((_, at) => !texts[at]?.startsWith('// '))).toEqual([])
  })
})

describe('ARCHITECTURE', () => {
  it('ARCHITECTURE names files and rooms of the sources that exist', async () => {
    const text = await readFile(join(root, 'ARCHITECTURE.md'), 'utf8')
    const paths = [...text.matchAll(/`([\w-]+\/(?:[\w./-]*\.ts|[\w/-]+\/)?)`/g)].map(([, path = '']) => path)
    expect(paths.length).toBeGreaterThan(80)
    expect(paths.filter((path) => !existsSync(join(root, 'src', path)))).toEqual([])
  })
})
