import { describe, expect, it } from 'vitest'
import { FairLine } from './fair-line.ts'

describe('a fair line', () => {
  it('lets tenants take turns, whatever one of them has waiting', () => {
    const line = new FairLine<string>()
    for (const item of ['a1', 'a2', 'a3']) line.push('a', item)
    line.push('b', 'b1')
    line.push('c', 'c1')
    expect(line.take((item) => item === 'a2')).toBe('a2')
    expect(line.shift((tenant) => tenant !== 'a')).toBe('b1')
    expect([line.shift(), line.shift(), line.length, line.shift(), line.shift()]).toEqual([
      'a1',
      'c1',
      1,
      'a3',
      undefined,
    ])
  })

  it('takes an item back before the others of its tenant, after the tenants that wait', () => {
    const line = new FairLine<string>()
    for (const item of ['a1', 'a2']) line.push('a', item)
    line.push('b', 'b1')
    line.putBack('a', line.shift()!)
    expect([line.length, line.shift(), line.shift(), line.shift()]).toEqual([3, 'b1', 'a1', 'a2'])
  })
})
