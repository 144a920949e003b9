// A PostgreSQL server for the tests: private data, a private socket, ended by its pid. It syncs nothing, because the
// data never outlive it.
import { spawnSync } from 'node:child_process'
import { chownSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { ToolProcess } from './processes.ts'
import { commandPath, tools } from './tools.ts'

export interface PostgresServer {
  /** The folder of its socket: `<folder>/.s.PGSQL.5432`. */
  readonly folder: string
  readonly pid: number
  url(database: string): string
  stop(): Promise<void>
}

const superuser = 'postgres'

// A storage opens at most 15 connections and a test at most three storages; there is at most one worker per core.
const maxConnections = 50 + 50 * availableParallelism()

export async function startPostgres(): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'switchhook-pg-'))
  const data = join(folder, 'data')
  // The server refuses to run as root; then it runs as the user that its package created.
  const owner = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : undefined
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid)
  const asOwner = (command: string, ...args: string[]): ToolProcess => {
    const drop =
      owner === undefined ? [] : ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups']
    const [first = command, ...rest] = [...drop, command, ...args]
    return new ToolProcess({ command: first, args: rest, cwd: folder, env: { LC_ALL: 'C', TZ: 'UTC' } })
  }
  const init = asOwner(
    binary('initdb'),
    ...['-D', data, '-U', superuser, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
  )
  const { code } = await init.exited
  if (code !== 0) throw new Error(`initdb failed: ${init.output}`)
  const settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    fsync: 'off',
    full_page_writes: 'off',
    max_connections: String(maxConnections),
    shared_buffers: '32MB',
    autovacuum: 'off',
    wal_level: 'minimal',
    max_wal_senders: '0',
  }
  const server = asOwner(
    binary('postgres'),
    ...['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
  )
  await server.lines.next('PostgreSQL to start', (line) => line.includes('ready to accept connections'))
  return {
    folder,
    pid: server.pid,
    url: (database) => postgresUrl(folder, database),
    async stop() {
      // SIGINT is a fast shutdown, which does not wait for clients.
      await server.stop('SIGINT', 45_000)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export function postgresUrl(folder: string, database: string): string {
  return `postgres://${superuser}@${encodeURIComponent(folder)}/${database}`
}

/** Runs one statement on a separate connection, as the server's superuser. */
export async function runOn(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<Record<string, unknown>>(sql)
    return rows
  } finally {
    await client.end()
  }
}

function binary(name: string): string {
  const path = commandPath({ ...tools.postgres, command: name })
  if (path === undefined) throw new Error(`${name} is missing`)
  return path
}

function idOf(flag: '-u' | '-g'): number {
  return Number(spawnSync('id', [flag, superuser], { encoding: 'utf8' }).stdout)
}
