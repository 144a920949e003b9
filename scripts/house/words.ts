// Finds words in comments and documents that CONTRIBUTING asks not to be used.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Source } from './sources.ts'

interface Habit {
  readonly pattern: RegExp
  readonly write: string
}

const habits: readonly Habit[] = [
  { pattern: /\bwhoever\b/i, write: 'name who: "the caller that", "a client that"' },
  { pattern: /\bnobody(?:'s|’s)?\b/i, write: 'name the thing that does not: "no caller", "no node"' },
  { pattern: /\bsomebody(?:'s|’s)?\b/i, write: 'name who it is' },
  { pattern: /\banew\b/i, write: '"again", or the verb alone' },
  { pattern: /\bof ours\b/i, write: '"our", or name whose it is' },
  {
    pattern: /\b(?:is|are|was|were|be|been|being) told\b/i,
    write: 'say what happens: returns, reports, responds',
  },
  { pattern: /\bbut for\b/i, write: '"except", or "without"' },
  { pattern: /\bsave for\b/i, write: '"except"' },
  { pattern: /\bso many\b/i, write: 'name the number, or "this many"' },
  {
    pattern: /(?<![\w-])(?:rest|calls|hardening|style|interface-spec)\.md\b/,
    write: 'cite only what is in this repository',
  },
]

const bareOf: Habit = { pattern: /^Of the\b/, write: 'a sentence with a subject and a verb' }

/** Folders and files whose words have not been gone through; the list only becomes shorter. */
const exempt: readonly string[] = ['CONTRIBUTING.md', 'docs/reference', 'test']

/** `isComplete`: those of exempt places too. */
export function wordFaults(root: string, sources: readonly Source[], isComplete = false): readonly string[] {
  const inComments = sources.flatMap(({ path, text }) =>
    faultsOf(path, commentsOf(text), [...habits, bareOf]),
  )
  const inDocuments = documentsOf(root).flatMap((path) =>
    faultsOf(path, linesOf(readFileSync(join(root, path), 'utf8')), habits),
  )
  const all = [...inComments, ...inDocuments]
  return isComplete ? all : all.filter((fault) => !isExempt(fault))
}

interface Line {
  readonly number: number
  readonly text: string
}

function faultsOf(path: string, lines: readonly Line[], sought: readonly Habit[]): readonly string[] {
  return lines.flatMap(({ number, text }) =>
    sought.flatMap(({ pattern, write }) => {
      const found = pattern.exec(text)
      return found === null ? [] : [`${path}:${number}: "${found[0]}": write ${write}`]
    }),
  )
}

function linesOf(text: string): readonly Line[] {
  return text.split('\n').map((line, index) => ({ number: index + 1, text: line }))
}

/** What stands in comments, without their marks. A comment's words that wrap are not seen as one. */
export function commentsOf(text: string): readonly Line[] {
  return linesOf(text).flatMap(({ number, text: line }) => {
    const comment = /^\s*(?:\/\*\*?|\*(?!\/)|\/\/)\s?(.*)$/.exec(line) ?? /\s\/\/\s(.*)$/.exec(line)
    return comment === null ? [] : [{ number, text: (comment[1] ?? '').trim() }]
  })
}

/** A fault begins with its path. */
function isExempt(fault: string): boolean {
  return exempt.some((start) => fault.startsWith(`${start}:`) || fault.startsWith(`${start}/`))
}

/** All documents but the history: what CHANGELOG says of released versions stays as it was. */
function documentsOf(root: string): readonly string[] {
  const listed = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
    .filter((name) => name.endsWith('.md'))
  const atRoot = readdirSync(root).filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md')
  return [...atRoot, ...listed].sort()
}
