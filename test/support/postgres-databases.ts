// PostgreSQL databases for tests, one for each, on the server that the test run shares.
import { randomBytes } from 'node:crypto'
import { createConnection } from 'node:net'
import { text } from 'node:stream/consumers'
import { inject } from 'vitest'
import { Client } from 'pg'
import { postgresUrl } from './postgres-server.ts'
import type { StoreReader } from './store-reader.ts'

export interface TestDatabase {
  readonly url: string
  /** Where the server's socket lies. */
  readonly folder: string
  readonly name: string
  /** Runs a statement as the server's superuser. */
  query(sql: string): Promise<Record<string, unknown>[]>
  /** A connection of its own, for many statements. */
  openReader(): Promise<StoreReader>
  /** Every row of every table, as text. */
  contents(): Promise<string>
  /** Ends every connection to it, and the database. */
  remove(): Promise<void>
}

/** What the desk of global-setup.ts answers. */
export interface ServerOfRun {
  /** Where its socket lies. */
  readonly folder: string
  /** A database that has this version's schema and no rows. */
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

/** An empty one. */
export async function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(await serverOfRun(), 'template1')
}

/** One with the tables in place: migrating takes ten times as long as copying what was migrated. */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  const server = await serverOfRun()
  return createDatabase(server, server.template)
}

interface Lasting {
  run(sql: string): Promise<Record<string, unknown>[]>
  end(): Promise<void>
}

/** One connection for many statements: to connect costs the server 5 ms of processor time, a statement a tenth of one. */
function createLasting(url: string): Lasting {
  let client: Promise<Client> | undefined
  async function connect(): Promise<Client> {
    const made = new Client({ connectionString: url })
    // A test may end every connection to its database: the next statement opens another.
    made.on('error', () => (client = undefined))
    await made.connect()
    // A process whose tests are done does not wait for it.
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

/** Ends with the process, or with the server. */
function administrate(folder: string, sql: string): Promise<unknown> {
  desk ??= createLasting(postgresUrl(folder, 'postgres'))
  return desk.run(sql)
}

async function createDatabase({ folder }: ServerOfRun, template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  // As files, which costs a quarter of writing each page to the log first where the files are in memory.
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
