// Around a whole test run: one PostgreSQL server with a migrated database to copy, started when the first test asks for
// it and stopped at the end; and the compiled code of the platform, which every start finds again.
import { createServer } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { migrate } from '../../src/storage/database/migrate.ts'
import { openPostgres } from '../../src/storage/postgres/postgres.ts'
import type { ServerOfRun } from './postgres-databases.ts'
import { runOn, startPostgres } from './postgres-server.ts'
import type { PostgresServer } from './postgres-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A socket that answers the folder of the server, once it runs. */
    readonly postgresDesk: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'switchhook-tests-'))
  const path = join(folder, 'desk')
  let started: Promise<PostgresServer> | undefined
  let asked: Promise<ServerOfRun> | undefined
  const desk = createServer((socket) => {
    socket.on('error', () => undefined)
    started ??= startPostgres()
    asked ??= started.then(migrateTemplate)
    asked.then(
      (server) => socket.end(JSON.stringify(server)),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    )
  })
  await new Promise<void>((resolve) => desk.listen(path, resolve))
  project.provide('postgresDesk', path)
  process.env['SWITCHHOOK_TEST_CODE_CACHE'] = join(folder, 'code')
  return async () => {
    desk.close()
    const server = await started?.catch(() => undefined)
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function migrateTemplate(server: PostgresServer): Promise<ServerOfRun> {
  const template = 'migrated'
  await runOn(server.url('postgres'), `create database ${template}`)
  const database = await openPostgres({
    url: server.url(template),
    clock: systemClock,
    log: silentLogger,
    migrate,
  })
  // A database in use cannot be copied.
  await database.close()
  return { folder: server.folder, template }
}
