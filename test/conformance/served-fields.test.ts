// Every accepted field of the API has an effect, is kept for people, or is marked as not served: the reference promises
// no more.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FieldFacts } from '../../src/api/define/field.ts'
import { apiRoutes } from '../../src/api/index.ts'
import { verbs } from '../../src/verbs/index.ts'

const root = join(import.meta.dirname, '../..')

/** Fields that are stored for people to read, and have no effect on the platform. */
const keptForPeople: ReadonlySet<string> = new Set([
  'Sbcs.tls_port',
  'Sbcs.wss_port',
  'SystemInformation.domain_name',
  'SystemInformation.monitoring_domain_name',
  'SystemInformation.private_network_cidr',
  'SystemInformation.sip_domain_name',
])

/** Names with other meanings all over the code, so that a search cannot show whether the field is read. */
const commonWords: ReadonlySet<string> = new Set([
  'answerOnBridge',
  'auth',
  'listen',
  'method',
  'record',
  'referHook',
  'secret',
  'stream',
  'timeout',
  'transcribe',
])

/** Files with tables of columns and settings, which name every field and use none. */
const namesOnly = /^storage\/(tables|rows\/descriptors)\.ts$|^lib\/log\.ts$|^api\/(openapi|docs)\//

interface Source {
  readonly path: string
  readonly text: string
}

const sources: readonly Source[] = globSync('src/**/*.ts', { cwd: root })
  .map((path) => path.replace(/^src\//, ''))
  .filter((path) => !/\.test\.ts$|\/testing\//.test(path) && !namesOnly.test(path))
  .map((path) => ({ path, text: withoutComments(readFileSync(join(root, 'src', path), 'utf8')) }))

/** Returns the text without comments, and without the examples of verbs, which name fields and do not read them. */
function withoutComments(text: string): string {
  return text
    .replace(/\n {2}example: [\s\S]*?(?=\n {2}needs:)/, '')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '')
}

/** Returns whether a file uses a field. In the API and the verbs, which declare fields, only reading it counts. */
function isReadIn(name: string, { path, text }: Source): boolean {
  if (!/^(api|verbs)\//.test(path)) return new RegExp(`\\b${name}(_sid)?\\b`).test(text)
  const withoutTexts = text.replace(/'(?:[^'\\\n]|\\.)*'/g, "''")
  return (
    new RegExp(`(?<!\\b\\w*[tT]exts)\\??\\.${name}\\b`).test(withoutTexts) ||
    new RegExp(`[{,]\\s*${name}\\b(?:\\s*=[^>]|\\s*[,}:](?!.*\\())`).test(withoutTexts)
  )
}

const readersOf = (name: string): readonly string[] =>
  sources.filter((source) => isReadIn(name, source)).map(({ path }) => path)

interface TakenField {
  readonly name: string
  /** Whether it is marked as stored and not served. */
  readonly isStored: boolean
  /** Whether it is marked as refused. */
  readonly isRefused: boolean
}

function takenFields(): ReadonlyMap<string, TakenField> {
  const found = new Map<string, TakenField>()
  for (const { tag, body } of apiRoutes)
    for (const [name, { facts }] of Object.entries(body ?? {}))
      if (facts.presence !== 'read-only') found.set(`${tag}.${name}`, { name, ...marksOf(facts) })
  return found
}

function marksOf({ notServed, description = '' }: FieldFacts): Omit<TakenField, 'name'> {
  return {
    isStored: notServed !== undefined,
    isRefused: description.startsWith('Not served yet: refused'),
  }
}

const fields = [...takenFields()]

describe('a field of the API', () => {
  it.each(fields.filter(([, field]) => field.isStored))(
    'no code reads a field of the API while it is marked as not served: %s',
    (_place, { name }) => {
      const outsideApi = readersOf(name).filter((path) => !path.startsWith('api/'))
      expect(commonWords.has(name) ? [] : outsideApi).toEqual([])
    },
  )

  it.each(
    fields.filter(([place, field]) => !field.isStored && !field.isRefused && !keptForPeople.has(place)),
  )('a field of the API is used by the platform, or marked as not served: %s', (_place, { name }) => {
    expect(readersOf(name)).not.toEqual([])
  })
})

const verbTexts = sources
  .filter(({ path }) => /^verbs\/|^calls\//.test(path) && path !== 'verbs/define/schemas.ts')
  .map(({ text }) => text.replace(/^import [\s\S]*? from .*$/gm, ''))

/** Returns whether a verb reads the option as a member or by destructuring; a declaration ends in a call. */
function isReadByVerbs(name: string): boolean {
  const read = new RegExp(`\\.${name}\\b|[{,]\\s*${name}\\b(?:\\s*=[^>]|\\s*[,}])`)
  return verbTexts.some((text) => read.test(text))
}

const options = verbs.flatMap(({ name: verb, schema }) =>
  Object.entries(schema.properties).map(([option, part]) => {
    const { description = '' } = part as { readonly description?: string }
    const isRefused = description.startsWith('Not served yet: refused')
    return { verb, option, isRefused, isMarked: description.includes('of no effect') }
  }),
)

describe('an option of a verb', () => {
  it.each(options.filter(({ option, isRefused }) => !isRefused && !commonWords.has(option)))(
    'the option is read, or marked as not served: $verb $option',
    ({ option, isMarked }) => {
      expect(isReadByVerbs(option)).toBe(!isMarked)
    },
  )
})
