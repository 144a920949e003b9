// Statements that nobody waits for any more, on a real server, by way of a line that can hold a cancel request back.
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import type { SecureContextOptions } from 'node:tls'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestAsker } from '../../test/support/asker.ts'
import { createTestDatabase } from '../../test/support/databases.ts'
import type { TestDatabase } from '../../test/support/databases.ts'
import { isMissing } from '../../test/support/tools.ts'
import { Inbox, until } from '../../test/support/wait.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import type { Database, Session } from './database.ts'
import { openPostgres } from './postgres.ts'

// https://www.postgresql.org/docs/current/protocol-message-formats.html
const cancelCode = 80_877_102
const sslCode = 80_877_103

interface Line {
  readonly port: number
  /** Cancel requests as they come: none goes on to the server unless it is passed on. */
  readonly cancels: Inbox<HeldCancel>
  /** Whether what was sent last was encrypted. */
  readonly wasEncrypted: boolean
  close(): Promise<void>
}

interface HeldCancel {
  passOn(): void
  /** Ends the connection that brought it, as a network does that fails. */
  cut(): void
}

async function layLine(folder: string, tls?: SecureContextOptions): Promise<Line> {
  const cancels = new Inbox<HeldCancel>()
  const open = new Set<Socket>()
  let wasEncrypted = false
  const route = (client: Socket, first: Buffer): void => {
    const code = first.readUInt32BE(4)
    if (code === sslCode && tls !== undefined) {
      const secured = new TLSSocket(client, { isServer: true, ...tls })
      secured.once('data', (bytes) => route(secured, bytes))
      secured.on('error', () => client.destroy())
      client.write('S')
      return
    }
    wasEncrypted = client instanceof TLSSocket
    const join = (): void => {
      const upstream = connect(`${folder}/.s.PGSQL.5432`)
      upstream.write(first)
      client.pipe(upstream).on('error', () => client.destroy())
      upstream.pipe(client).on('error', () => upstream.destroy())
      client.on('close', () => upstream.destroy())
    }
    if (code === cancelCode) cancels.push({ passOn: join, cut: () => client.resetAndDestroy() })
    else join()
  }
  const server = createServer((client) => {
    open.add(client)
    client.on('error', () => undefined)
    client.once('data', (bytes) => route(client, bytes))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    cancels,
    get wasEncrypted() {
      return wasEncrypted
    },
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const gone = 'the client went away'

describe.skipIf(isMissing('postgres'))('a statement on PostgreSQL whose asker has gone', () => {
  let place: TestDatabase
  let line: Line
  let database: Database
  let keeper: Client
  beforeEach(async () => {
    place = await createTestDatabase()
    keeper = new Client({ connectionString: place.url })
    await keeper.connect()
  })
  afterEach(async () => {
    await database.close()
    await keeper.end()
    await line.close()
    await place.remove()
  })

  async function open(tls?: SecureContextOptions): Promise<void> {
    line = await layLine(place.folder, tls)
    const url = `postgres://postgres@127.0.0.1:${line.port}/${place.name}`
    database = await openPostgres({
      url: tls === undefined ? url : `${url}?sslmode=no-verify`,
      clock: systemClock,
      log: silentLogger,
      migrate: async () => undefined,
    })
  }

  // Waits for a lock that the keeper holds.
  const stuck = 'select pg_backend_pid() as pid, pg_advisory_xact_lock(1)'
  const lock = (): Promise<unknown> => keeper.query('select pg_advisory_lock(1)')
  const unlock = (): Promise<unknown> => keeper.query('select pg_advisory_unlock(1)')

  async function stuckPids(): Promise<number[]> {
    const { rows } = await keeper.query<{ pid: number }>(
      'select pid from pg_stat_activity where datname = $1 and state = $2 and query = $3',
      [place.name, 'active', stuck],
    )
    return rows.map(({ pid }) => pid)
  }
  const stuckOnes = (count: number): Promise<number[]> =>
    until(`${count} statements to be stuck`, async () => {
      const pids = await stuckPids()
      return pids.length === count && pids
    })

  /** Of the connections that carry statements now: as many as there may be, all at once. */
  async function pidsInUse(session: Session, count: number): Promise<unknown[]> {
    const asked = Array.from({ length: count }, () =>
      session.all('select pg_backend_pid() as pid, pg_sleep(0.01)', []),
    )
    return (await Promise.all(asked)).map(([row]) => row?.['pid'])
  }

  it.each(['reader', 'slowReader'] as const)('is ended at the server: %s', async (kind) => {
    await open()
    await lock()
    const asker = createTestAsker()
    const reading = database.readersFor(asker)[kind].all(stuck, [])
    reading.catch(() => undefined)
    await stuckOnes(1)
    asker.leave()
    const cancel = await line.cancels.next('the request to end it', () => true)
    cancel.passOn()
    await expect(reading).rejects.toThrow(gone)
    await stuckOnes(0)
  })

  it('is ended though every connection is taken, and those that wait for one are not begun', async () => {
    await open()
    await lock()
    const asker = createTestAsker()
    const { slowReader } = database.readersFor(asker)
    const outcomes = Promise.allSettled(Array.from({ length: 20 }, () => slowReader.all(stuck, [])))
    await stuckOnes(4)
    asker.leave()
    for (let count = 0; count < 4; count++) {
      const cancel = await line.cancels.next('a request to end one', () => true, { from: count })
      cancel.passOn()
    }
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { message: gone } })
    await stuckOnes(0)
    expect(line.cancels.items).toHaveLength(4)
    expect(await database.slowReader.all('select 1 as one', [])).toEqual([{ one: 1 }])
  })

  it('is not begun', async () => {
    await open()
    const asker = createTestAsker()
    asker.leave()
    await expect(database.readersFor(asker).reader.all('select nowhere', [])).rejects.toThrow(gone)
  })

  it('and which ends by itself leaves its connection to nobody whom the request could meet', async () => {
    await open()
    await lock()
    const asker = createTestAsker()
    const reading = database.readersFor(asker).slowReader.all(stuck, [])
    const [pid] = await stuckOnes(1)
    asker.leave()
    const cancel = await line.cancels.next('the request to end it', () => true)
    await unlock()
    expect(await reading).toMatchObject([{ pid }])
    expect(await pidsInUse(database.slowReader, 3)).not.toContain(pid)
    cancel.passOn()
    await until('the connection to be used again', async () =>
      (await pidsInUse(database.slowReader, 4)).includes(pid),
    )
  })

  it('takes its connection along where nobody can tell whether the request has come', async () => {
    await open()
    await lock()
    const asker = createTestAsker()
    const reading = database.readersFor(asker).slowReader.all(stuck, [])
    const [pid] = await stuckOnes(1)
    asker.leave()
    const cancel = await line.cancels.next('the request to end it', () => true)
    cancel.cut()
    await unlock()
    expect(await reading).toMatchObject([{ pid }])
    await until('the connection to end', async () => {
      const { rowCount } = await keeper.query('select from pg_stat_activity where pid = $1', [pid])
      return rowCount === 0
    })
    expect(await pidsInUse(database.slowReader, 4)).not.toContain(pid)
  })

  it.skipIf(isMissing('openssl'))(
    'is ended over an encrypted connection where statements go over one',
    async () => {
      await open(await makeCertificate())
      await lock()
      const asker = createTestAsker()
      const reading = database.readersFor(asker).reader.all(stuck, [])
      reading.catch(() => undefined)
      await stuckOnes(1)
      asker.leave()
      const cancel = await line.cancels.next('the request to end it', () => true)
      expect(line.wasEncrypted).toBe(true)
      cancel.passOn()
      await expect(reading).rejects.toThrow(gone)
    },
  )
})

async function makeCertificate(): Promise<SecureContextOptions> {
  const folder = await mkdtemp(join(tmpdir(), 'switchhook-tls-'))
  try {
    const [keyPath, certPath] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    const made = ['-subj', '/CN=localhost', '-keyout', keyPath, '-out', certPath]
    const { status, stderr } = spawnSync('openssl', ['req', '-x509', ...curve, ...made], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`openssl failed: ${stderr}`)
    return { key: await readFile(keyPath), cert: await readFile(certPath) }
  } finally {
    await rm(folder, { recursive: true })
  }
}
