// The sections of a text in Markdown, for menus and the search.
import type { Tokens } from 'marked'
import { anchorIn, inWords, slugOf, tokensOf } from './markdown.ts'

export interface Section {
  readonly title: string
  readonly anchor: string
  readonly depth: number
  /** Its first paragraph. */
  readonly text: string
  /** The rows of its tables. */
  readonly rows: readonly SectionRow[]
}

interface SectionRow {
  readonly name: string
  readonly anchor: string
  readonly meaning: string
}

/** Returns the headings of a text in their order, each with the words below it. */
export function sectionsOf(text: string): readonly Section[] {
  const sections: Section[] = []
  for (const token of tokensOf(text)) {
    const open = sections.at(-1)
    if (token.type === 'heading') {
      const { tokens, text: raw, depth } = token as Tokens.Heading
      const anchor = anchorIn(tokens) ?? slugOf(raw)
      sections.push({ title: inWords(tokens), anchor, depth, text: '', rows: [] })
    } else if (open !== undefined) {
      const { text: known, rows, anchor } = open
      const words = token.type === 'paragraph' && known === '' ? inWords([token]) : known
      const added = token.type === 'table' ? rowsOf(token as Tokens.Table, anchor) : []
      sections[sections.length - 1] = { ...open, text: words, rows: [...rows, ...added] }
    }
  }
  return sections
}

function rowsOf({ header, rows }: Tokens.Table, anchor: string): readonly SectionRow[] {
  const column = Math.max(
    1,
    header.findIndex(({ text }) => text === 'Meaning'),
  )
  return rows.map((cells) => ({
    name: inWords(cells[0]?.tokens ?? []),
    anchor: anchorIn(cells[0]?.tokens) ?? anchor,
    meaning: inWords(cells[column]?.tokens ?? []),
  }))
}
