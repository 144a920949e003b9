// Markdown to HTML for the pages of /docs, as far as the guides use it: headings, paragraphs, lists, tables and code.
import { Html, html } from './html.ts'
import { tableOf } from './table.ts'

/** Returns the address of a link on these pages; undefined if it has none, so that only its words stay. */
export type Lead = (target: string) => string | undefined

export function markdown(text: string, lead: Lead): Html {
  const blocks: Html[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length;) {
    const { block, length } = blockAt(lines.slice(at), lead)
    if (block !== undefined) blocks.push(block)
    at += length
  }
  return html`${blocks}`
}

interface Block {
  readonly block?: Html
  /** The length in lines. */
  readonly length: number
}

function blockAt(lines: readonly string[], lead: Lead): Block {
  const [first = ''] = lines
  const inlined = (words: string): Html => inline(words, lead)
  if (first.trim() === '') return { length: 1 }
  if (first.startsWith('```')) {
    const end = lines.indexOf('```', 1)
    const length = end < 0 ? lines.length : end
    const [, file] = /^```\w+ (\S+)/.exec(first) ?? []
    const name = file === undefined ? '' : html`<p class="note"><code>${file}</code></p>`
    const code = html`<pre>${lines.slice(1, length).join('\n')}</pre>`
    return { block: html`${name}${code}`, length: length + 1 }
  }
  if (first.startsWith('<!--')) {
    const end = lines.findIndex((line) => line.includes('-->'))
    return { length: end < 0 ? lines.length : end + 1 }
  }
  const [, marks, heading = ''] = /^(#+) (.*)$/.exec(first) ?? []
  if (marks !== undefined) {
    const tag = new Html(`h${marks.length}`)
    return { block: html`<${tag} id="${slugOf(heading)}">${inlined(heading)}</${tag}>`, length: 1 }
  }
  const until = (ends: (line: string) => boolean): readonly string[] => {
    const end = lines.findIndex((line, index) => index > 0 && ends(line))
    return end < 0 ? lines : lines.slice(0, end)
  }
  if (first.startsWith('|')) {
    const rows = until((line) => !line.startsWith('|'))
    return { block: tableIn(rows, inlined), length: rows.length }
  }
  if (item.test(first)) {
    const part = until((line) => line.trim() === '' || !(item.test(line) || line.startsWith('  ')))
    const tag = new Html(/^\d/.test(first) ? 'ol' : 'ul')
    const items = part.join('\n').split(/\n(?=- |\d+\. )/)
    const listed = items.map((words) => html`<li>${inlined(words.replace(item, ''))}</li>`)
    return { block: html`<${tag}>${listed}</${tag}>`, length: part.length }
  }
  const part = until((line) => line.trim() === '' || /^(```|#+ |\||<!--)/.test(line) || item.test(line))
  return { block: html`<p>${inlined(part.join('\n'))}</p>`, length: part.length }
}

const item = /^(?:-|\d+\.) /

function tableIn([head = '', , ...rows]: readonly string[], inlined: (words: string) => Html): Html {
  const cells = (row: string): string[] => row.slice(1, row.lastIndexOf('|')).split('|')
  const inlinedCells = (row: string): Html[] => cells(row).map((cell) => inlined(cell.trim()))
  return tableOf(
    inlinedCells(head),
    rows.map((row) => ({ cells: inlinedCells(row) })),
  )
}

const marked = /`([^`]+)`|\[((?:[^\]`]|`[^`]*`)+)\]\(([^)\s]+)\)|\*\*([^*]+)\*\*|(?<!\w)_([^_]+)_(?!\w)/g

function inline(words: string, lead: Lead): Html {
  const parts: (string | Html)[] = []
  let at = 0
  for (const match of words.matchAll(marked)) {
    const [whole, code, label, target = '', strong, stressed] = match
    parts.push(words.slice(at, match.index))
    at = match.index + whole.length
    if (code !== undefined) parts.push(html`<code>${code}</code>`)
    if (strong !== undefined) parts.push(html`<b>${inline(strong, lead)}</b>`)
    if (stressed !== undefined) parts.push(html`<em>${inline(stressed, lead)}</em>`)
    if (label === undefined) continue
    const url = lead(target)
    parts.push(url === undefined ? inline(label, lead) : html`<a href="${url}">${inline(label, lead)}</a>`)
  }
  return html`${parts}${words.slice(at)}`
}

/** Returns the words alone, for places that show text as it is. */
export function withoutMarks(text: string): string {
  return text
    .replaceAll(/^ *(?:-|\d+\.) /gm, '')
    .replaceAll(
      marked,
      (_, code?: string, label?: string, _target?: string, strong?: string, stressed?: string) => {
        return code ?? withoutMarks(label ?? strong ?? stressed ?? '')
      },
    )
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** Returns the anchor of a heading, as links write it. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(/\s/g, '-')
}
