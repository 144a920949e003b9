import { expect, it } from 'vitest'
import { quote } from './quote.ts'

it.each([
  ['plain text', 'front desk'],
  ['nothing', ''],
  ['quotes and backslashes', 'a "b" \\ c'],
  ['control characters', 'a\u0000b\u001f\n\r\t\u007f'],
  ['letters beyond ASCII', 'Ärger, 東京, \u2028'],
  ['a pair of surrogates', '\u{1f600}'],
  ['halves of pairs', 'a\ud83d b\ude00'],
])('writes %s as JSON.stringify does', (_name, text) => {
  expect(quote(text)).toBe(JSON.stringify(text))
})

it('escapes every character that JSON.stringify escapes', () => {
  for (let code = 0; code <= 0xffff; code += 1) {
    const text = String.fromCharCode(code)
    if (quote(text) !== JSON.stringify(text)) expect.fail(`U+${code.toString(16)}`)
  }
})
