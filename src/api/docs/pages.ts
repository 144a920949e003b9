// The pages at /docs, made from the same declarations that run: a start page, verbs, hooks, resources and error codes.
// Each is one file, loads nothing from elsewhere, and is made once, when it is first read.
import type { HttpPage } from '../../http/route.ts'
import { catalogue, entryOf, type ErrorCode } from '../../lib/errors.ts'
import { hooksPage, verbsPage, type VerbDescription } from './call-pages.ts'
import { toReference, type Reference, type Schema } from './document.ts'
import { guidePage, guidesPage, referencePage } from './guide-pages.ts'
import { html, prose, type Html } from './html.ts'
import { page, pagePolicy } from './layout.ts'
import { routingPage, settingsPage, type SettingDescription } from './operation-pages.ts'
import { resourceListPage, resourcePage } from './resource-pages.ts'
import { searchIndex } from './search-index.ts'
import { startPage } from './start-page.ts'
import { tableOf } from './table.ts'

export interface DocsOptions {
  /** The OpenAPI document. */
  readonly document: () => Readonly<Record<string, unknown>>
  readonly verbs: readonly VerbDescription[]
  /** The shapes that several verbs share, by the titles of their schemas. */
  readonly verbShapes: readonly Schema[]
  readonly settings: readonly SettingDescription[]
}

export function createDocsPages({ document, verbs, verbShapes, settings }: DocsOptions): readonly HttpPage[] {
  let made: Reference | undefined
  const reference = (): Reference => (made ??= toReference(document()))
  const htmlPage = (path: string, render: HttpPage['render']): HttpPage => ({
    path,
    policy: pagePolicy,
    absent: absentPage,
    render,
  })
  return [
    htmlPage('/', startPage),
    htmlPage('/docs', startPage),
    htmlPage('/docs/verbs', () => verbsPage(verbs, verbShapes)),
    htmlPage('/docs/hooks', hooksPage),
    htmlPage('/docs/websocket', () => referencePage('websocket')),
    htmlPage('/docs/audio-streams', () => referencePage('audio-streams')),
    htmlPage('/docs/destinations', () => referencePage('destinations')),
    htmlPage('/docs/resources', () => resourceListPage(reference())),
    htmlPage('/docs/resources/:name', ({ name = '' }) => resourcePage(reference(), name)),
    htmlPage('/docs/guides', guidesPage),
    htmlPage('/docs/guides/:name', ({ name = '' }) => guidePage(name)),
    htmlPage('/docs/routing', routingPage),
    htmlPage('/docs/settings', () => settingsPage(settings)),
    htmlPage('/docs/errors', errorsPage),
    htmlPage('/docs/errors/:code', ({ code = '' }) => (isCode(code) ? errorPage(code) : undefined)),
    {
      path: '/docs/search.json',
      mediaType: 'application/json; charset=utf-8',
      render: () => JSON.stringify(searchIndex({ reference: reference(), verbs, verbShapes, settings })),
    },
    htmlPage('/docs/*', () => undefined),
  ]
}

function absentPage(): string {
  return page({
    title: 'No such page',
    content: html`<h1>No such page</h1>
      <p>There is none at this address. Go to the <a href="/docs">start</a>, or search in the menu.</p>`,
  })
}

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

function errorsPage(): string {
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

function errorPage(code: ErrorCode): string {
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
