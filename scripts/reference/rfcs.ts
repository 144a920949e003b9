// docs/reference/rfcs.md, from the comments of src/.
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { table } from '../../src/api/docs/schema-text.ts'
import { page } from './page.ts'

const root = join(import.meta.dirname, '../..')

export async function rfcsPage(): Promise<string> {
  const places = new Map<string, Set<string>>()
  for (const path of await sourceFiles()) {
    const text = await readFile(join(root, path), 'utf8')
    for (const [reference] of text.matchAll(/RFC \d{3,5} §[A-Z0-9]+(?:\.\d+)*/g))
      places.set(reference, (places.get(reference) ?? new Set()).add(path))
  }
  // Sorted by RFC, then by section: §9 before §17.2.
  const sections = [...places].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
  const rows = sections.map(([reference, paths]) => [
    reference,
    [...paths].map((path) => `\`${path}\``).join(', '),
  ])
  return page('RFC sections', 'the comments of `src/`', [
    'Which file follows, or departs from, which section.',
    '',
    ...table(['Section', 'Where'], rows),
  ])
}

async function sourceFiles(): Promise<string[]> {
  const names = await readdir(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  return names
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => `src/${name.replaceAll('\\', '/')}`)
    .sort()
}
