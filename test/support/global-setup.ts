// Around a whole test run: one PostgreSQL server, started when the first test asks for it and stopped at the end.
import { createServer } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startPostgres } from './postgres.ts'
import type { PostgresServer } from './postgres.ts'

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
  const desk = createServer((socket) => {
    socket.on('error', () => undefined)
    started ??= startPostgres()
    started.then(
      (server) => socket.end(JSON.stringify({ folder: server.folder })),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    )
  })
  await new Promise<void>((resolve) => desk.listen(path, resolve))
  project.provide('postgresDesk', path)
  return async () => {
    desk.close()
    const server = await started?.catch(() => undefined)
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
