// Markdown to HTML for the pages of /docs, by `marked`. HTML in the text is shown as text, except comments, which are left
// out, and anchors, `<a id="name"></a>`, which name the heading or the row of a table that begins with one.
import { Marked, type RendererObject, type Token, type TokenizerObject, type Tokens } from 'marked'
import { Html, html } from './html.ts'
import { tableOf } from './table.ts'

/** Returns the address of a link on these pages; undefined if it has none, so that only its words stay. */
export type Lead = (target: string) => string | undefined

const anchor = /^<a id="([\w-]+)"><\/a>/

/** Returns the name that an anchor at the beginning gives. */
export function anchorIn([first]: readonly Token[] = []): string | undefined {
  return first?.type === 'html' ? anchor.exec(first.raw)?.[1] : undefined
}

/** A function that returns undefined leaves the marks as text. */
const tokenizer: TokenizerObject = {
  html(text) {
    const [raw] = /^<!--[^]*?(?:-->\s*|$)/.exec(text) ?? []
    return raw === undefined ? undefined : { type: 'html', raw, text: raw, pre: false, block: true }
  },
  tag(text) {
    const [raw] = anchor.exec(text) ?? []
    if (raw === undefined) return undefined
    return { type: 'html', raw, text: raw, inLink: false, inRawBlock: false, block: false }
  },
  // Addresses are examples, and a tilde is "about".
  url: () => undefined,
  autolink: () => undefined,
  del: () => undefined,
}

const withinPage: Lead = (target) => (target.startsWith('#') ? target : undefined)

export function markdown(text: string, lead: Lead = withinPage): Html {
  return new Html(createMarked(lead).parse(text, { async: false }))
}

const reader = createMarked(withinPage)

/** Returns a sentence of a declaration. */
export function prose(text: string): Html {
  return new Html(reader.parseInline(text, { async: false }))
}

function createMarked(lead: Lead): Marked {
  const renderer: RendererObject = {
    heading({ tokens, depth, text }) {
      const tag = new Html(`h${depth}`)
      return html`<${tag} id="${anchorIn(tokens) ?? slugOf(text)}">${new Html(this.parser.parseInline(tokens))}</${tag}>`
        .text
    },
    code({ text, lang = '' }) {
      if (lang === folded) return foldedCode('An example', text).text
      const [, file] = /^\w+ (\S+)/.exec(lang) ?? []
      const name = file === undefined ? '' : html`<p class="note"><code>${file}</code></p>`
      return html`${name}
        <pre>${text}</pre>`.text
    },
    table({ header, rows }) {
      const cells = (row: readonly Tokens.TableCell[]): Html[] =>
        row.map(({ tokens }) => new Html(this.parser.parseInline(tokens)))
      return tableOf(
        header.map(({ tokens }) => inWords(tokens)),
        rows.map((row) => ({ id: anchorIn(row[0]?.tokens), cells: cells(row) })),
      ).text
    },
    link({ href, tokens }) {
      const words = new Html(this.parser.parseInline(tokens))
      const url = lead(href)
      return (url === undefined ? words : html`<a href="${url}">${words}</a>`).text
    },
    text(token) {
      if (token.type === 'text' && token.tokens !== undefined) return this.parser.parseInline(token.tokens)
      return html`${token.text}`.text
    },
    image: ({ text }) => html`${text}`.text,
    checkbox: () => '',
    html: () => '',
  }
  return new Marked({ renderer, tokenizer })
}

/** The mark of a block of code that the page shows only when it is opened. */
const folded = 'json example'

export function foldedCode(title: string, text: string): Html {
  return html`<details>
    <summary>${title}</summary>
    <pre>${text}</pre>
  </details>`
}

export function tokensOf(text: string): readonly Token[] {
  return reader.lexer(text)
}

/** Returns the words alone, for places that show text as it is. */
export function withoutMarks(text: string): string {
  return inWords(tokensOf(text))
}

export function inWords(tokens: readonly Token[]): string {
  return wordsOf(tokens).replaceAll(/\s+/g, ' ').trim()
}

const blocks: ReadonlySet<string> = new Set(['heading', 'list_item', 'paragraph'])

function wordsOf(tokens: readonly Token[]): string {
  const words = tokens.map((token) => {
    if (token.type === 'html') return ''
    if (token.type === 'list') return wordsOf((token as Tokens.List).items)
    if ('tokens' in token && token.tokens !== undefined)
      return `${wordsOf(token.tokens)}${blocks.has(token.type) ? ' ' : ''}`
    return 'text' in token ? String(token['text']) : token.raw
  })
  return words.join('')
}

/** Returns the anchor of a heading, as links write it. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(/\s/g, '-')
}
