import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import type { Cells } from './database.ts'
import { runInSession } from './transaction-session.ts'

/** Creates a database that responds only when the test lets it. */
function createSlowDatabase() {
  const asked: { readonly sql: string; readonly answer: PromiseWithResolvers<Cells[]> }[] = []
  return {
    asked,
    statements: () => asked.map(({ sql }) => sql),
    run: (sql: string): Promise<Cells[]> => {
      const answer = Promise.withResolvers<Cells[]>()
      asked.push({ sql, answer })
      return answer.promise
    },
  }
}

/** Resolves once every callback that is ready has run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('the statements that a transaction begins at once', () => {
  it('reach the database one after another, in their order', async () => {
    const database = createSlowDatabase()
    const work = runInSession(
      (session) => Promise.all(['a', 'b', 'c'].map((sql) => session.all(sql, []))),
      database.run,
      createFakeClock(),
    )
    for (const expected of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
      await settle()
      expect(database.statements()).toEqual(expected)
      database.asked.at(-1)?.answer.resolve([{ n: expected.length }])
    }
    expect(await work).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]])
  })

  it('never run behind one that failed, and all fail with it', async () => {
    const database = createSlowDatabase()
    let outcomes: PromiseSettledResult<Cells[]>[] = []
    const work = runInSession(
      async (session) => {
        outcomes = await Promise.allSettled(['a', 'b'].map((sql) => session.all(sql, [])))
      },
      database.run,
      createFakeClock(),
    )
    await settle()
    const reason = new Error('no such table')
    database.asked[0]?.answer.reject(reason)
    await expect(work).rejects.toBe(reason)
    expect(outcomes).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ])
    expect(database.statements()).toEqual(['a'])
  })

  it('never run once the transaction has ended', async () => {
    const database = createSlowDatabase()
    let begun: Promise<Cells[]>[] = []
    const work = runInSession(
      async (session) => {
        begun = ['a', 'b'].map((sql) => session.all(sql, []))
        throw new Error('changed my mind')
      },
      database.run,
      createFakeClock(),
    )
    await expect(work).rejects.toThrow('changed my mind')
    const [first, second] = begun
    database.asked[0]?.answer.resolve([])
    await first
    await expect(second).rejects.toThrow('after its transaction had ended')
    expect(database.statements()).toEqual(['a'])
  })
})
