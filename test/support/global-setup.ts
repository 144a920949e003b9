// Setup of a whole test run: a PostgreSQL server with a migrated database to copy, started when the first test requests
// it and stopped at the end; a speech recogniser, likewise; a cache of the platform's compiled code, which every start reuses; and the data of a
// platform that was set up, made when the first test requests them.
import { createServer, type Server } from 'node:net'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { migrate } from '../../src/storage/database/migrate.ts'
import { openPostgres } from '../../src/storage/postgres/postgres.ts'
import { accountApiKey, adminApiKey, adminPassword } from './platform-process.ts'
import type { ServerOfRun } from './postgres-databases.ts'
import { runOn, startPostgres, type PostgresServer } from './postgres-server.ts'
import { makeSetUpData } from './set-up-data.ts'
import { startWhisper, type WhisperServer } from './whisper-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of a socket that responds with the server's folder once it runs. */
    readonly postgresDesk: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'switchhook-tests-'))
  let started: Promise<PostgresServer> | undefined
  const path = join(folder, 'desk')
  const desk = await openDesk(path, () => (started ??= startPostgres()).then(migrateTemplate))
  project.provide('postgresDesk', path)
  const data = join(folder, 'data')
  const dataPath = join(folder, 'data-desk')
  const dataDesk = await openDesk(dataPath, async () => {
    await makeSetUpData(data, { adminPassword, adminApiKey, accountApiKey })
    return data
  })
  let whisper: Promise<WhisperServer> | undefined
  const whisperPath = join(folder, 'whisper-desk')
  const whisperDesk = await openDesk(whisperPath, async () => (await (whisper ??= startWhisper())).url)
  process.env['SWITCHHOOK_TEST_WHISPER_DESK'] = whisperPath
  process.env['SWITCHHOOK_TEST_DATA_DESK'] = dataPath
  process.env['SWITCHHOOK_TEST_FOLDER'] = folder
  process.env['SWITCHHOOK_TEST_CODE_CACHE'] = join(folder, 'code')
  // The processes of the tests start threads by the hundred, as the platform does. Without the cache each thread strips
  // and compiles its sources again, which is two thirds of the cost of a media worker.
  process.env['NODE_COMPILE_CACHE'] ??= process.env['SWITCHHOOK_TEST_CODE_CACHE']
  return async () => {
    desk.close()
    dataDesk.close()
    whisperDesk.close()
    await (await whisper?.catch(() => undefined))?.stop()
    const server = await started?.catch(() => undefined)
    await server?.stop()
    await endShared(folder)
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Ends the platforms that files shared (platform-process.ts); their parent processes exit without stopping them. */
async function endShared(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (name.endsWith('.shared')) endProcess(Number.parseInt(name, 10))
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has already ended.
  }
}

/** Makes something at the first request, once, and sends the result to every client. */
async function openDesk(path: string, make: () => Promise<unknown>): Promise<Server> {
  let asked: Promise<unknown> | undefined
  const desk = createServer((socket) => {
    socket.on('error', () => undefined)
    asked ??= make()
    asked.then(
      (made) => socket.end(JSON.stringify(made)),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    )
  })
  await new Promise<void>((resolve) => desk.listen(path, resolve))
  return desk
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
  // A database that is in use cannot be copied.
  await database.close()
  return { folder: server.folder, template }
}
