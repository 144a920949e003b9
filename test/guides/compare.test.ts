import { describe, expect, it } from 'vitest'
import { differenceOf } from './compare.ts'

const sid = '01a20239-2106-4d3c-8f3e-66daad174128'

describe('the answer of a guide', () => {
  it.each([
    ['json', '{ "sid": "00000000-0000-4000-8000-000000000000" }', `{"sid":"${sid}"}`],
    ['json', '{\n  "a": 1,\n  ...\n}', '{"a":1,"b":2}'],
    ['json', '{ "a": 1, ... }', '{"a":1,"b":2}'],
    ['json', '{ "data": [ { "to": "1", ... } ], ... }', '{"total":1,"data":[{"to":"1","x":[]}]}'],
    ['json', '{ "duration": 3 }', '{"duration":5}'],
    ['text', '...\n  0.4 s  hears speech', '0.0 s dials\n  12.1 s  hears speech\n'],
    ['text', 'admin password   ...', 'admin password   secret'],
  ] as const)('the shown answer matches the printed one: %s %s', (language, shown, printed) => {
    expect(differenceOf(language, shown, printed)).toBeUndefined()
  })

  it.each([
    ['json', '{ "sid": "x" }', '{"msg":"no"}'],
    ['json', '{ "a": 1 }', '{"a":1,"b":2}'],
    ['json', '{ "a": 1, ... }', '{"a":2,"b":2}'],
    ['json', '[]', 'curl: failed'],
    ['text', 'one\ntwo', 'one'],
    ['text', 'one', 'one\ntwo'],
    ['text', '...\ntwo\nthree', 'one\ntwo\nmore\nthree'],
  ] as const)('the shown answer does not match the printed one: %s %s', (language, shown, printed) => {
    expect(differenceOf(language, shown, printed)).toBeTypeOf('string')
  })
})
