// What the search of /docs finds: a title, a sentence and an address each.
import { catalogue, entryOf } from '../../lib/errors.ts'
import type { ErrorCode } from '../../lib/errors.ts'
import { verbAnchor } from './call-pages.ts'
import type { VerbDescription } from './call-pages.ts'
import type { Reference, Schema } from './document.ts'
import { commonFields, hookDescriptions } from './hook-payloads.ts'
import { resourceUrl } from './resource-pages.ts'

export type SearchEntry = readonly [title: string, text: string, url: string]

export function searchIndex(reference: Reference, verbs: readonly VerbDescription[]): readonly SearchEntry[] {
  const seen = new Set<string>()
  // A shape that several resources name is found once.
  const isNew = (name: string): boolean => !seen.has(name) && seen.add(name) !== undefined
  return [
    ['A first call', 'in curl', '/docs#first-call'],
    ...verbs.flatMap(({ name, summary, schema }): SearchEntry[] => {
      const url = `/docs/verbs#${verbAnchor(name)}`
      return [[name, `verb: ${plain(summary)}`, url], ...fieldsOf(schema, name, url)]
    }),
    ...commonFields.map(({ name, meaning }): SearchEntry => [
      name,
      `all hooks: ${plain(meaning)}`,
      '/docs/hooks#common',
    ]),
    ...hookDescriptions.flatMap(({ name, key, purpose, fields }): SearchEntry[] => [
      [name, plain(purpose), `/docs/hooks#hook-${key}`],
      ...fields.map((field): SearchEntry => [
        field.name,
        `${name}: ${plain(field.meaning)}`,
        `/docs/hooks#hook-${key}`,
      ]),
    ]),
    ...reference.resources.flatMap(({ name, description = '', endpoints, shapes }): SearchEntry[] => {
      const url = resourceUrl(name)
      return [
        [name, plain(description), url],
        ...endpoints.map(({ method, path, operation }): SearchEntry => [
          `${method} ${path}`,
          plain(operation.summary),
          `${url}#${operation.operationId}`,
        ]),
        ...shapes
          .filter(([shape]) => isNew(shape))
          .flatMap(([shape, schema]) => fieldsOf(schema, shape, `${url}#shape-${shape}`)),
      ]
    }),
    ...(Object.keys(catalogue) as ErrorCode[]).map((code): SearchEntry => [
      code,
      `error: ${plain(entryOf(code).cause)}`,
      `/docs/errors/${code}`,
    ]),
  ]
}

function fieldsOf(schema: Schema, owner: string, url: string): SearchEntry[] {
  const properties = (schema['properties'] ?? {}) as Readonly<
    Record<string, { readonly description?: string }>
  >
  return Object.entries(properties).map(([name, { description = '' }]) => [
    name,
    `${owner}: ${plain(description)}`,
    url,
  ])
}

const maxTextLength = 120

/** Without the marks of code, and short. */
function plain(text: string): string {
  const words = text.replaceAll('`', '')
  return words.length <= maxTextLength
    ? words
    : `${words.slice(0, maxTextLength - 1).replace(/\s\S*$/, '')} …`
}
