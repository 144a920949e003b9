// The resources of the REST interface: a list of them, and a page for each with its endpoints and shapes.
import { catalogue } from '../../lib/errors.ts'
import { membersOf } from '../../lib/schema-members.ts'
import {
  schemaOf,
  type Content,
  type Endpoint,
  type Parameter,
  type Reference,
  type Resource,
} from './document.ts'
import { html, type Html } from './html.ts'
import { foldedCode, markdown, prose } from './markdown.ts'
import { page } from './layout.ts'
import { propertyTable, shapeAnchor, typeOf, type Schema } from './schema-text.ts'
import { tableOf, type Row } from './table.ts'

export function resourceUrl(name: string): string {
  return `/docs/resources/${name}`
}

function menuOf({ resources }: Reference, open?: Resource): Html {
  return html`<strong>Resources</strong>
    <ul>
      ${resources.map(
        (resource) =>
          html`<li>
            <a href="${resourceUrl(resource.name)}">${resource.name}</a>${
              resource === open
                ? html`<ul>
                    ${resource.endpoints.map(
                      ({ method, path, operation }) =>
                        html`<li><a href="#${operation.operationId}">${method} ${path}</a></li>`,
                    )}
                  </ul>`
                : ''
            }
          </li>`,
      )}
    </ul>`
}

export function resourceListPage(reference: Reference): string {
  const { description, version } = reference.info
  return page({
    title: 'REST interface',
    menu: menuOf(reference),
    content: html`<h1>REST interface</h1>
      <p>${prose(description)}</p>
      <p class="note">
        Version ${version} of the interface. Paths are below <code>/v1</code>. Requests carry
        <code>Authorization: Bearer TOKEN</code> unless said otherwise.
      </p>
      ${reference.resources.map(
        ({ name, description: about, endpoints }) =>
          html`<h2><a href="${resourceUrl(name)}">${name}</a></h2>
            ${about === undefined ? '' : html`<p>${prose(about)}</p>`}
            <table>
              <tbody>
                ${endpoints.map(
                  ({ method, path, operation }) =>
                    html`<tr>
                      <td>
                        <a href="${resourceUrl(name)}#${operation.operationId}"
                          ><span class="method">${method}</span> <code>${path}</code></a
                        >
                      </td>
                      <td>${prose(operation.summary)}</td>
                    </tr>`,
                )}
              </tbody>
            </table>`,
      )}`,
  })
}

/** Returns undefined if there is no such resource. */
export function resourcePage(reference: Reference, name: string): string | undefined {
  // In any letter case, like the paths of the interface.
  const resource = reference.resources.find((known) => known.name.toLowerCase() === name.toLowerCase())
  if (resource === undefined) return undefined
  const { description, endpoints, shapes } = resource
  return page({
    title: resource.name,
    menu: menuOf(reference, resource),
    content: html`<h1>${resource.name}</h1>
      ${description === undefined ? '' : html`<p>${prose(description)}</p>`} ${endpoints.map(endpointHtml)}
      ${shapes.length === 0 ? '' : html`<h2>Shapes</h2>`}
      ${shapes.map(
        ([shape, schema]) =>
          html`<h3 id="${shapeAnchor(shape)}">${shape}</h3>
            ${shapeHtml(schema)}`,
      )}`,
  })
}

function endpointHtml({ method, path, operation }: Endpoint): Html {
  const { operationId, summary, description, security, parameters = [], requestBody, responses } = operation
  const body = schemaOf(requestBody)
  return html`<h3 id="${operationId}">
      <a href="#${operationId}"><span class="method">${method}</span> <code>${path}</code></a>
    </h3>
    <p>${prose(summary)} ${description === undefined ? '' : prose(description)}</p>
    ${security === undefined ? '' : html`<p class="note">Needs no token.</p>`}
    ${parameters.length === 0 ? '' : tableOf(['Parameter', 'Type', 'Meaning'], parameters.map(parameterRow))}
    ${body === undefined ? '' : html`<p>Body: ${prose(typeOf(body))}</p>`} ${exampleIn('Body', requestBody)}
    ${tableOf(
      ['Status', 'Type', 'Meaning'],
      Object.entries(responses).map(([status, response]) => {
        const schema = schemaOf(response)
        const isError = Number(status) >= 400
        return {
          cells: [
            status,
            schema === undefined || isError ? '' : prose(typeOf(schema)),
            isError ? errorText(response.description) : prose(response.description),
          ],
        }
      }),
    )}
    ${Object.entries(responses).map(([status, response]) => exampleIn(`Response ${status}`, response))}`
}

function exampleIn(title: string, content: Content | undefined): Html | undefined {
  const example = Object.values(content?.content ?? {})[0]?.example
  return example === undefined
    ? undefined
    : foldedCode(`${title}, for example`, JSON.stringify(example, null, 2))
}

function shapeHtml(schema: Schema): Html {
  const hasMembers = membersOf(schema).length > 0
  return hasMembers ? markdown(propertyTable(schema).join('\n')) : html`<p>${prose(typeOf(schema))}</p>`
}

/** Links codes to their pages. Other words of code are no links. */
function errorText(description: string): Html {
  const parts = description.split(/`(\w+)`/)
  return html`${parts.map((part, index) => {
    if (index % 2 === 0) return part
    return Object.hasOwn(catalogue, part)
      ? html`<a href="/docs/errors/${part}">${part}</a>`
      : html`<code>${part}</code>`
  })}`
}

function parameterRow({ name, in: place, required, description = '', schema }: Parameter): Row {
  return {
    cells: [
      html`<code>${name}</code>`,
      prose(typeOf(schema)),
      html`${place}${required ? ', required' : ''}. ${prose(description)}`,
    ],
  }
}
