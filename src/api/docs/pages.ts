// What a person reads at /docs: the reference of the REST interface and a page for each error code, made from the same
// declarations that run. One file each, without scripts and without anything from elsewhere.
import type { HttpPage } from '../../http/route.ts'
import { catalogue, entryOf } from '../../lib/errors.ts'
import type { ErrorCode } from '../../lib/errors.ts'
import { html, page, pagePolicy, prose } from './html.ts'
import type { Html } from './html.ts'
import { referencePage } from './reference-page.ts'

export function createDocsPages(document: () => Readonly<Record<string, unknown>>): readonly HttpPage[] {
  return [
    { path: '/', policy: pagePolicy, render: welcomePage },
    { path: '/docs', policy: pagePolicy, render: () => referencePage(document()) },
    { path: '/docs/errors', policy: pagePolicy, render: errorsPage },
    {
      path: '/docs/errors/:code',
      policy: pagePolicy,
      render: ({ code = '' }) => (isCode(code) ? errorPage(code) : undefined),
    },
  ]
}

function welcomePage(): string {
  return page(
    'Switchhook',
    html`<p><a href="/docs">REST interface</a></p>
      <p><a href="/docs/errors">Error codes</a></p>`,
    html`<h1>Switchhook</h1>
      <p>This is a voice platform. Programs use it through its <a href="/docs">REST interface</a>.</p>
      <p>
        To hear a first call within minutes, run <code>npm run demo</code> beside the platform: it says what
        to put into a softphone and which number to dial.
      </p>
      <p class="note">Programs that ask here are told the <a href="/health">health</a> of the platform.</p>`,
  )
}

const codes = Object.keys(catalogue) as ErrorCode[]

function isCode(text: string): text is ErrorCode {
  return Object.hasOwn(catalogue, text)
}

function navigation(): Html {
  return html`<p><a href="/docs">REST interface</a></p>
    <strong>Error codes</strong>
    <ul>
      ${codes.map((code) => html`<li><a href="/docs/errors/${code}">${code}</a></li>`)}
    </ul>`
}

function errorsPage(): string {
  const rows = codes.map(
    (code) =>
      html`<tr>
        <td><a href="/docs/errors/${code}">${code}</a></td>
        <td>${entryOf(code).http}</td>
        <td>${prose(entryOf(code).cure)}</td>
      </tr>`,
  )
  return page(
    'Error codes',
    navigation(),
    html`<h1>Error codes</h1>
      <p>
        Every refusal is <code>{"msg", "code", "request_id", "cure"}</code>: <code>msg</code> says in one
        sentence what is wrong, <code>code</code> stays the same from release to release.
      </p>
      <table>
        <thead>
          <tr>
            <th>Code</th>
            <th>Status</th>
            <th>Cure</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>`,
  )
}

function errorPage(code: ErrorCode): string {
  const { http, sip, cause, cure } = entryOf(code)
  return page(
    code,
    navigation(),
    html`<h1><code>${code}</code></h1>
      <p class="note">HTTP status ${http}${sip === undefined ? '' : `, SIP status ${sip}`}</p>
      <h2>Cause</h2>
      <p>${prose(cause)}</p>
      <h2>Cure</h2>
      <p>${prose(cure)}</p>
      <p class="note">
        With the <code>request_id</code> of the answer the operator finds the details in the log.
      </p>`,
  )
}
