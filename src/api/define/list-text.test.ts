import { describe, expect, it } from 'vitest'
import { readPage, readWhole, type ListSource } from './list-text.ts'
import type { ListAnswer } from '../services.ts'

async function textOf(answer: ListAnswer): Promise<string> {
  if (Buffer.isBuffer(answer)) return answer.toString()
  return Buffer.concat(
    (await answer.toArray()).map((piece: string | Buffer) => Buffer.from(piece)),
  ).toString()
}

/** Rows with the keys 000, 001 ..., each of that many bytes as text, the first `small` of them of 100. */
function sourceOf(count: number, bytes: number, small = 0) {
  const keys = Array.from({ length: count }, (_, index) => String(index).padStart(4, '0'))
  const reads: number[] = []
  const source: ListSource = {
    key: 'sid',
    count: () => Promise.resolve(count),
    read: ({ limit = count, offset = 0, after = '' }) => {
      const found = keys.filter((key) => key > after).slice(offset, offset + limit)
      reads.push(found.length)
      return Promise.resolve(found.map((sid) => ({ sid })))
    },
    toTexts: (rows) =>
      Promise.resolve(
        rows.map(({ sid }) => JSON.stringify(String(sid).padEnd((Number(sid) < small ? 100 : bytes) - 2))),
      ),
  }
  return { source, reads, keys }
}

const keysOf = (list: unknown): string[] => (list as string[]).map((text) => text.trim())

describe('a list', () => {
  it.each([0, 1, 3, 4, 5, 511, 512, 513, 640, 2000])('of %i rows is whole', async (count) => {
    for (const orderBy of [['sid'], ['name']]) {
      const { source, keys } = sourceOf(count, 100)
      const answer = await readWhole(source, orderBy)
      expect(keysOf(JSON.parse(await textOf(answer)))).toEqual(keys)
      expect(Buffer.isBuffer(answer)).toBe(count < 512)
    }
  })

  it('is read in small parts where its rows are large', async () => {
    const { source, reads, keys } = sourceOf(60, 250_000)
    const list: unknown = JSON.parse(await textOf(await readWhole(source, ['sid'])))
    expect(keysOf(list)).toEqual(keys)
    expect(Math.max(...reads)).toBe(4)
    expect(reads.slice(2).every((rows) => rows <= 2)).toBe(true)
  })

  it('is read in parts that stay small where large rows follow small ones', async () => {
    for (const small of [4, 300, 700]) {
      const { source, reads } = sourceOf(small + 60, 250_000, small)
      const answer = await readWhole(source, ['sid'])
      await textOf(answer)
      expect(Math.max(...reads)).toBe(32)
      expect(reads.slice(Math.ceil(small / 32) + 4).every((rows) => rows <= 2)).toBe(true)
    }
  })
})

describe('a page', () => {
  it.each([
    [1, 50, 2000],
    [2, 600, 2000],
    [3, 512, 1536],
    [1, 10_000, 1300],
    [4, 500, 1600],
    [9, 500, 1600],
  ])('number %i of %i rows out of %i is whole', async (number, size, count) => {
    const { source, keys } = sourceOf(count, 100)
    const answer = await readPage(source, { orderBy: ['name'], number, size })
    const { data, ...envelope } = JSON.parse(await textOf(answer)) as { readonly data: unknown }
    expect(envelope).toEqual({ total: count, page: number, page_size: size })
    expect(keysOf(data)).toEqual(keys.slice((number - 1) * size, number * size))
  })

  it('is read in small parts where its rows are large', async () => {
    const { source, reads, keys } = sourceOf(60, 250_000)
    const answer = await readPage(source, { orderBy: ['sid'], number: 1, size: 10_000 })
    const { data } = JSON.parse(await textOf(answer)) as { readonly data: unknown }
    expect(keysOf(data)).toEqual(keys)
    expect(Math.max(...reads)).toBe(4)
  })
})
