import { describe, expect, it } from 'vitest'
import { goneError } from '../../lib/asker.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { createListMemo } from './list-memo.ts'
import type { ListMemo, ListAnswer } from '../services.ts'

function memoOf(): ListMemo {
  return createListMemo({ revision: () => 1, isShared: false }, createFakeClock())
}

const text = (content: string): ListAnswer => Buffer.from(content)

describe('a list that several ask for at once', () => {
  it('is read once', async () => {
    const lists = memoOf()
    const reads: string[] = []
    const ask = (name: string): Promise<ListAnswer> =>
      lists('key', async () => {
        reads.push(name)
        return text('[]')
      })
    expect(await Promise.all([ask('first'), ask('second'), ask('third')])).toEqual(Array(3).fill(text('[]')))
    expect(reads).toEqual(['first'])
  })

  it('is read by the next of them when the one who reads goes away', async () => {
    const lists = memoOf()
    const reads: string[] = []
    const leaving = Promise.withResolvers<ListAnswer>()
    const read = (name: string, answer: Promise<ListAnswer>): Promise<ListAnswer> =>
      lists('key', () => {
        reads.push(name)
        return answer
      })
    const first = read('first', leaving.promise)
    const others = [read('second', leaving.promise), read('third', Promise.resolve(text('[]')))]
    const fourth = read('fourth', Promise.resolve(text('not read')))
    leaving.reject(goneError())
    await expect(first).rejects.toThrow('the client went away')
    // By the time of its turn, its own client has gone too.
    await expect(others[0]).rejects.toThrow('the client went away')
    expect(await others[1]).toEqual(text('[]'))
    expect(await fourth).toEqual(text('[]'))
    expect(reads).toEqual(['first', 'second', 'third'])
  })

  it('fails for all of them when reading it fails', async () => {
    const lists = memoOf()
    const failing = lists('key', () => Promise.reject(new Error('no database')))
    const waiting = lists('key', async () => text('[]'))
    await expect(failing).rejects.toThrow('no database')
    await expect(waiting).rejects.toThrow('no database')
  })
})
