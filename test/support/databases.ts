// Empty PostgreSQL databases for tests, on the server that the test run shares.
import { randomBytes } from 'node:crypto'
import { createConnection } from 'node:net'
import { text } from 'node:stream/consumers'
import { Client } from 'pg'
import { inject } from 'vitest'
import { postgresUrl } from './postgres.ts'

export interface TestDatabase {
  readonly url: string
  /** Where the server's socket lies. */
  readonly folder: string
  readonly name: string
  /** Runs a statement as the server's superuser. */
  query(sql: string): Promise<Record<string, unknown>[]>
  /** Every row of every table, as text. */
  contents(): Promise<string>
  /** Ends every connection to it, and the database. */
  remove(): Promise<void>
}

let asked: Promise<string> | undefined

async function serverFolder(): Promise<string> {
  const answer = JSON.parse(await text(createConnection(inject('postgresDesk')))) as {
    readonly folder?: string
    readonly error?: string
  }
  if (answer.folder === undefined) throw new Error(answer.error ?? 'PostgreSQL did not start')
  return answer.folder
}

export async function createTestDatabase(): Promise<TestDatabase> {
  asked ??= serverFolder()
  const folder = await asked
  const name = `test_${randomBytes(6).toString('hex')}`
  await runOn(postgresUrl(folder, 'postgres'), `create database ${name}`)
  const url = postgresUrl(folder, name)
  return {
    url,
    folder,
    name,
    query: (sql) => runOn(url, sql),
    async contents() {
      const tables = await runOn(url, "select tablename as name from pg_tables where schemaname = 'public'")
      const texts = await Promise.all(
        tables.map(({ name }) =>
          runOn(url, `select coalesce(string_agg(t::text, ' '), '') as text from "${String(name)}" t`),
        ),
      )
      return texts.map(([row]) => String(row?.['text'])).join(' ')
    },
    async remove() {
      await runOn(postgresUrl(folder, 'postgres'), `drop database ${name} with (force)`)
    },
  }
}

async function runOn(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<Record<string, unknown>>(sql)
    return rows
  } finally {
    await client.end()
  }
}
