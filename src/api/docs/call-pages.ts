// The pages about calls: the verbs that an application may use, and the payloads of its hooks.
import { commonFields, type HookField } from './hook-fields.ts'
import { hookDescriptions, hookExamples, ofJambonz } from './hook-payloads.ts'
import { html, type Html } from './html.ts'
import { prose } from './markdown.ts'
import { page } from './layout.ts'
import { exampleOf, propertyTable } from './schema-html.ts'
import type { Schema } from './document.ts'
import { tableOf } from './table.ts'

/** A verb as the pages describe it. */
export interface VerbDescription {
  readonly name: string
  readonly summary: string
  /** The states of the call in which it runs. */
  readonly runs: string
  /** JSON: a list of verbs that a test runs. */
  readonly example: string
  readonly schema: Schema
}

/** Returns an anchor; `sip:decline` is not a valid fragment. */
export function verbAnchor(name: string): string {
  return `verb-${name.replace(':', '-')}`
}

/** `shapes` are the shapes that several verbs share, by the titles of their schemas. */
export function verbsPage(verbs: readonly VerbDescription[], shapes: readonly Schema[]): string {
  return page({
    title: 'Verbs',
    menu: html`<strong>Verbs</strong>
      <ul>
        ${verbs.map(({ name }) => html`<li><a href="#${verbAnchor(name)}">${name}</a></li>`)}
        <li><a href="#shapes">Shapes</a></li>
      </ul>`,
    content: html`<h1>Verbs</h1>
      <p>
        An application answers its call hook with a JSON array of verbs, which run one after the other:
        <code>${'[{"verb": "say", "text": "Hello."}, {"verb": "hangup"}]'}</code>. Any verb may carry an
        <code>id</code>, which its action hook gets back as <code>verb_id</code>. An unknown verb or a wrong
        type refuses the whole array; an unknown property is ignored and noted in the journal. When the last
        verb has ended the call is hung up, or refused with 603 while it is not answered, or as the last
        <code>dial</code> was.
      </p>
      ${verbs.map(
        ({ name, summary, runs, example, schema }) =>
          html`<h2 id="${verbAnchor(name)}">${name}</h2>
            <p>${prose(summary)}</p>
            <p class="note">${prose(runs)}</p>
            <pre>${example}</pre>
            ${
              Object.keys(schema['properties'] ?? {}).length === 0
                ? html`<p>No properties.</p>`
                : propertyTable(schema)
            }`,
      )}
      <h2 id="shapes">Shapes</h2>
      ${shapes.map(
        (shape) =>
          html`<h3 id="shape-${String(shape['title'])}">${String(shape['title'])}</h3>
            <p>${prose(String(shape['description']))}</p>
            ${propertyTable(shape)}`,
      )}`,
  })
}

export function hooksPage(): string {
  return page({
    title: 'Hooks',
    menu: html`<strong>Hooks</strong>
      <ul>
        <li><a href="#common">What all carry</a></li>
        ${hookDescriptions.map(({ name, key }) => html`<li><a href="#hook-${key}">${name}</a></li>`)}
      </ul>`,
    content: html`<h1>Hooks</h1>
      <p>
        A hook is an HTTP request to your server with a JSON body. With <code>"method": "GET"</code> the flat
        values of the body are sent as query parameters. Each carries <code>webhook-id</code>,
        <code>webhook-timestamp</code>, and two signatures with the secret of the account:
        <code>webhook-signature</code> (Standard Webhooks) and <code>Jambonz-Signature</code>. Those about a
        call carry <code>b3: &lt;trace&gt;-&lt;span&gt;-1</code>: its <code>trace_id</code>, and the request
        as a span of it. An answer with verbs needs <code>Content-Type: application/json</code>: under another
        type, or none, it counts as an answer without a body. ${prose(ofJambonz)}
      </p>
      <h2 id="common">What all carry</h2>
      ${fieldTable(commonFields)}
      ${hookDescriptions.map(
        (hook) =>
          html`<h2 id="hook-${hook.key}">${hook.name}</h2>
            <p>${prose(hook.purpose)}</p>
            <p>Answer: ${prose(hook.answer)}</p>
            ${fieldTable(hook.fields)}
            ${hookExamples(hook).map(({ shows = 'Body', body }) => exampleOf(shows.replaceAll('`', ''), body))}`,
      )}`,
  })
}

function fieldTable(fields: readonly HookField[]): Html {
  return tableOf(
    ['Field', 'Type', 'Meaning'],
    fields.map(({ name, type, meaning, when }) => ({
      cells: [
        html`<code>${name}</code>`,
        type,
        html`${prose(meaning)}${when === undefined ? '' : html` <span class="note">When ${prose(when)}.</span>`}`,
      ],
    })),
  )
}
