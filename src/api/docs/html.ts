// HTML by hand, safely: what a template holds is escaped unless it was made by a template. One style for all pages.
import { createHash } from 'node:crypto'

export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Html | undefined | readonly Part[]

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.map((text, index) => text + render(parts[index])).join(''))
}

function render(part: Part): string {
  if (part === undefined) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(render).join('')
  return escape(String(part))
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
}

/** A sentence with `code` in it. */
export function prose(text: string): Html {
  const parts = text.split('`')
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`
}

const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #0b66c3 }
@media (prefers-color-scheme: dark) { :root { --accent: #6cb2ff } }
* { box-sizing: border-box }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif }
.columns { display: grid; grid-template-columns: 17rem minmax(0, 1fr); min-height: 100vh }
nav { border-right: 1px solid var(--line); padding: 1.5rem 1rem; position: sticky; top: 0; height: 100vh; overflow: auto; font-size: .875rem }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0 } nav li { padding: .1rem 0; overflow-wrap: anywhere }
nav strong { display: block; margin-top: .5rem }
main { padding: 2rem clamp(1rem, 4vw, 3rem); max-width: 62rem }
h1 { margin-top: 0 } h2 { margin-top: 3rem; border-bottom: 1px solid var(--line) } h3 { margin: 2.5rem 0 .25rem; font-size: 1.05rem }
h3 a { color: inherit; text-decoration: none }
a { color: var(--accent) }
code, pre { font: .875em/1.45 ui-monospace, monospace } code { background: var(--soft); padding: .1em .3em; border-radius: 3px; overflow-wrap: anywhere }
pre { background: var(--soft); padding: .75rem 1rem; border-radius: 6px; overflow: auto }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; font-size: .9rem } th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line) }
.method { display: inline-block; min-width: 4.2rem; font: 600 .8rem/1.8 ui-monospace, monospace; color: var(--accent) }
.note { opacity: .75; font-size: .875rem }
details { margin: .5rem 0 } summary { cursor: pointer }
@media (max-width: 50rem) { .columns { grid-template-columns: 1fr } nav { position: static; height: auto; max-height: 40vh; border-right: 0; border-bottom: 1px solid var(--line) } }
`

/** The style is named by its hash, so that no other style, no script and nothing from elsewhere can come with it. */
export const pagePolicy =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export function page(title: string, navigation: Html, content: Html): string {
  const made = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${new Html(`<style>${style}</style>`)}
      </head>
      <body>
        <div class="columns">
          <nav>${navigation}</nav>
          <main>${content}</main>
        </div>
      </body>
    </html> `
  return made.text
}
