import { describe, expect, it } from 'vitest'
import { quickestMs } from '../../test/support/cpu.ts'
import { toSegments } from './segments.ts'
import { splitSentences } from './split-sentences.ts'

describe('splitSentences', () => {
  it('leaves a short text whole', () => expect(splitSentences(' Hello there. ')).toEqual(['Hello there.']))

  it('has nothing to say of nothing', () => expect(splitSentences('  ')).toEqual([]))

  it('cuts at the last end of a sentence that fits', () =>
    expect(splitSentences('One two. Three four! Five six?', 22)).toEqual([
      'One two. Three four!',
      'Five six?',
    ]))

  it('cuts at a clause or a word where there is no sentence', () => {
    expect(splitSentences('one two, three four five', 12)).toEqual(['one two,', 'three four', 'five'])
  })

  it('cuts a word without end, and never a character in two', () => {
    expect(splitSentences('aaaaaaa', 3)).toEqual(['aaa', 'aaa', 'a'])
    expect(splitSentences('a😀😀', 2)).toEqual(['a', '😀', '😀'])
  })

  it('loses no word and exceeds no length', () => {
    const text = 'The quick brown fox jumps; over, the lazy dog. '.repeat(200)
    const pieces = splitSentences(text, 900)
    expect(pieces.join(' ')).toBe(text.trim())
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(900)
  })
})

describe('toSegments', () => {
  it.each([
    ['plain text', [{ text: 'plain text' }]],
    ['with\r\ncontrol\u0000\u0007 and \t space', [{ text: 'with control and space' }]],
    ['5 < 6 & 7 > 2', [{ text: '5 < 6 & 7 > 2' }]],
    ['<speak>Hello &amp; <b>good</b> day&#33;</speak>', [{ text: 'Hello & good day!' }]],
    [
      '<speak version="1.0">a<break time="300ms"/>b</speak>',
      [{ text: 'a' }, { pauseMs: 300 }, { text: 'b' }],
    ],
    ['<speak>a<break time="1.5s"/>b</speak>', [{ text: 'a' }, { pauseMs: 1500 }, { text: 'b' }]],
    ['<speak>a<break/>b</speak>', [{ text: 'a' }, { pauseMs: 500 }, { text: 'b' }]],
    ['<speak>a<break strength="none"/>b</speak>', [{ text: 'a' }, { text: 'b' }]],
    ['<speak>a<break time="99999s"/></speak>', [{ text: 'a' }, { pauseMs: 10_000 }]],
    ['<speak><s>a</s><s>b</s></speak>', [{ text: 'a' }, { pauseMs: 250 }, { text: 'b' }, { pauseMs: 250 }]],
    ['<speak>code <say-as interpret-as="digits">123</say-as></speak>', [{ text: 'code 1 2 3' }]],
    ['<speak><sub alias="World Wide Web">WWW</sub> now</speak>', [{ text: 'World Wide Web now' }]],
    ['<speak>a<!-- <break time="1s"/> -->b</speak>', [{ text: 'ab' }]],
    ['<speak>broken <tag', [{ text: 'broken <tag' }]],
    ['<speak>&unknown; &#xD800; &#99999999;</speak>', [{ text: '&unknown; &#99999999;' }]],
    ['<speak></speak>', []],
    ['', []],
  ])('reads %j', (text, segments) => expect(toSegments(text)).toEqual(segments))

  it('pauses for two minutes at most in all: silence takes memory as speech does', () => {
    const segments = toSegments(`<speak>${'<break time="10s"/>'.repeat(500)}done</speak>`)
    const pauses = segments.flatMap((segment) => ('pauseMs' in segment ? [segment.pauseMs] : []))
    expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBe(120_000)
    expect(segments.at(-1)).toEqual({ text: 'done' })
  })

  it('needs no more than a moment for hostile markup', () => {
    const read = (): void => {
      toSegments(`<speak>${'<'.repeat(10_000)}`)
      toSegments(`<speak>${'<!--'.repeat(2500)}`)
      toSegments(`<speak>${'&#'.repeat(5000)}`)
      toSegments(`<speak><sub ${'alias='.repeat(1600)}>`)
    }
    expect(quickestMs(read, 500)).toBeLessThan(500)
  })
})
