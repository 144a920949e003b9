import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import type { Session } from '../database/database.ts'
import { openConnection, type Connection } from './sqlite-connection.ts'
import { createTransactionGroups, type Commit } from './transaction-groups.ts'
import { createWriteQueue } from '../database/write-queue.ts'

let folder: string
let clock: FakeClock
let connection: Connection
let other: Connection
let commit: Commit
let commits: number
/** A function to run instead of the next COMMIT. */
let insteadOfCommit: (() => void) | undefined
/** A function to run instead of the next ROLLBACK. */
let insteadOfRollback: (() => void) | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'switchhook-groups-'))
  const path = join(folder, 'test.db')
  clock = createFakeClock()
  connection = openConnection({ path, readOnly: false, synchronous: 'NORMAL' })
  connection.exec('create table names (name text not null unique)')
  other = openConnection({ path, readOnly: true, synchronous: 'NORMAL' })
  commits = 0
  const writer: Connection = {
    ...connection,
    run(sql) {
      if (sql === 'COMMIT') {
        const instead = insteadOfCommit
        insteadOfCommit = undefined
        if (instead !== undefined) return instead()
        commits++
      }
      if (sql === 'ROLLBACK') {
        const instead = insteadOfRollback
        insteadOfRollback = undefined
        if (instead !== undefined) return instead()
      }
      connection.run(sql)
    },
  }
  commit = createTransactionGroups({ writer, clock, queue: createWriteQueue() })
})
afterEach(async () => {
  insteadOfCommit = undefined
  other.close()
  connection.close()
  await rm(folder, { recursive: true })
})

const insert =
  (name: string) =>
  (session: Session): Promise<unknown> =>
    session.all('insert into names values (?)', [name])

/** Returns the names that other connections see. */
const names = (): unknown[] => other.all('select name from names order by name', []).map(({ name }) => name)

describe('a transaction that comes alone', () => {
  it('is undone when it fails, by a statement, by its own error or by its commit, and the next one is not', async () => {
    const failing = commit(async (session) => {
      await insert('a')(session)
      throw new Error('its own')
    })
    await expect(failing).rejects.toThrow('its own')
    await expect(commit((session) => session.all('insert into names values (null)', []))).rejects.toThrow(
      /NOT NULL/,
    )
    insteadOfCommit = () => {
      throw new Error('no commit')
    }
    await expect(commit(insert('b'))).rejects.toThrow('no commit')
    await commit(insert('c'))
    expect(names()).toEqual(['c'])
  })
})

describe('transactions that come together', () => {
  it('share one commit, and each settles once it is made', async () => {
    const told: string[] = []
    const writes = ['a', 'b', 'c'].map(async (name) => {
      await commit(async (session) => {
        await insert(name)(session)
        expect(names()).toEqual([])
      })
      expect(names()).toEqual(['a', 'b', 'c'])
      told.push(name)
    })
    await Promise.all(writes)
    expect(told).toEqual(['a', 'b', 'c'])
    expect(commits).toBe(1)
  })

  it('see what those before them have written', async () => {
    const first = commit(insert('a'))
    const second = commit((session) => session.all('select name from names', []))
    await first
    expect(await second).toEqual([{ name: 'a' }])
  })

  it('are undone alone when they fail, by a statement or by their own error', async () => {
    const outcomes = await Promise.allSettled([
      commit(insert('a')),
      commit(async (session) => {
        await insert('half')(session)
        await insert('a')(session)
      }),
      commit(async (session) => {
        await insert('other half')(session)
        throw new Error('on purpose')
      }),
      commit(insert('b')),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(outcomes[2]).toMatchObject({ reason: { message: 'on purpose' } })
    expect(names()).toEqual(['a', 'b'])
    expect(commits).toBe(1)
  })

  it('are all refused when the commit fails, and nothing of them remains', async () => {
    insteadOfCommit = () => {
      throw Object.assign(new Error('disk I/O error'), { errcode: 10 })
    }
    const outcomes = await Promise.allSettled([commit(insert('a')), commit(insert('b'))])
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'database_unavailable' } })
    await commit(insert('c'))
    expect(names()).toEqual(['c'])
  })

  it('are refused up to the one at which the database has undone all of them; the others run', async () => {
    const outcomes = await Promise.allSettled([
      commit(insert('a')),
      commit(async () => {
        // The database does this by itself when the disk is full.
        connection.exec('ROLLBACK')
        throw Object.assign(new Error('database or disk is full'), { errcode: 13 })
      }),
      commit(insert('b')),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
    expect(outcomes[0]).toMatchObject({ reason: { code: 'disk_full' } })
    expect(names()).toEqual(['b'])
  })

  it('run again after a ROLLBACK has failed, since the next group makes up for it', async () => {
    insteadOfCommit = () => {
      insteadOfRollback = () => {
        throw new Error('disk I/O error')
      }
      throw new Error('disk I/O error')
    }
    await expect(commit(insert('a'))).rejects.toThrow()
    await commit(insert('b'))
    expect(names()).toEqual(['b'])
  })

  it('are spread over commits of a few when they take long, in the order in which they came', async () => {
    const order: number[] = []
    const writes = Array.from({ length: 20 }, (_, n) =>
      commit(async (session) => {
        await insert(`${n}`)(session)
        order.push(n)
        clock.advance(5)
      }),
    )
    await Promise.all(writes)
    expect(order).toEqual(Array.from({ length: 20 }, (_, n) => n))
    expect(commits).toBe(3)
  })

  it('are spread over commits of 262,144 characters where they write long texts, which take time on any machine', async () => {
    const writes = Array.from({ length: 8 }, (_, n) => commit(insert(`${n}`.padEnd(131_072, 'x'))))
    await Promise.all([...writes, commit(insert('short'))])
    expect(commits).toBe(5)
  })

  it('are refused at once when ten thousand wait', async () => {
    const writes = Array.from({ length: 10_000 }, () => commit(async () => undefined))
    await expect(commit(insert('late'))).rejects.toMatchObject({ code: 'overloaded' })
    await Promise.all(writes)
    await commit(insert('later'))
    expect(names()).toEqual(['later'])
  })
})
