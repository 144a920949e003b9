import { describe, expect, it } from 'vitest'
import { changesBetween, nearestWord } from './nearest-word.ts'

describe('the nearest word', () => {
  it.each([
    ['sya', 'say'],
    ['gahter', 'gather'],
    ['confrence', 'conference'],
    ['hang-up', 'hangup'],
  ])('of %s is %s', (given, word) => {
    expect(nearestWord(given, ['say', 'alert', 'gather', 'conference', 'hangup'])).toBe(word)
  })

  it.each(['record', 'synthesize', 'tts', ''])('is none for %j, which is like no other', (given) => {
    expect(nearestWord(given, ['say', 'tag', 'alert', 'enqueue', 'redirect'])).toBeUndefined()
  })
})

describe('the changes between two words', () => {
  it.each([
    ['', 'abc', 3],
    ['abc', '', 3],
    ['prot', 'port', 1],
    ['kitten', 'sitting', 3],
    ['abc', 'abc', 0],
  ])('from %j to %j are %d', (from, to, changes) => {
    expect(changesBetween(from, to)).toBe(changes)
  })
})
