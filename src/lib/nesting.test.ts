import { describe, expect, it } from 'vitest'
import { isNestedTooDeep, maxNesting } from './nesting.ts'

const arrays = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const objects = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)

describe('JSON text', () => {
  it.each([
    ['arrays', arrays],
    ['objects', objects],
  ])('may have 32 levels of %s, and no more', (_, text) => {
    expect([isNestedTooDeep(text(maxNesting)), isNestedTooDeep(text(maxNesting + 1))]).toEqual([false, true])
  })

  it('may have any number of them side by side, and brackets in its texts', () => {
    expect(isNestedTooDeep(`[${Array(1000).fill('[{}]').join(',')}]`)).toBe(false)
    expect(isNestedTooDeep(JSON.stringify({ ['[[[{{{'.repeat(50)]: `\\"${'['.repeat(100)}` }))).toBe(false)
  })

  it('that is broken off is looked through to its end', () => {
    expect(isNestedTooDeep('["\\')).toBe(false)
    expect(isNestedTooDeep('['.repeat(maxNesting + 1))).toBe(true)
  })
})
