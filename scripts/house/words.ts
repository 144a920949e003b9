// Finds words in comments, titles of tests and documents that CONTRIBUTING asks not to be used.
import { isTest, type Document, type Source } from './sources.ts'

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

/** A clause without a main clause at the beginning of a comment: "What a handler gets of a body that has passed." */
const opener: Habit = {
  pattern: /^(?:What|Whose|Who|Whom)\b/,
  write: 'a noun phrase, or a sentence that names its subject',
}

/** The list of the words itself, and sentences of the interface specification. */
const exempt: readonly string[] = ['CONTRIBUTING.md', 'docs/reference/conformance.md']

export function wordFaults(sources: readonly Source[], documents: readonly Document[]): readonly string[] {
  return [
    ...sources.flatMap(({ path, text }) => {
      const comments = commentsOf(text)
      return [
        ...faultsOf(path, comments, [...habits, bareOf]),
        ...faultsOf(path, comments.filter(isBeginning), [opener]),
      ]
    }),
    ...sources
      .filter(({ path }) => isTest(path))
      .flatMap(({ path, text }) => faultsOf(path, titlesOf(text), habits)),
    ...documents
      .filter(({ path }) => !exempt.includes(path))
      .flatMap(({ path, text }) => faultsOf(path, linesOf(text), habits)),
  ]
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

/** The lines of comments, without their marks. Words that wrap are not seen as one. */
function commentsOf(text: string): readonly Line[] {
  return linesOf(text).flatMap(({ number, text: line }) => {
    const comment = /^\s*(?:\/\*\*?|\*(?!\/)|\/\/)\s?(.*)$/.exec(line) ?? /\s\/\/\s(.*)$/.exec(line)
    const words = (comment?.[1] ?? '').trim()
    return words === '' ? [] : [{ number, text: words }]
  })
}

/** Whether a line is the first of its comment: no line of a comment is above it. */
function isBeginning({ number }: Line, index: number, lines: readonly Line[]): boolean {
  return lines[index - 1]?.number !== number - 1
}

const titleForms =
  /(?:\b(?:it|test|describe)|\))\(\s*(?<quote>['"`])(?<title>(?:\\.|(?!\k<quote>)[^\\])*)\k<quote>/g

/** The titles of tests: the texts behind `it(`, and behind the list of `it.each(...)(`. */
function titlesOf(text: string): readonly Line[] {
  return Array.from(text.matchAll(titleForms), ({ index, groups }) => ({
    number: text.slice(0, index).split('\n').length,
    text: groups?.['title'] ?? '',
  }))
}
