// The fenced blocks of the documents, as a reader pastes them into a terminal; their links, and the picture of the README.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/features.md',
  ...readdirSync(join(root, 'docs/guides')).map((name) => `docs/guides/${name}`),
]

/** Returns the commands of each fenced block of `sh`, without comments. */
function blocksOf(text: string): string[][] {
  return Array.from(text.matchAll(/^ *```sh\n([^]*?)^ *```$/gm), ([, block = '']) =>
    block
      .replaceAll(/\\\n/g, ' ')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#')),
  )
}

// Ctrl-C ends this command, and a terminal then runs what was pasted after it.
const untilInterrupted = /\bnpm (start|run dev|run example)\b|\bnpm run demo -- --(browser|phone|keep)\b/

describe('a block of the documents', () => {
  it.each(documents)('%s: runs nothing after a command that runs until Ctrl-C', (name) => {
    const text = readFileSync(join(root, name), 'utf8')
    const surprising = blocksOf(text).filter((lines) =>
      lines.slice(0, -1).some((line) => untilInterrupted.test(line) && !/&( #.*)?$/.test(line)),
    )
    expect(surprising).toEqual([])
  })

  it('the README starts the platform and runs the tests with two commands, each alone', () => {
    const blocks = blocksOf(readFileSync(join(root, 'README.md'), 'utf8'))
    for (const command of ['npm ci && npm start', 'npm ci && npm test'])
      expect(blocks).toContainEqual([command])
  })

  it('the first call of the README has the program and the commands of the guide that tests run', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8')
    const guide = readFileSync(join(root, 'docs/guides/first-application.md'), 'utf8')
    const [, section = ''] = /^## A first call in five minutes\n([^]*?)^## /m.exec(readme) ?? []
    const lines = [...section.matchAll(/^```(?:js|sh)\n([^]*?)^```$/gm)].flatMap(([, block = '']) =>
      block.trimEnd().split('\n'),
    )
    expect(lines.length).toBeGreaterThan(15)
    expect(lines.filter((line) => !guide.includes(`${line}\n`))).toEqual([])
  })
})

/** Returns the anchors of a page: those in its text, and those that its headings make. */
function anchorsOf(text: string): ReadonlySet<string> {
  const own = Array.from(text.matchAll(/<a id="([\w-]+)"><\/a>/g), ([, id = '']) => id)
  return new Set([
    ...own,
    ...Array.from(text.matchAll(/^#+ (?:<a id="[\w-]+"><\/a>)?(.*)$/gm), ([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .replaceAll(' ', '-'),
    ),
  ])
}

const linking = [
  ...documents,
  ...['ARCHITECTURE', 'SECURITY', 'CHANGELOG', 'docs/benchmarks'].map((name) => `${name}.md`),
]

describe('a link of the documents', () => {
  it.each(linking)('%s: leads to a file and a heading that exist', (name) => {
    const text = readFileSync(join(root, name), 'utf8').replaceAll(/^```[^]*?^```$/gm, '')
    const targets = Array.from(
      text.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g),
      ([, target = '']) => target,
    )
    const broken = targets.filter((target) => {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? join(root, name) : join(root, dirname(name), path)
      if (!existsSync(file)) return true
      return anchor !== undefined && !anchorsOf(readFileSync(file, 'utf8')).has(anchor)
    })
    expect(broken).toEqual([])
  })
})

describe('the changelog', () => {
  it('has one entry for each version, and begins with the version of this tree', () => {
    const titles = Array.from(
      readFileSync(join(root, 'CHANGELOG.md'), 'utf8').matchAll(/^##+ (.*)$/gm),
      ([, title = '']) => title,
    )
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    expect(titles[0]?.split(' ')[0]).toBe(version)
    expect(titles.filter((title) => !/^\d+\.\d+\.\d+ \((unreleased|\d{4}-\d\d-\d\d)\)$/.test(title))).toEqual(
      [],
    )
  })

  it('names settings that exist', () => {
    const known = readFileSync(join(root, 'docs/reference/settings.md'), 'utf8')
    const named = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').match(/SWITCHHOOK_[A-Z_]+/g) ?? []
    expect(named.length).toBeGreaterThan(5)
    // This one is named because it is gone.
    const absent = named.filter((name) => name !== 'SWITCHHOOK_REDIS_URL' && !known.includes(`\`${name}\``))
    expect(absent).toEqual([])
  })
})
