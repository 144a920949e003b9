// A platform whose disk is full: the calls that it answers, and the records that are there after it was killed.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { createCaller } from '../support/caller.ts'
import {
  accountApiKey,
  adminPassword,
  provision,
  recentCalls,
  startPlatform,
  type Platform,
} from '../support/platform-process.ts'
import { openRawPhone, rawRequest } from '../support/phone.ts'
import { mountVolume, type SmallVolume } from '../support/small-volume.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const canMount = process.getuid?.() === 0 && process.platform === 'linux'

describe.skipIf(!canMount || isMissing('sipp'))('while the disk is full', () => {
  // Logins and removals need more room than the reserve of other tests has, while calls write what waits.
  const env = { SWITCHHOOK_DISK_RESERVE_MB: '16' }
  let dataDir: string
  let volume: SmallVolume
  let application: Application
  let platform: Platform

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'switchhook-full-'))
    const mounted = mountVolume(dataDir, '80m')
    if (typeof mounted === 'string') throw new Error(mounted)
    volume = mounted
    application = await startApplication()
    application.on('/status', { status: 200 })
    application.on('/call', { json: [{ verb: 'answer' }, { verb: 'pause', length: 120 }] })
    platform = await startPlatform({ dataDir, env })
  })
  afterAll(async () => {
    await platform?.stop('SIGKILL')
    await application?.close()
    volume?.unmount()
    await rm(dataDir, { recursive: true, force: true })
  })

  const health = async (): Promise<unknown> =>
    (await fetch(`http://127.0.0.1:${platform.httpPort}/health`)).json()

  const removeBallast = async (): Promise<void> => {
    for (let n = 0; n < 200; n++) await rm(join(dataDir, `ballast-${n}`), { force: true })
  }

  it('no call is answered, /health says why, and each call that was answered has its record after a kill', async () => {
    // A second try begins with room.
    await removeBallast()
    const tenant = await provision(platform.api, { application })
    const phone = createCaller(platform, tenant)
    const up = await Promise.all([1, 2, 3].map(() => phone.start('call', tenant.target)))
    await until('the calls to be answered', async () => {
      const calls = await phone.liveCalls()
      return calls.filter(({ call_status }) => call_status === 'in-progress').length === up.length
    })
    for (let size = 1_048_576, n = 0; size >= 4096; n++) {
      const taking = writeFile(join(dataDir, `ballast-${n}`), Buffer.alloc(size))
      await taking.catch(() => (size /= 2))
    }
    await until('the health to say so', async () => JSON.stringify(await health()).includes('disk_full'))
    expect(await health()).toEqual({ status: 'unavailable', reason: 'disk_full' })
    const stranger = await openRawPhone(platform.sip)
    await stranger.send(rawRequest('INVITE', `sip:${tenant.target}`, stranger))
    const refusal = await until('the call to be refused', () =>
      stranger.received.items.find(({ start: line }) => line.startsWith('SIP/2.0 503')),
    )
    expect(refusal.text).toMatch(/^retry-after: \d+\r$/im)
    expect(refusal.text).toMatch(/^x-reason-code: disk_full\r$/im)
    await stranger.close()
    const change = { username: 'new', password: 'long-enough-9' }
    const ofAccount = await platform.api.call('POST', '/Clients', change, accountApiKey)
    expect(ofAccount.body).toMatchObject({ code: 'disk_full' })
    const login = { username: 'admin', password: adminPassword }
    expect((await platform.api.call('POST', '/login', login, null)).status).toBe(200)
    expect((await platform.api.call('DELETE', `/Clients/${tenant.client_sid}`)).status).toBe(204)
    await platform.stop('SIGKILL')
    for (const caller of up) await caller.stop()
    await removeBallast()
    platform = await startPlatform({ dataDir, env })
    const records = await recentCalls(platform.api, tenant.account_sid, up.length)
    expect(records.map(({ answered }) => answered)).toEqual([true, true, true])
  })
})
