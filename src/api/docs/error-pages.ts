// The pages of the error codes: a list of them, and a page for each with its cause and its cure.
import { catalogue, entryOf, type ErrorCode } from '../../lib/errors.ts'
import { html, type Html } from './html.ts'
import { page } from './layout.ts'
import { prose } from './markdown.ts'
import { tableOf } from './table.ts'

const codes = Object.keys(catalogue) as ErrorCode[]

function isCode(text: string): text is ErrorCode {
  return Object.hasOwn(catalogue, text)
}

function codeMenu(): Html {
  return html`<strong>Error codes</strong>
    <ul>
      ${codes.map((code) => html`<li><a href="/docs/errors/${code}">${code}</a></li>`)}
    </ul>`
}

export function errorsPage(): string {
  const rows = codes.map((code) => ({
    cells: [html`<a href="/docs/errors/${code}">${code}</a>`, entryOf(code).http, prose(entryOf(code).cure)],
  }))
  return page({
    title: 'Error codes',
    menu: codeMenu(),
    content: html`<h1>Error codes</h1>
      <p>
        Every refusal is <code>{"msg", "code", "request_id", "cure"}</code>: <code>msg</code> says in one
        sentence what is wrong, <code>code</code> stays the same from release to release.
      </p>
      ${tableOf(['Code', 'Status', 'Cure'], rows)}`,
  })
}

/** Returns undefined if there is no such code. */
export function errorPage(code: string): string | undefined {
  if (!isCode(code)) return undefined
  const { http, sip, cause, cure } = entryOf(code)
  return page({
    title: code,
    menu: codeMenu(),
    content: html`<h1><code>${code}</code></h1>
      <p class="note">HTTP status ${http}${sip === undefined ? '' : `, SIP status ${sip}`}</p>
      <h2>Cause</h2>
      <p>${prose(cause)}</p>
      <h2>Cure</h2>
      <p>${prose(cure)}</p>
      <p class="note">
        With the <code>request_id</code> of the response the operator finds the details in the log: those of
        500 always, those of a refusal (4xx) at the log level <code>debug</code>.
      </p>`,
  })
}
