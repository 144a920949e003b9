import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { quickestMs } from '../../test/support/cpu.ts'
import { endOfString, foreignJson, jsonFault, maxNesting, readJson } from './read-json.ts'

const arrays = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const objects = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)
const list = (member: string, count: number): string => `[${Array(count).fill(member).join(',')}]`

describe('JSON of others', () => {
  it.each([
    ['arrays', arrays],
    ['objects', objects],
  ])('may have 32 levels of %s, and no more', (_, text) => {
    expect(readJson(text(maxNesting))).toEqual(JSON.parse(text(maxNesting)))
    expect(() => readJson(text(maxNesting + 1))).toThrow('is nested more than 32 levels deep')
  })

  it('may have any number of brackets and commas in its texts', () => {
    const value = { ['[[[{{{,,,'.repeat(50)]: `\\"${'[,'.repeat(30_000)}\\` }
    expect(readJson(JSON.stringify(value))).toEqual(value)
    expect(readJson(Buffer.from(`\uFEFF${JSON.stringify(value)}`))).toEqual(value)
  })

  it.each([
    ['empty objects', list('{}', 10_002)],
    ['empty arrays', list('[]', 10_002)],
    ['numbers', list('1', 20_001)],
    ['names', `{${Array.from({ length: 20_001 }, (_, index) => `"${index}":1`).join(',')}}`],
    ['commas of what is no JSON', ','.repeat(20_001)],
  ])('is refused for too many %s', (_, text) => {
    expect(() => readJson(text)).toThrow('has more than 20000 values')
  })

  it('takes a bounded time for the costliest text that is accepted, and for what is refused', () => {
    const most = list('{}', 9_999)
    expect(readJson(most)).toHaveLength(9_999)
    expect(quickestMs(() => readJson(most), 20)).toBeLessThan(20)
    const { maxLength } = foreignJson
    for (const text of [
      list('{}', 340_000),
      '"\\'.repeat(400_000),
      '\\"'.repeat(600_000),
      `"${'\\'.repeat(1_000_000)}"`,
    ]) {
      const refuse = () => expect(() => readJson(text)).toThrow(`has more than ${maxLength} characters`)
      expect(quickestMs(refuse, 5)).toBeLessThan(5)
      expect(quickestMs(() => jsonFault(text, { maxValues: 50_000 }), 50)).toBeLessThan(50)
    }
  })

  it('is refused where it is too long or broken off', () => {
    expect(() => readJson(`"${'x'.repeat(foreignJson.maxLength)}"`)).toThrow(
      'has more than 262144 characters',
    )
    for (const text of ['', '["\\', '{"a":', '[1,]']) expect(() => readJson(text)).toThrow('is not JSON')
  })

  it.each([
    ['"a" ', 2],
    ['"a\\"b"', 5],
    ['"\\\\"', 3],
    ['"\\\\\\""', 5],
    ['"', 1],
    ['"\\"', 3],
  ])('has texts that end where JSON says: %s', (text, end) => {
    expect(endOfString(text, 0)).toBe(end)
  })

  it('is parsed nowhere else: the other places read what the platform itself has written', () => {
    const root = join(import.meta.dirname, '..')
    const own = [
      /^(storage|directory|doctor)\//,
      // Columns of the database, and documents that come with the platform.
      /^api\/(docs|openapi|logins)\//,
      /^api\/(tts-cache|recent-calls)\.ts$/,
      /^api\/(define\/fields|carriers\/carrier-health|carriers\/voip-carriers|call-details\/recording)\.ts$/,
      /^api\/(speech-credentials\/(masking|settings)|accounts\/(bucket-credential|test-bucket))\.ts$/,
      /^calls\/(defence-settings|journal\/recovery)\.ts$/,
      /^(buckets\/google|outgoing\/service-account|webhooks\/sender)\.ts$/,
      /^lib\/(growing-file|terminal-log|read-json)\.ts$/,
      // Names of a body that has been read.
      /^http\/parse-body\.ts$/,
    ]
    const parsing = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .filter((path) => readFileSync(join(root, path), 'utf8').includes('JSON.parse('))
    expect(parsing.length).toBeGreaterThan(10)
    expect(parsing.filter((path) => !own.some((rule) => rule.test(path)))).toEqual([])
  })
})
