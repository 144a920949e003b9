// The claims of CONTRIBUTING.md about the code, checked against the code.
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
    expect(rows.length).toBeGreaterThanOrEqual(30)
    expect(rows.filter(([, , path = '']) => !existsSync(join(root, path)))).toEqual([])
  })

  it('CONTRIBUTING names files of the sources that exist', async () => {
    const text = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8')
    const paths = [...text.matchAll(/`((?:src|test|scripts|docs|examples)\/[^`<*\s]+)`/g)].map(
      ([, path = '']) => path,
    )
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  it('CONTRIBUTING has a row for every journey, and no others', async () => {
    const text = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8')
    const named = [...text.matchAll(/^\| `journeys\/([\w-]+)` /gm)].map(([, name = '']) => name)
    const files = await readdir(join(root, 'test/journeys'))
    const journeys = files.flatMap((name) => /^(.+)\.test\.ts$/.exec(name)?.[1] ?? [])
    expect(named.toSorted()).toEqual(journeys.toSorted())
  })
})
