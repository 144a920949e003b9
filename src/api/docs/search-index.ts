// The search of /docs: entries of a title, a sentence and an address.
import { rules } from '../../calls/rules.ts'
import { catalogue, entryOf, type ErrorCode } from '../../lib/errors.ts'
import { membersOf, type MemberSchema } from '../../lib/schema-members.ts'
import { verbAnchor, type VerbDescription } from './call-pages.ts'
import type { Reference, Schema } from './document.ts'
import { guideLinks, guideSections } from './guide-pages.ts'
import { commonFields } from './hook-fields.ts'
import { hookDescriptions } from './hook-payloads.ts'
import { slugOf, withoutMarks } from './markdown.ts'
import type { SettingDescription } from './operation-pages.ts'
import { otherWords } from './other-words.ts'
import { resourceUrl } from './resource-pages.ts'
import { heardFrames, sentFrames } from './socket-frames.ts'
import { heardStreamFrames, sentStreamFrames, type StreamFrame } from './stream-frames.ts'
import { unservedMark, type SearchEntry } from './search-script.ts'

export type { SearchEntry } from './search-script.ts'

export interface Searched {
  readonly reference: Reference
  readonly verbs: readonly VerbDescription[]
  /** The shapes that several verbs share, by the titles of their schemas. */
  readonly verbShapes: readonly Schema[]
  readonly settings: readonly SettingDescription[]
}

export function searchIndex({ reference, verbs, verbShapes, settings }: Searched): readonly SearchEntry[] {
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
    ...verbs.flatMap(({ name, summary, schema }): SearchEntry[] => {
      const url = `/docs/verbs#${verbAnchor(name)}`
      return [[name, `verb: ${plain(summary)}`, url], ...fieldsOf(schema, name, url)]
    }),
    ...verbShapes.flatMap((shape): SearchEntry[] => {
      const name = String(shape['title'])
      const url = `/docs/verbs#shape-${name}`
      return [[name, `verbs: ${plain(String(shape['description']))}`, url], ...fieldsOf(shape, name, url)]
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
          .filter(([shape, schema]) => isNew(shape, schema))
          .flatMap(([shape, schema]) => fieldsOf(schema, shape, `${url}#shape-${shape}`)),
      ]
    }),
    ...(Object.keys(catalogue) as ErrorCode[]).map((code): SearchEntry => [
      code,
      `error: ${plain(entryOf(code).cause)}`,
      `/docs/errors/${code}`,
    ]),
    ...[...sentFrames, ...heardFrames].map(({ name, meaning }): SearchEntry => [
      name,
      `WebSocket: ${plain(meaning)}`,
      `/docs/websocket#${slugOf(name)}`,
    ]),
    ...[sentStreamFrames, heardStreamFrames]
      .flatMap(Object.values<StreamFrame>)
      .map(({ name, meaning }): SearchEntry => [
        name,
        `audio server: ${plain(meaning)}`,
        `/docs/audio-streams#${slugOf(name)}`,
      ]),
    ...guideLinks().map(({ title, url }): SearchEntry => [title, 'guide', url]),
    ...guideSections().map(({ title, guide, text, words, url }): SearchEntry => [
      title,
      `guide: ${guide}: ${plain(text)}`,
      url,
      words,
    ]),
    ...otherWords,
    ...Object.entries(rules).map(([name, { sentence }]): SearchEntry => [
      name,
      `rule: ${plain(sentence)}`,
      `/docs/routing#${name}`,
    ]),
    ...settings.map(({ name, describe }): SearchEntry => [
      name,
      `setting: ${plain(describe)}`,
      `/docs/settings#${name}`,
    ]),
  ]
}

function fieldsOf(schema: Schema, owner: string, url: string): SearchEntry[] {
  return membersOf(schema as MemberSchema).map(({ path, schema: member }) => {
    const { description: text } = member as Schema
    const description = typeof text === 'string' ? text : ''
    const mark = unserved.test(description) ? unservedMark : ''
    return [path, `${owner}${mark}: ${plain(description)}`, url]
  })
}

const unserved = /\bnot served yet\b|\bof no effect until\b/i

const maxTextLength = 120

/** Shortens the text and drops the marks of Markdown. */
function plain(text: string): string {
  const words = withoutMarks(text)
  return words.length <= maxTextLength
    ? words
    : `${words.slice(0, maxTextLength - 1).replace(/\s\S*$/, '')} …`
}
