// Wrong values for fields, and a seeded source of more of them.
import { createRandom } from '../../support/random.ts'

/** The values that every field is sent. */
export const commonHostileValues: readonly unknown[] = [
  null,
  true,
  -1,
  0.5,
  '',
  '12',
  'a\r\nX-Injected: yes',
  'a\u0000b',
  'x'.repeat(2_000),
  '5f0c4e9a-2f3b-4c55-9d0e-7b1a3c2d4e5f',
  [],
  ['a'],
  {},
  { constructor: 1, toString: 2, hasOwnProperty: 3 },
]

/** The values of which each field is sent some, chosen by the seed. */
export const hostileValues: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  0.5,
  1e308,
  2 ** 53,
  '',
  ' ',
  '0',
  '-1',
  '12',
  '1e3',
  'true',
  'a\r\nX-Injected: yes',
  'a\nb',
  'a\u0000b',
  'a\u007fb',
  'a\u2028b',
  '\ud800',
  'Ω≈ç√∫',
  "Robert'); DROP TABLE accounts;--",
  '%00%0d%0a',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'x'.repeat(2_000),
  '2026-13-45T99:99:99Z',
  '5f0c4e9a-2f3b-4c55-9d0e-7b1a3c2d4e5f',
  '5F0C4E9A-2F3B-4C55-9D0E-7B1A3C2D4E5F',
  'http://user:secret@example.com/',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'https://a.example.com/\r\nX: y',
  [],
  ['a'],
  [['a']],
  [null],
  {},
  { a: 1 },
  { url: 5 },
  { url: 'https://a.example.com', method: 'TRACE' },
  { url: 'https://a.example.com', username: 'a\r\nb', password: 'c' },
  { constructor: 1, toString: 2, hasOwnProperty: 3 },
  { vendor: 'aws_s3' },
  { vendor: 'google', name: 'b', service_key: '{' },
  { vendor: 'google', name: 'b', service_key: '{"private_key":5}' },
  nested(20),
]

/** Texts for query parameters and paths, percent-encoded. */
export const hostileTexts: readonly string[] = [
  '',
  '%20',
  '-1',
  '0',
  '1.5',
  '1e9',
  '99999999999999999999',
  '%00',
  '%0d%0aX-Injected:%20yes',
  '%F0%9F%98%80',
  '%25',
  "'%20OR%201=1--",
  '..%2f..%2fetc%2fpasswd',
  '__proto__',
  'constructor',
  'null',
  'true',
  'x'.repeat(2_000),
  '2026-13-45T99:99:99Z',
  '5f0c4e9a-2f3b-4c55-9d0e-7b1a3c2d4e5f',
]

/** Whole bodies that are refused before any field is checked. */
export const hostileBodies: readonly { readonly name: string; readonly text: string }[] = [
  { name: 'half a document', text: '{"name":"a"' },
  { name: 'two documents', text: '{} {}' },
  { name: 'a name twice', text: '{"name":"a","name":"b"}' },
  { name: 'a name twice, one escaped', text: String.raw`{"name":"a","n\u0061me":"b"}` },
  { name: '__proto__', text: '{"__proto__":{"isAdmin":true}}' },
  { name: '__proto__ escaped and deep', text: String.raw`{"a":[{"\u005f_proto__":{"b":1}}]}` },
  { name: 'constructor.prototype', text: '{"constructor":{"prototype":{"isAdmin":true}}}' },
  { name: 'forty levels of objects', text: '{"a":'.repeat(40) + '1' + '}'.repeat(40) },
  { name: 'a hundred thousand levels of arrays', text: '['.repeat(100_000) + ']'.repeat(100_000) },
  { name: 'more than 1 MiB', text: JSON.stringify({ name: 'x'.repeat(1_048_577) }) },
  { name: 'a byte order mark in the middle', text: '{"name":\ufeff"a"}' },
  { name: 'single quotes', text: "{'name':'a'}" },
]

function nested(levels: number): unknown {
  let value: unknown = 'x'
  for (let level = 0; level < levels; level++) value = { a: value }
  return value
}

export interface RandomSource {
  readonly seed: number
  /** Returns a whole number from 0 to limit - 1. */
  below(limit: number): number
  /** Returns `count` of these, each at most once. */
  some<T>(of: readonly T[], count: number): T[]
  /** Returns any small JSON value. */
  value(depth?: number): unknown
  text(): string
}

export function createRandomSource(seed: number): RandomSource {
  const next = createRandom(seed)
  const below = (limit: number): number => Math.floor(next() * limit)
  const pieces = [
    'a',
    'Z',
    '0',
    '-',
    '_',
    '.',
    '@',
    ':',
    '/',
    '\\',
    '"',
    "'",
    '<',
    '%',
    '\r\n',
    '\t',
    '\u0000',
    'ß',
    '😀',
    '\ud83d',
    ' ',
    '*',
    '?',
    '{',
    '[',
  ]
  const text = (): string => Array.from({ length: below(12) }, () => pieces[below(pieces.length)]).join('')
  const value = (depth = 3): unknown => {
    switch (below(depth > 0 ? 8 : 6)) {
      case 0:
        return null
      case 1:
        return below(2) === 0
      case 2:
        return below(2_000_000) - 1_000_000
      case 3:
        return (next() - 0.5) * 10 ** below(20)
      case 4:
      case 5:
        return text()
      case 6:
        return Array.from({ length: below(4) }, () => value(depth - 1))
      default:
        return Object.fromEntries(
          Array.from({ length: below(4) }, (_, index) => [`${text()}${index}`, value(depth - 1)]),
        )
    }
  }
  const some = <T>(of: readonly T[], count: number): T[] => {
    const left = [...of]
    return Array.from({ length: Math.min(count, of.length) }, () => left.splice(below(left.length), 1)).flat()
  }
  return { seed, below, some, value, text }
}
