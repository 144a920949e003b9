import { describe, expect, it } from 'vitest'
import { quickestMs } from '../../test/support/cpu.ts'
import { parseFormBody, parseJsonBody, parseMultipartBody } from './parse-body.ts'

describe('parseJsonBody', () => {
  it.each([
    ['', undefined],
    [' \r\n', undefined],
    ['{"a":[1,{"b":null}]}', { a: [1, { b: null }] }],
    ['[]', []],
    [
      String.raw`{"\ud83d\ude00":"\uD83D\uDE00","e":"\ufffd","text":"\\ud800"}`,
      { '😀': '😀', e: '\ufffd', text: '\\ud800' },
    ],
  ])('takes %j', (text, value) => {
    expect(parseJsonBody(text)).toEqual(value)
  })

  it.each([
    ['{"a":1', 'not valid JSON'],
    ['{"a":1}x', 'not valid JSON'],
    ["{'a':1}", 'not valid JSON'],
    ['{"a":1,"a":2}', 'names "a" twice'],
    ['{"a":{"b":1,"c":[{"d":1}],"b":2}}', 'names "b" twice'],
    [String.raw`{"a":1,"\u0061":2}`, 'names "a" twice'],
    [String.raw`{"a\r\n":1,"a\r\n":2}`, String.raw`names "a\r\n" twice`],
    [`{"${'n'.repeat(1000)}":1,"${'n'.repeat(1000)}":2}`, `names "${'n'.repeat(64)}" twice`],
    ['{"__proto__":{"x":1}}', 'must not name __proto__'],
    [String.raw`{"a":[{"\u005f_proto__":1}]}`, 'must not name __proto__'],
    ['{"constructor":{"prototype":{"x":1}}}', 'must not name prototype'],
    [String.raw`"\udc00"`, 'the body has one half of a surrogate pair'],
    [String.raw`{"a":[{"b":"x\ud800y"}]}`, '"a.0.b" has one half of a surrogate pair'],
    [String.raw`{"a\uD83D":1}`, 'has one half of a surrogate pair'],
    ['['.repeat(33) + ']'.repeat(33), 'more than 32 levels'],
    ['['.repeat(500_000) + ']'.repeat(500_000), 'more than 32 levels'],
  ])('refuses %.60s', (text, message) => {
    expect(() => parseJsonBody(text)).toThrow(message)
  })

  it('tells names from values, whatever the text holds', () => {
    const value = {
      a: '{"a":1,"a":2}',
      b: 'a":',
      c: '\\',
      d: '"',
      constructor: 1,
      prototype: 2,
      e: ['a', 'a'],
    }
    expect(parseJsonBody(JSON.stringify(value, null, 2))).toEqual(value)
  })

  it('refuses more names than an object has', () => {
    const names = Array.from({ length: 15_000 }, (_, index) => `"${index.toString(36)}":1`)
    const text = `{"a":{${names.join(',')}}}`
    expect(() => parseJsonBody(text)).toThrow('more than 1000 names')
    expect(Object.keys(parseJsonBody(`{${names.slice(0, 1000).join(',')}}`) as object)).toHaveLength(1000)
  })

  it.each([
    ['objects', `[${Array(340_000).fill('{}').join(',')}]`],
    ['numbers', `{"a":[${Array(500_000).fill('1').join(',')}]}`],
    ['arrays, also of a body that ends in the middle', Array(300_000).fill('[]').join(',')],
  ])('refuses too many %s before it reads them', (_what, text) => {
    const refuse = () => expect(() => parseJsonBody(text)).toThrow('the body has more than 20000 values')
    expect(quickestMs(refuse, 20)).toBeLessThan(20)
  })

  it('counts no commas and brackets in texts as values', () => {
    const text = '[{"say":"a, b"}],'.repeat(30_000)
    expect(parseJsonBody(JSON.stringify({ app_json: text }))).toEqual({ app_json: text })
  })

  it('takes as many levels as are allowed', () => {
    const text = '['.repeat(32) + ']'.repeat(32)
    expect(JSON.stringify(parseJsonBody(text))).toBe(text)
  })
})

describe('parseFormBody', () => {
  it('takes fields as text', () => {
    expect(parseFormBody('username=a%20b&password=c%26d')).toEqual({ username: 'a b', password: 'c&d' })
    expect(parseFormBody('')).toBeUndefined()
  })

  it('names the content type where the body is JSON, and takes what only looks like it', () => {
    expect(() => parseFormBody(' {"name":"a=b&c"}')).toThrow('the body is JSON')
    expect(parseFormBody('{"a=1')).toEqual({ '{"a': '1' })
  })

  it('takes the replacement character where it was sent', () => {
    expect(parseFormBody('a=%ef%bf%bd&b=\ufffd')).toEqual({ a: '\ufffd', b: '\ufffd' })
  })

  it('refuses more fields than a form has, before they are read', () => {
    const fields = Array.from({ length: 200_000 }, (_, index) => index.toString(36))
    const refuse = (text: string) => () => expect(() => parseFormBody(text)).toThrow('more than 1000 names')
    expect(quickestMs(refuse(fields.join('&')), 100)).toBeLessThan(100)
    expect(quickestMs(refuse('&'.repeat(1_000_000)), 100)).toBeLessThan(100)
    expect(Object.keys(parseFormBody(fields.slice(0, 1000).join('&')) ?? {})).toHaveLength(1000)
  })

  it.each(['a=1&a=2', '__proto__=1', 'a=b%ff', 'b%c3=1', 'a=%ed%a0%80'])('refuses %s', (text) => {
    expect(() => parseFormBody(text)).toThrow('body')
  })
})

describe('parseMultipartBody', () => {
  const type = 'multipart/form-data; boundary=b'
  const part = (head: string, text: string): string =>
    `--b\r\ncontent-disposition: form-data; ${head}\r\n\r\n${text}\r\n`
  const parse = (body: string, contentType = type) => parseMultipartBody(Buffer.from(body), contentType)

  it('takes fields, and files as text', async () => {
    const body = `${part('name="a"', '1')}${part('name="file"; filename="k.txt"', 'é\r\n2')}--b--\r\n`
    expect(await parse(body)).toEqual({ a: '1', file: 'é\r\n2' })
  })

  it('refuses more lines than a form has, before they are read', async () => {
    const parts = Array.from({ length: 15_000 }, (_, index) => part(`name="${index}"`, ''))
    for (const body of [`${parts.join('')}--b--`, `--b\r\n${'a: b\r\n'.repeat(100_000)}`])
      await expect(parse(body)).rejects.toThrow('more than 10000 lines')
  })

  it.each([
    [
      'many parameters',
      `${part(`name="a"${';a=b'.repeat(2000)}`, '1')}--b--`,
      'multipart/form-data; boundary=b',
      'a header of more',
    ],
    ['no boundary', `${part('name="a"', '1')}--b--`, 'multipart/form-data', 'not valid'],
    ['no end', part('name="a"', '1'), type, 'not valid'],
    ['no form at all', '{"a":1}', type, 'not valid'],
    ['a field without a name', `${part('filename="a"', '1')}--b--`, type, 'not valid'],
    ['a field twice', `${part('name="a"', '1')}${part('name="a"', '2')}--b--`, type, 'twice'],
    ['a dangerous name', `${part('name="__proto__"', '1')}--b--`, type, '__proto__'],
  ])('refuses %s', async (_what, body, contentType, msg) => {
    await expect(parse(body, contentType)).rejects.toMatchObject({
      code: 'malformed_body',
      message: expect.stringContaining(msg),
    })
  })
})
