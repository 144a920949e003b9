import { beforeEach, expect, it } from 'vitest'
import { HalfOpen } from './half-open.ts'

const stranger = 1 / 4
const proven = 1
let open: HalfOpen<string>

/**
 * Begins as many handshakes of a source as it may, up to `count`, and returns how many. Each is named by its source
 * and number.
 */
function flood(address: string, count: number, share = stranger): number {
  let begun = 0
  for (; begun < count && open.mayBegin(address, share); begun += 1) {
    const former = open.givesWay()
    if (former !== undefined) open.end(former)
    open.begin(`${address} ${begun + 1}`, address, share)
  }
  return begun
}

beforeEach(() => {
  open = new HalfOpen(10)
})

it('gives a source that takes all it can its share, and the others the rest', () => {
  expect(flood('192.0.2.1', 99)).toBe(2)
  expect(flood('192.0.2.2', 99, proven)).toBe(4)
  expect(open.givesWay()).toBeUndefined()
})

it('ends at the bound the oldest handshake of the source that has most of its share', () => {
  flood('192.0.2.1', 2)
  flood('192.0.2.9', 4, proven)
  for (const last of [2, 3, 4, 5]) flood(`192.0.2.${last}`, 1)
  expect(open.size).toBe(10)
  // Two of a stranger are a larger part of its share than four of a proven source; after that, one is as much as four.
  expect(open.givesWay()).toBe('192.0.2.1 1')
  flood('192.0.2.6', 1)
  expect(open.givesWay()).toBe('192.0.2.1 2')
})

it('refuses, at the limit, a source that has as much as the others, so that none of them loses a handshake', () => {
  for (let last = 1; last <= 10; last += 1) flood(`192.0.2.${last}`, 1)
  expect(open.mayBegin('192.0.2.5', stranger)).toBe(false)
  expect(open.mayBegin('192.0.2.99', stranger)).toBe(true)
  // Three of a proven source are a smaller part of its share than one of a stranger.
  expect(flood('192.0.2.99', 9, proven)).toBe(3)
})

it('takes the addresses of one host for one source, and forgets it with its last handshake', () => {
  open.begin('a', '2001:db8:1:2::1', stranger)
  for (let last = 1; last <= 9; last += 1) flood(`192.0.2.${last}`, 1)
  expect(open.mayBegin('2001:db8:1:2::ffff', stranger)).toBe(false)
  expect([open.end('a'), open.end('a'), open.size]).toEqual([true, false, 9])
  expect(open.mayBegin('2001:db8:1:2::ffff', stranger)).toBe(true)
})
