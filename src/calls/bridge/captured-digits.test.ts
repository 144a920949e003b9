import { expect, it } from 'vitest'
import { CapturedDigits } from './captured-digits.ts'

function found(sequences: readonly string[], keys: string, pauseMs = 100): (string | undefined)[] {
  const digits = new CapturedDigits(sequences)
  return Array.from(keys, (key, index) => digits.press(key, index * pauseMs))
}

it('a sequence is found when its last key is pressed, whatever came before', () => {
  expect(found(['*1', '##'], '9*1##')).toEqual([undefined, undefined, '*1', undefined, '##'])
})

it('the longer of two sequences with the same end is found', () => {
  expect(found(['1', '*1'], '*11')).toEqual([undefined, '*1', '1'])
})

it('a pause of more than three seconds begins a new sequence', () => {
  expect(found(['*1'], '*1', 3000)).toEqual([undefined, '*1'])
  expect(found(['*1'], '*1', 3001)).toEqual([undefined, undefined])
})

it('an empty sequence is never found', () => {
  expect(found([''], '123')).toEqual([undefined, undefined, undefined])
})
