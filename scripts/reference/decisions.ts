// docs/decisions/README.md: every decision with its title and whether it still holds, from the pages themselves.
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { table } from '../../src/api/docs/schema-text.ts'
import { page } from './page.ts'

const folder = join(import.meta.dirname, '../../docs/decisions')

/** Returns the page. Throws if a file is not named by its number, or has no title. */
export async function decisionsPage(): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.md') && name !== 'README.md').sort()
  const rows = await Promise.all(
    names.map(async (name) => row(name, await readFile(join(folder, name), 'utf8'))),
  )
  return page('Decisions', 'the pages in this folder', [
    'The reasons: one page for each decision that people ask about later, with its context, its consequences and the alternatives',
    'that were considered. A page is not rewritten when the decision changes: a later page supersedes it, and its first lines say so.',
    'A missing number has no page and is not used again.',
    '',
    ...table(['Number', 'Decision', 'Status'], rows),
  ])
}

function row(name: string, text: string): string[] {
  const number = Number(/^(\d{4})-[\w-]+\.md$/.exec(name)?.[1])
  const title = new RegExp(`^# ${number}\\. (.+)$`, 'm').exec(text)?.[1]
  if (title === undefined) throw new Error(`docs/decisions/${name} must begin with "# <number>. <title>"`)
  const by = /^> Superseded by (\[\d+\]\([\w-]+\.md\))/m.exec(text)?.[1]
  return [String(number), `[${title}](${name})`, by === undefined ? 'in force' : `superseded by ${by}`]
}
