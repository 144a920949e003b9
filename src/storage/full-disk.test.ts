// A disk that is really full: what is refused on it, what is still written, and what becomes of calls that were up.
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeAccount, type TestAccount } from '../../test/support/each-store.ts'
import { endedCall } from '../../test/support/ended-calls.ts'
import { mountVolume, type SmallVolume } from '../../test/support/small-volume.ts'
import { until } from '../../test/support/wait.ts'
import { systemTenancy, type Tenancy } from '../contracts/caller.ts'
import { systemClock } from '../lib/clock.ts'
import { createSid } from '../lib/ids.ts'
import { silentLogger } from '../lib/log.ts'
import { createStorage } from './create-storage.ts'
import type { Actor, Storage } from './storage.ts'

const canMount = process.getuid?.() === 0 && process.platform === 'linux'

describe.skipIf(!canMount)('on a disk that is full', () => {
  let folder: string
  let dataDir: string
  let volume: SmallVolume
  let storage: Storage
  let owner: TestAccount

  const open = async (): Promise<void> => {
    storage = createStorage({ dataDir, reserveBytes: 2_000_000, clock: systemClock, log: silentLogger })
    await storage.start()
  }

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchhook-full-'))
    const mounted = mountVolume(folder, '40m')
    if (typeof mounted === 'string') throw new Error(mounted)
    volume = mounted
    dataDir = join(folder, 'data')
    await mkdir(dataDir)
    await open()
    owner = await makeAccount(storage)
    await until('the reserve to be written', () => hasReserve())
  })
  afterEach(async () => {
    await storage.stop()
    volume.unmount()
    await rm(folder, { recursive: true })
  })

  const hasReserve = (): Promise<boolean> =>
    stat(join(dataDir, 'reserve')).then(
      ({ size }) => size > 1_000_000,
      () => false,
    )
  const ballast = (): string => join(folder, 'ballast')

  /** Takes all of the disk, until what the platform writes itself fails as well. */
  async function fill(): Promise<void> {
    for (let size = 1_048_576, n = 0; size >= 4096; n++) {
      const isWritten = await writeFile(`${ballast()}-${n}`, Buffer.alloc(size)).then(
        () => true,
        () => false,
      )
      if (!isWritten) size /= 2
    }
  }

  async function empty(): Promise<void> {
    for (let n = 0; n < 100; n++) await rm(`${ballast()}-${n}`, { force: true })
  }

  const by = (tenancy: Tenancy | undefined): Actor => ({
    principal: undefined,
    tenancy,
    request_id: createSid(),
    address: '192.0.2.1',
  })
  const addClient = (tenancy: Tenancy, maker: Actor = by(tenancy)): Promise<{ client_sid: string }> =>
    storage
      .boundTo({ maker })
      .for(tenancy)
      .clients.insert({ account_sid: owner.account_sid, username: createSid(), password: 'long-enough-9' })

  it('an account changes nothing, and logins, removals and administrators go on, until there is room', async () => {
    const { client_sid } = await addClient(owner.asAccount)
    await fill()
    await until('changes to be refused', () => storage.calls.refusal()?.code === 'disk_full')
    await expect(addClient(owner.asAccount)).rejects.toMatchObject({ code: 'disk_full' })
    expect(await storage.writeTrouble()).toBe('disk_full')
    await until('an administrator to be able to write', () =>
      addClient({ level: 'admin' }).then(
        () => true,
        () => false,
      ),
    )
    const user_sid = createSid()
    const rows = storage.boundTo({ maker: by(undefined) }).for(systemTenancy)
    await storage
      .for(systemTenancy)
      .users.insert({ user_sid, name: 'ada', email: 'a@example.com', hashed_password: 'x' })
    const session = { user_sid, expires_at: Date.now() + 60_000 }
    expect(await rows.user_sessions.insert(session)).toMatchObject({ user_sid })
    const own = storage.boundTo({ maker: by(owner.asAccount) }).for(owner.asAccount)
    expect(await own.clients.remove(client_sid)).toBe(true)
    await expect(addClient(owner.asAccount)).rejects.toMatchObject({ code: 'disk_full' })
    await empty()
    await until('changes to be accepted', async () => (await storage.writeTrouble()) === undefined)
    await addClient(owner.asAccount)
    await until('the reserve to be there again', hasReserve)
  })

  it('no call begins, and the records of those that were up are written once there is room', async () => {
    const batch = endedCall(owner, { attempted_at: 1000 })
    await fill()
    await until('calls to be refused', () => storage.calls.refusal()?.code === 'disk_full')
    for (let n = 0; n < 400; n++) storage.calls.write(endedCall(owner, { attempted_at: 1000 }), 'now')
    storage.calls.write(batch, 'now')
    await storage.calls.flush().catch(() => undefined)
    await empty()
    await until('calls to be accepted', () => storage.calls.refusal() === undefined)
    await storage.calls.flush()
    const page = await storage.recentCalls.page(owner.asAccount, owner.account_sid, { page: 1, count: 1 })
    expect(page.total).toBe(401)
    const alerts = await storage.alerts.page(
      systemTenancy,
      { service_provider_sid: owner.service_provider_sid },
      { page: 1, count: 25 },
    )
    expect(alerts.rows).toContainEqual(expect.objectContaining({ alert_type: 'disk-full' }))
    const ofAccount = await until('the alert of the account', async () => {
      const { rows } = await storage.alerts.page(
        owner.asAccount,
        { account_sid: owner.account_sid },
        { page: 1, count: 25 },
      )
      return rows.length > 0 && rows
    })
    expect(ofAccount[0]).toMatchObject({
      alert_type: 'disk-full',
      message: expect.stringContaining('calls are refused: the disk with the database is') as string,
    })
    // One an hour, and an hour may begin during the test.
    expect(ofAccount.length).toBeLessThanOrEqual(2)
  })
})
