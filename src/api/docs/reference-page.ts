// The reference of the REST interface as one page, from its OpenAPI document.
import { html, page, prose } from './html.ts'
import type { Html } from './html.ts'

type Schema = Readonly<Record<string, unknown>>

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>
}

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content & { readonly description: string }>>
}

interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

interface Entry {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

export function referencePage(given: Readonly<Record<string, unknown>>): string {
  const document = given as unknown as Document
  const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Entry => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )
  const groups = document.tags.map(({ name, description }) => ({
    name,
    description,
    entries: entries.filter(({ operation }) => operation.tags.includes(name)),
  }))
  const { title, version, description } = document.info
  const navigation = html`<p>
      <a href="/docs/errors">Error codes</a> · <a href="#shapes">Shapes</a> ·
      <a href="/v1/openapi.json">OpenAPI</a>
    </p>
    ${groups.map(
      (group) =>
        html`<strong>${group.name}</strong>
          <ul>
            ${group.entries.map(
              ({ method, path, operation }) =>
                html`<li><a href="#${operation.operationId}">${method} ${path}</a></li>`,
            )}
          </ul>`,
    )}`
  const content = html`<h1>${title} REST interface</h1>
    <p>${prose(description)}</p>
    <p class="note">
      Version ${version}. Paths are below <code>/v1</code>. Requests carry
      <code>Authorization: Bearer TOKEN</code> unless said otherwise.
    </p>
    ${groups.map(
      (group) =>
        html`<h2>${group.name}</h2>
          ${group.description === undefined ? '' : html`<p>${prose(group.description)}</p>`}
          ${group.entries.map(endpoint)}`,
    )}
    <h2 id="shapes">Shapes</h2>
    ${Object.entries(document.components.schemas).map(([name, schema]) => shape(name, schema))}`
  return page(`${title} REST interface`, navigation, content)
}

function endpoint({ method, path, operation }: Entry): Html {
  const { operationId, summary, description, security, parameters = [], requestBody, responses } = operation
  const body = schemaOf(requestBody)
  return html`<h3 id="${operationId}">
      <a href="#${operationId}"><span class="method">${method}</span> <code>${path}</code></a>
    </h3>
    <p>${prose(summary)} ${description === undefined ? '' : prose(description)}</p>
    ${security === undefined ? '' : html`<p class="note">Needs no token.</p>`}
    ${parameters.length === 0 ? '' : table('Parameter', parameters.map(parameterRow))}
    ${body === undefined ? '' : html`<p>Body: ${typeOf(body)}</p>`} ${exampleOf('Body', requestBody)}
    ${table(
      'Status',
      Object.entries(responses).map(([status, response]) => {
        const schema = schemaOf(response)
        const isError = Number(status) >= 400
        return html`<tr>
          <td>${status}</td>
          <td>${schema === undefined || isError ? '' : typeOf(schema)}</td>
          <td>${isError ? errorText(response.description) : prose(response.description)}</td>
        </tr>`
      }),
    )}
    ${Object.entries(responses).map(([status, response]) => exampleOf(`Answer ${status}`, response))}`
}

function exampleOf(title: string, content: Content | undefined): Html | undefined {
  const example = Object.values(content?.content ?? {})[0]?.example
  if (example === undefined) return undefined
  const text = JSON.stringify(example, null, 2)
  return html`<details>
    <summary>${title}, for example</summary>
    <pre>${text}</pre>
  </details>`
}

/** Codes lead to their pages. */
function errorText(description: string): Html {
  const parts = description.split(/`(\w+)`/)
  return html`${parts.map((part, index) =>
    index % 2 === 1 ? html`<a href="/docs/errors/${part}">${part}</a>` : part,
  )}`
}

function parameterRow({ name, in: place, required, description = '', schema }: Parameter): Html {
  return html`<tr>
    <td><code>${name}</code></td>
    <td>${typeOf(schema)}</td>
    <td>${place}${required ? ', required' : ''}. ${prose(description)}</td>
  </tr>`
}

function table(first: string, rows: readonly Html[]): Html {
  return html`<table>
    <thead>
      <tr>
        <th>${first}</th>
        <th>Type</th>
        <th>Meaning</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`
}

function shape(name: string, schema: Schema): Html {
  const required = new Set((schema['required'] ?? []) as readonly string[])
  const properties = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Schema>>)
  const rows = properties.map(([field, one]) => {
    const { description, examples } = one as {
      readonly description?: string
      readonly examples?: readonly unknown[]
    }
    const example = examples?.[0]
    return html`<tr>
      <td><code>${field}</code>${required.has(field) ? ' *' : ''}</td>
      <td>${typeOf(one)}</td>
      <td>
        ${prose(description ?? '')}
        ${example === undefined ? '' : html`<code>${JSON.stringify(example)}</code>`}
      </td>
    </tr>`
  })
  return html`<h3 id="shape-${name}">${name}</h3>
    ${rows.length === 0 ? html`<p>${typeOf(schema)}</p>` : table('Field', rows)}`
}

function schemaOf(content: Content | undefined): Schema | undefined {
  return Object.values(content?.content ?? {})[0]?.schema
}

function typeOf(schema: Schema): Html {
  const {
    $ref,
    anyOf,
    type,
    enum: choices,
    items,
    format,
  } = schema as {
    readonly $ref?: string
    readonly anyOf?: readonly Schema[]
    readonly type?: string | readonly string[]
    readonly enum?: readonly unknown[]
    readonly items?: Schema
    readonly format?: string
  }
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) ?? ''
    return html`<a href="#shape-${name}">${name}</a>`
  }
  if (anyOf !== undefined)
    return html`${anyOf.map((one, index) => html`${index > 0 ? ' or ' : ''}${typeOf(one)}`)}`
  if (choices !== undefined)
    return html`${choices.map((choice, index) => html`${index > 0 ? ' | ' : ''}<code>${JSON.stringify(choice)}</code>`)}`
  if (items !== undefined && type === 'array') return html`list of ${typeOf(items)}`
  return html`${[type ?? 'anything'].flat().join(' or ')}${format === undefined ? '' : ` (${format})`}`
}
