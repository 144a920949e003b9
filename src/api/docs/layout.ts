// The layout of all pages of /docs: style, menu, search, and the policy that blocks everything else.
import { createHash } from 'node:crypto'
import { Html, html } from './html.ts'
import { searchScript } from './search-script.ts'

const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #0b66c3; --page: #fff }
@media (prefers-color-scheme: dark) { :root { --accent: #6cb2ff; --page: #111 } }
* { box-sizing: border-box }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; background: var(--page) }
.columns { display: grid; grid-template-columns: 17rem minmax(0, 1fr); min-height: 100vh }
nav { border-right: 1px solid var(--line); padding: 1.5rem 1rem; position: sticky; top: 0; height: 100vh; overflow: auto; font-size: .875rem }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0 } nav li { padding: .1rem 0; overflow-wrap: anywhere }
nav strong { display: block; margin-top: .5rem }
main { padding: 2rem clamp(1rem, 4vw, 3rem); max-width: 62rem; min-width: 0 }
h1 { margin-top: 0 } h2 { margin-top: 3rem; border-bottom: 1px solid var(--line) } h3 { margin: 2.5rem 0 .25rem; font-size: 1.05rem }
h2, h3 { overflow-wrap: anywhere; scroll-margin-top: 1rem } h3 a { color: inherit; text-decoration: none }
a { color: var(--accent) }
code, pre { font: .875em/1.45 ui-monospace, monospace } code { background: var(--soft); padding: .1em .3em; border-radius: 3px; overflow-wrap: anywhere }
pre { background: var(--soft); padding: .75rem 1rem; border-radius: 6px; overflow: auto }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; font-size: .9rem } th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line) }
td:first-child > code { white-space: nowrap } td:nth-child(2):not(:last-child) { max-width: 15rem } td:last-child:not(:nth-child(2)) { min-width: 18rem }
.label { display: none; opacity: .75 }
.method { display: inline-block; min-width: 4.2rem; font: 600 .8rem/1.8 ui-monospace, monospace; color: var(--accent) }
.note { opacity: .75; font-size: .875rem }
details { margin: .5rem 0 } summary { cursor: pointer }
.to-menu { display: none }
#search input { width: 100%; font: inherit; padding: .35rem .5rem; border: 1px solid var(--line); border-radius: 6px; background: var(--soft); color: inherit }
#search ul { margin-top: .5rem } #search small { display: block; opacity: .75 }
@media (max-width: 50rem) {
  .columns { display: flex; flex-direction: column }
  main { order: 1; padding-top: 1rem } nav { order: 2; position: static; height: auto; border-right: 0; border-top: 1px solid var(--line) }
  .to-menu { display: block; padding-bottom: .75rem }
}
@media (max-width: 64rem) {
  thead, td:empty { display: none } table, tbody, tr, td { display: block; max-width: none !important; min-width: 0 !important }
  tr { border-bottom: 1px solid var(--line); padding: .5rem 0 } td { border: 0; padding: .1rem 0; overflow-wrap: anywhere } td:first-child > code { white-space: normal }
  .label { display: inline }
}
`

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Names the style and the script by their hashes, so that no others, and nothing from elsewhere, can be loaded. */
export const pagePolicy =
  `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(searchScript)}; connect-src 'self'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export interface PageParts {
  readonly title: string
  /** Shown below the menu of all pages. */
  readonly menu?: Html | undefined
  readonly content: Html
}

export function page({ title, menu, content }: PageParts): string {
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
          <nav id="menu">
            <div id="search"></div>
            <ul>
              <li><a href="/docs">Start</a></li>
              <li><a href="/docs/verbs">Verbs</a></li>
              <li><a href="/docs/hooks">Hooks</a></li>
              <li><a href="/docs/websocket">WebSocket</a></li>
              <li><a href="/docs/audio-streams">Audio servers</a></li>
              <li><a href="/docs/resources">Resources</a></li>
              <li><a href="/docs/errors">Error codes</a></li>
              <li><a href="/docs/routing">Routing</a></li>
              <li><a href="/docs/settings">Settings</a></li>
              <li><a href="/docs/guides">Guides</a></li>
              <li><a href="/v1/openapi.json">OpenAPI</a></li>
            </ul>
            ${menu}
          </nav>
          <main><a class="to-menu" href="#menu">Menu and search</a>${content}</main>
        </div>
        ${new Html(`<script>${searchScript}</script>`)}
      </body>
    </html> `
  return made.text
}
