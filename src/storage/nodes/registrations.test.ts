import { mkdtemp, rm, writeFile, readFile, copyFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/support/postgres-databases.ts'
import { isMissing } from '../../../test/support/tools.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { systemClock } from '../../lib/clock.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { silentLogger } from '../../lib/log.ts'
import { createStorage } from '../create-storage.ts'
import type { Storage } from '../storage.ts'
import { migrate } from '../database/migrate.ts'
import { nodeNameIn } from './node-name.ts'
import { createNodePlace } from './node-place.ts'
import { createRegistrationStore, type Registration } from './registrations.ts'
import { openSqlite } from '../sqlite/sqlite.ts'
import {
  makeAccount,
  onEachStore,
  openTestStorage,
  type TestStorage,
} from '../../../test/support/each-store.ts'

const change = { gone: [], isRefresh: false, place: undefined }

function phoneOf(aor: string, more: Partial<Registration> = {}): Registration {
  return {
    aor,
    key: 'desk',
    contact: 'sip:desk@10.0.0.5:5060',
    instance: '<urn:uuid:1>;1',
    q: '0.5',
    expiresAt: 4_000_000_000_000,
    registeredAt: 1_000,
    remote: { transport: 'udp', address: '198.51.100.7', port: 40_000 },
    path: ['<sip:edge.example.com;lr>'],
    callId: 'c',
    cseq: 4_000_000_000,
    userAgent: 'x/1',
    ...more,
  }
}

onEachStore(({ open }) => {
  let test: TestStorage
  let account_sid: string
  let realm: string
  let client_sid: string
  let desk: Registration

  beforeEach(async () => {
    test = await open()
    const account = await makeAccount(test.storage)
    account_sid = account.account_sid
    const rows = test.storage.for(systemTenancy)
    realm = (await rows.accounts.find(account_sid))?.sip_realm ?? ''
    const { service_provider_sid } = account
    const client = { account_sid, service_provider_sid, username: 'alice', password: 'secret of alice' }
    client_sid = (await rows.clients.insert(client)).client_sid
    desk = phoneOf(`alice@${realm}`)
  })
  afterEach(() => test.close())

  const kept = () => test.storage.registrations.load()
  const save = (phone: Registration) => test.storage.registrations.save(phone, change)

  it('gives a restarted node every phone it had as it was, and none that has expired', async () => {
    const hall = phoneOf(desk.aor, {
      key: 'hall',
      instance: undefined,
      q: undefined,
      userAgent: undefined,
      path: [],
    })
    await save(desk)
    await save(phoneOf(desk.aor, { key: 'past', expiresAt: Date.now() - 1 }))
    await save(hall)
    await test.reopen()
    const found = await kept()
    expect(found).toHaveLength(2)
    expect(found).toEqual(expect.arrayContaining([desk, hall]))
    expect(await test.storage.expired.remove('registrations', systemClock.now() + 1, 10)).toBe(1)
  })

  it('keeps the phone that took the place of others, and not the others', async () => {
    await save(desk)
    const moved = phoneOf(desk.aor, { key: 'moved', remote: { ...desk.remote, port: 41_000 } })
    await test.storage.registrations.save(moved, { ...change, gone: ['desk'] })
    expect(await kept()).toEqual([moved])
    await test.storage.registrations.save({ ...moved, expiresAt: desk.expiresAt + 5 }, change)
    expect(await kept()).toMatchObject([{ key: 'moved', expiresAt: desk.expiresAt + 5 }])
  })

  it('keeps what only lives on by the time it stops', async () => {
    await save(desk)
    const later = { ...desk, expiresAt: desk.expiresAt + 60_000, cseq: 4_000_000_001 }
    await test.storage.registrations.save(later, { ...change, isRefresh: true })
    await test.reopen()
    expect(await kept()).toEqual([later])
  })

  it('leaves the phones of other nodes alone, except of users and realms that lose them everywhere', async () => {
    await save(desk)
    await test.storage.registrations.save(phoneOf(desk.aor, { key: 'hall' }), change)
    await test.query(`update registrations set node = 'another'`)
    const own = phoneOf(desk.aor, { contact: 'sip:desk@10.0.0.9' })
    await save(own)
    expect(await kept()).toEqual([own])
    const counted = async () => (await test.query('select node from registrations order by node, key')).length
    expect(await counted()).toBe(3)
    await test.storage.registrations.remove(desk.aor, 'desk')
    expect(await counted()).toBe(2)
    await test.storage.registrations.remove(desk.aor)
    expect(await counted()).toBe(0)
    await save(desk)
    await test.query(`update registrations set node = 'another'`)
    await test.storage.registrations.forget(realm)
    expect(await counted()).toBe(0)
  })

  it.each<[string, () => Promise<unknown>]>([
    ['client was removed', () => test.storage.for(systemTenancy).clients.remove(client_sid)],
    [
      'client was switched off',
      () => test.storage.for(systemTenancy).clients.update(client_sid, { is_active: 0 }),
    ],
    [
      'client has another name',
      () => test.storage.for(systemTenancy).clients.update(client_sid, { username: 'bob' }),
    ],
    [
      'account was switched off',
      () => test.storage.for(systemTenancy).accounts.update(account_sid, { is_active: 0 }),
    ],
    [
      'account has another realm',
      () => test.storage.for(systemTenancy).accounts.update(account_sid, { sip_realm: 'moved.example.com' }),
    ],
    [
      'realm is that of another account, which has a client of that name',
      async () => {
        const rows = test.storage.for(systemTenancy)
        await rows.accounts.update(account_sid, { sip_realm: null })
        const other = await makeAccount(test.storage)
        await rows.accounts.update(other.account_sid, { sip_realm: realm })
        const { account_sid: next, service_provider_sid } = other
        await rows.clients.insert({
          account_sid: next,
          service_provider_sid,
          username: 'alice',
          password: 'x',
        })
      },
    ],
  ])('gives back no phone whose %s while the node was away', async (_, lose) => {
    await save(desk)
    await lose()
    expect(await kept()).toEqual([])
  })

  it('writes nothing for a realm that no account has, and no password', async () => {
    await save(phoneOf('alice@unknown.example'))
    await save(desk)
    expect(await test.query('select * from registrations')).toHaveLength(1)
    expect(JSON.stringify(await test.query('select * from registrations'))).not.toContain('secret of alice')
  })
})

describe('a registrar with many phones', () => {
  it('commits ten thousand refreshes in some fifty transactions, and phones that come at once in a few', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'switchhook-registrations-'))
    const clock = createFakeClock()
    const database = await openSqlite({ path: join(dataDir, 'test.db'), clock, log: silentLogger, migrate })
    let commits = 0
    const store = createRegistrationStore({
      database: {
        ...database,
        commitBeside: (work) => {
          commits += 1
          return database.commitBeside(work)
        },
      },
      node: () => 'only',
      clock,
      log: silentLogger,
    })
    const phones = Array.from({ length: 10_000 }, (_, number) => phoneOf(`u${number}@a.example`))
    await Promise.all(phones.slice(0, 100).map((phone) => store.save(phone, change)))
    expect(commits).toBe(1)
    commits = 0
    for (const phone of phones) await store.save(phone, { ...change, isRefresh: true })
    expect(commits).toBe(0)
    clock.advance(5_000)
    await store.flush()
    expect(commits).toBe(50)
    await store.stop()
    await database.close()
    await rm(dataDir, { recursive: true })
  }, 60_000)
})

describe('a registrar whose database fails between a removal and the changes after it', () => {
  it('does not repeat the removal, since the user may have registered at another node meanwhile', async () => {
    const test = await openTestStorage()
    const { account_sid, service_provider_sid } = await makeAccount(test.storage)
    const rows = test.storage.for(systemTenancy)
    const realm = (await rows.accounts.find(account_sid))?.sip_realm ?? ''
    await rows.clients.insert({ account_sid, service_provider_sid, username: 'alice', password: 'x' })
    const desk = phoneOf(`alice@${realm}`)
    const clock = createFakeClock()
    // This process may have the file open once.
    await test.storage.stop()
    const path = join(test.dataDir, 'switchhook.db')
    const database = await openSqlite({ path, clock, log: silentLogger, migrate })
    let commits = 0
    const storeOf = (name: string, fails: (commit: number) => boolean) =>
      createRegistrationStore({
        database: {
          ...database,
          async commitBeside(work) {
            commits += 1
            if (fails(commits)) throw new Error('the database is away')
            return database.commitBeside(work)
          },
        },
        node: () => name,
        clock,
        log: silentLogger,
      })
    const one = storeOf('one', (commit) => commit === 2)
    const another = storeOf('another', () => false)
    await Promise.all([one.remove(desk.aor), one.save(phoneOf(`bob@${realm}`), change)])
    await another.save(desk, change)
    await one.flush()
    expect(await another.load()).toEqual([desk])
    await one.stop()
    await another.stop()
    // A change that was committed before the failure is not repeated either.
    commits = 0
    const third = storeOf('third', (commit) => commit === 2)
    const many = Array.from({ length: 300 }, (_, number) => phoneOf(`u${number}@${realm}`))
    await Promise.all([desk, ...many].map((phone) => third.save(phone, change)))
    expect(await third.load()).toHaveLength(200)
    await another.remove(desk.aor)
    await third.flush()
    const bound = await third.load()
    expect([bound.length, bound.some(({ aor }) => aor === desk.aor)]).toEqual([300, false])
    await third.stop()
    await database.close()
    await test.close()
  })
})

describe.skipIf(isMissing('postgres'))('two nodes on one database', () => {
  it('keep the phones of one user apart, and each finds its own after a restart', async () => {
    const database = await createTestDatabase()
    const folders = [await mkdtemp(join(tmpdir(), 'node-a-')), await mkdtemp(join(tmpdir(), 'node-b-'))]
    const [a, b] = folders.map((dataDir) =>
      createStorage({
        dataDir,
        databaseUrl: database.url,
        secretKey: 'ab'.repeat(32),
        clock: systemClock,
        log: silentLogger,
      }),
    ) as [Storage, Storage]
    await a.start()
    await b.start()
    const { account_sid } = await makeAccount(a)
    const account = await a.for(systemTenancy).accounts.find(account_sid)
    const seenBy = (port: number): Registration =>
      phoneOf(`alice@${account?.sip_realm}`, {
        remote: { transport: 'udp', address: '198.51.100.7', port },
      })
    await a.registrations.save(seenBy(1), change)
    await b.registrations.save(seenBy(2), change)
    await a.stop()
    await a.start()
    expect(await a.registrations.load()).toEqual([seenBy(1)])
    expect(await b.registrations.load()).toEqual([seenBy(2)])
    // A phone without a Path is behind the NAT of the node with which it registered.
    await a.registrations.save({ ...seenBy(1), key: 'hall', path: [] }, change)
    expect(await b.registrations.elsewhere(seenBy(1).aor)).toEqual([seenBy(1)])
    expect(await b.registrations.elsewhere('bob@a.example')).toEqual([])
    // A phone behind the edge is elsewhere than its edge, at a place that only the edge knows.
    const [direct, behind] = ['udp|198.51.100.7|1', 'udp|203.0.113.9|40000']
    const [hall, booth] = [
      { ...seenBy(1), key: 'hall', path: [] },
      { ...seenBy(1), key: 'booth' },
    ]
    await a.registrations.save(hall, { ...change, place: direct })
    await a.registrations.save(booth, { ...change, place: behind })
    expect(await b.registrations.elsewhereAt(direct)).toEqual([hall])
    expect(await b.registrations.elsewhereAt(behind)).toEqual([booth])
    for (const other of ['udp|198.51.100.7|3', 'udp|198.51.100.8|1', 'tcp|198.51.100.7|1'])
      expect(await b.registrations.elsewhereAt(other)).toEqual([])
    expect(await a.registrations.elsewhereAt(direct)).toEqual([])
    await a.registrations.save(booth, { ...change, place: 'udp|203.0.113.9|41000' })
    expect(await b.registrations.elsewhereAt(behind)).toEqual([])
    await a.registrations.remove(booth.aor, 'booth')
    await a.registrations.remove(seenBy(1).aor, 'desk')
    expect(await b.registrations.elsewhere(seenBy(1).aor)).toEqual([])
    expect(await b.registrations.load()).toEqual([seenBy(2)])
    await a.stop()
    await b.stop()
    await database.remove()
    for (const folder of folders) await rm(folder, { recursive: true })
  }, 60_000)
})

describe('the name of a node', () => {
  let dataDir: string
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'switchhook-node-'))
  })
  afterEach(() => rm(dataDir, { recursive: true }))

  /** Returns the name that a separate process would get. */
  async function nameIn(folder: string): Promise<string> {
    const place = createNodePlace(folder)
    place.take()
    const name = await nodeNameIn(folder, place)
    place.release()
    return name
  }

  it('is the same after a restart, and held by one process of a data directory at a time', async () => {
    const place = createNodePlace(dataDir)
    place.take()
    const first = await nodeNameIn(dataDir, place)
    const other = createNodePlace(dataDir)
    other.take()
    expect(other.isHeld).toBe(false)
    expect(await nodeNameIn(dataDir, other)).not.toBe(first)
    place.release()
    expect(await nameIn(dataDir)).toBe(first)
  })

  it('is another one in a copy of the directory, and where the file was damaged', async () => {
    const first = await nameIn(dataDir)
    const copy = await mkdtemp(join(tmpdir(), 'switchhook-node-'))
    await copyFile(join(dataDir, 'node-id'), join(copy, 'node-id'))
    expect(await nameIn(copy)).not.toBe(first)
    await rm(copy, { recursive: true })
    await writeFile(join(dataDir, 'node-id'), 'x')
    const mended = await nameIn(dataDir)
    expect(await readFile(join(dataDir, 'node-id'), 'utf8')).toContain(mended)
  })
})
