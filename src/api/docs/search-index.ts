// The search of /docs: entries of a title, a sentence and an address.
import { catalogue, entryOf, type ErrorCode } from '../../lib/errors.ts'
import { membersOf } from '../../lib/schema-members.ts'
import type { Reference } from './document.ts'
import { guideLinks, guideSections, referenceSections, type ReferenceName } from './guide-pages.ts'
import { withoutMarks } from './markdown.ts'
import { otherWords } from './other-words.ts'
import { resourceUrl } from './resource-pages.ts'
import type { Schema } from './schema-text.ts'
import { unservedMark, type SearchEntry } from './search-script.ts'

export type { SearchEntry } from './search-script.ts'

/** The files of docs/reference whose sections and rows are found, with the word for what they are about. */
const found = {
  verbs: 'verb',
  hooks: 'hook',
  websocket: 'WebSocket',
  'audio-streams': 'audio server',
  routing: 'rule',
  settings: 'setting',
} as const satisfies Partial<Record<ReferenceName, string>>

export function searchIndex({ resources }: Reference): readonly SearchEntry[] {
  const seen = new Set<string>()
  // A shape is found once, even if several resources name it, or another operation has it under another name.
  const isNew = (name: string, schema: Schema): boolean => {
    const keys = [name, JSON.stringify(schema)]
    const isKnown = keys.some((key) => seen.has(key))
    for (const key of keys) seen.add(key)
    return !isKnown
  }
  return [
    ['A first call', 'in curl', '/docs#first-call'],
    ...(Object.keys(found) as (keyof typeof found)[]).flatMap(entriesOf),
    ...resources.flatMap(({ name, description = '', endpoints, shapes }): SearchEntry[] => {
      const url = resourceUrl(name)
      return [
        [name, plain(description), url],
        ...endpoints.map(({ method, path, operation }): SearchEntry => [
          `${method} ${path}`,
          plain(operation.summary),
          `${url}#${operation.operationId}`,
        ]),
        ...shapes
          .filter(([shape, schema]) => isNew(shape, schema))
          .flatMap(([shape, schema]) => fieldsOf(schema, shape, `${url}#shape-${shape}`)),
      ]
    }),
    ...(Object.keys(catalogue) as ErrorCode[]).map((code): SearchEntry => [
      code,
      `error: ${plain(entryOf(code).cause)}`,
      `/docs/errors/${code}`,
    ]),
    ...guideLinks().map(({ title, url }): SearchEntry => [title, 'guide', url]),
    ...guideSections().map(({ title, guide, text, words, url }): SearchEntry => [
      title,
      `guide: ${guide}: ${plain(text)}`,
      url,
      words,
    ]),
    ...otherWords,
  ]
}

/** Returns an entry for each section with a text of its own, and for each row of the tables. */
function entriesOf(name: keyof typeof found): SearchEntry[] {
  const url = (anchor: string): string => `/docs/${name}#${anchor}`
  return referenceSections(name).flatMap(({ title, depth, anchor, text, rows }): SearchEntry[] => {
    const isTitle = depth === 1
    return [
      ...(isTitle || text === ''
        ? []
        : [[title, `${found[name]}: ${shortened(text)}`, url(anchor)] as const]),
      ...rows.map((row): SearchEntry => [
        row.name,
        `${row.anchor === anchor ? title : found[name]}${markOf(row.meaning)}: ${shortened(row.meaning)}`,
        url(row.anchor),
      ]),
    ]
  })
}

function fieldsOf(schema: Schema, owner: string, url: string): SearchEntry[] {
  return membersOf(schema).map(({ path, schema: { description = '' } }) => [
    path,
    `${owner}${markOf(description)}: ${plain(description)}`,
    url,
  ])
}

/** Returns the mark of a description that says that what it describes is not served. */
function markOf(description: string): string {
  return /\bnot served yet\b|\bof no effect until\b/i.test(description) ? unservedMark : ''
}

const maxTextLength = 120

/** Returns the words of a description, shortened. */
function plain(text: string): string {
  return shortened(withoutMarks(text))
}

function shortened(words: string): string {
  return words.length <= maxTextLength
    ? words
    : `${words.slice(0, maxTextLength - 1).replace(/\s\S*$/, '')} …`
}
