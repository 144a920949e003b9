import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { toDiskFailure } from './sqlite-failure.ts'

const folder = mkdtempSync(join(tmpdir(), 'switchhook-disk-'))
const path = join(folder, 'full.db')

afterEach(() => rmSync(path, { force: true }))
afterAll(() => rmSync(folder, { recursive: true }))

/** Returns the error that SQLite throws while `fill` runs. */
function failureOf(fill: (database: DatabaseSync) => void): unknown {
  const database = new DatabaseSync(path)
  try {
    database.exec('create table t (x unique)')
    fill(database)
    throw new Error('nothing failed')
  } catch (error) {
    return error
  } finally {
    database.close()
  }
}

describe('a failure of the disk', () => {
  it('that is full reaches the caller as disk_full that says so and what to do, with its cause for the log', () => {
    const failure = failureOf((database) => {
      database.exec('pragma max_page_count = 3')
      database.exec('insert into t values (zeroblob(100000))')
    })
    expect(toDiskFailure(failure)).toMatchObject({
      code: 'disk_full',
      message: 'the disk with the database is full',
      cure: expect.stringContaining('SWITCHHOOK_DATA_DIR') as string,
      cause: failure,
    })
  })

  it('that may only be read does so too', () => {
    const failure = failureOf(() => {
      const readOnly = new DatabaseSync(path, { readOnly: true })
      try {
        readOnly.exec('insert into t values (1)')
      } finally {
        readOnly.close()
      }
    })
    expect(toDiskFailure(failure)).toMatchObject({ code: 'database_unavailable' })
  })

  it('is not seen in a broken rule of the schema, nor in a bug', () => {
    const broken = failureOf((database) => database.exec('insert into t values (1), (1)'))
    expect(toDiskFailure(broken)).toBe(broken)
    const bug = new TypeError('a bug')
    expect(toDiskFailure(bug)).toBe(bug)
  })
})
