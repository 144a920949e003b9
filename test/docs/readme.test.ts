// The fenced blocks of the documents, as a reader pastes them into a terminal.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const documents = [
  'README.md',
  'CONTRIBUTING.md',
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
})
