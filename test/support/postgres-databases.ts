// PostgreSQL databases for tests, one for each test, on the server that the test run shares.
import { randomBytes } from 'node:crypto'
import { createConnection } from 'node:net'
import { text } from 'node:stream/consumers'
import { inject } from 'vitest'
import { Client } from 'pg'
import { postgresUrl } from './postgres-server.ts'
import type { StoreReader } from './store-reader.ts'

export interface TestDatabase {
  readonly url: string
  /** The folder of the server's socket. */
  readonly folder: string
  readonly name: string
  /** Runs a statement as the server's superuser. */
  query(sql: string): Promise<Record<string, unknown>[]>
  /** Opens a separate connection, for many statements. */
  openReader(): Promise<StoreReader>
  /** Returns every row of every table, as text. */
  contents(): Promise<string>
  /** Closes every connection to the database and drops it. */
  remove(): Promise<void>
}

/** The answer of the desk of global-setup.ts. */
export interface ServerOfRun {
  /** The folder of its socket. */
  readonly folder: string
  /** The name of a database with this version's schema and no rows. */
  readonly template: string
}

let asked: Promise<ServerOfRun> | undefined

async function askDesk(): Promise<ServerOfRun> {
  const answer = JSON.parse(await text(createConnection(inject('postgresDesk')))) as
    ServerOfRun | { readonly error: string }
  if ('error' in answer) throw new Error(answer.error)
  return answer
}

const serverOfRun = (): Promise<ServerOfRun> => (asked ??= askDesk())

/** Creates an empty database. */
export async function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(await serverOfRun(), 'template1')
}

/** Creates a database with the tables in place: copying a migrated one takes a tenth of the time of migrating. */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  const server = await serverOfRun()
  return createDatabase(server, server.template)
}

interface Lasting {
  run(sql: string): Promise<Record<string, unknown>[]>
  end(): Promise<void>
}

/** Creates one connection for many statements: connecting costs the server 5 ms of processor time, a statement 0.1. */
function createLasting(url: string): Lasting {
  let client: Promise<Client> | undefined
  async function connect(): Promise<Client> {
    const made = new Client({ connectionString: url })
    // A test may end every connection to its database: the next statement opens another.
    made.on('error', () => (client = undefined))
    await made.connect()
    // An open connection does not keep a process alive whose tests are done.
    ;(made as Client & { unref(): void }).unref()
    return made
  }
  return {
    async run(sql) {
      client ??= connect()
      const { rows } = await (await client).query<Record<string, unknown>>(sql)
      return rows
    },
    async end() {
      const last = client
      client = undefined
      await (await last)?.end()
    },
  }
}

let desk: Lasting | undefined

/** Runs a statement on a connection that lasts until the process or the server ends. */
function administrate(folder: string, sql: string): Promise<unknown> {
  desk ??= createLasting(postgresUrl(folder, 'postgres'))
  return desk.run(sql)
}

async function createDatabase({ folder }: ServerOfRun, template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  // File copy costs a quarter of logging each page first, if the files are in memory.
  await administrate(folder, `create database ${name} template ${template} strategy file_copy`)
  const url = postgresUrl(folder, name)
  const reader = createLasting(url)
  return {
    url,
    folder,
    name,
    query: (sql) => reader.run(sql),
    async openReader() {
      const client = new Client({ connectionString: url })
      await client.connect()
      return {
        query: async (sql) => (await client.query<Record<string, unknown>>(sql)).rows,
        close: () => client.end(),
      }
    },
    async contents() {
      const tables = await reader.run("select tablename as name from pg_tables where schemaname = 'public'")
      const texts = await Promise.all(
        tables.map(({ name }) =>
          reader.run(`select coalesce(string_agg(t::text, ' '), '') as text from "${String(name)}" t`),
        ),
      )
      return texts.map(([row]) => String(row?.['text'])).join(' ')
    },
    async remove() {
      await reader.end()
      await administrate(folder, `drop database ${name} with (force)`)
    },
  }
}
