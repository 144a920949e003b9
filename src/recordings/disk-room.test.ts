import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { diskOf, roomOn } from './disk-room.ts'

const gigabyte = 1_073_741_824

it.each([
  ['a small disk', { size: 1000, freeBytes: 600 }, 500],
  ['a large one', { size: 100 * gigabyte, freeBytes: 60 * gigabyte }, 59 * gigabyte],
  ['one that is full but for that', { size: 1000, freeBytes: 90 }, 0],
])('recordings leave a tenth of %s, or a gigabyte, free', (_what, disk, room) => {
  expect(roomOn(disk)).toBe(room)
})

it('a folder says what its disk has, and one that is not there throws', () => {
  const { size, freeBytes } = diskOf(tmpdir())
  expect(freeBytes).toBeGreaterThan(0)
  expect(size).toBeGreaterThanOrEqual(freeBytes)
  expect(() => diskOf('/nothing/here')).toThrow('ENOENT')
})
