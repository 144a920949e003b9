// Real phones over TLS: a call between two of them, heard by both, and what is kept of it.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tone, toneSegments } from '../support/audio.ts'
import type { Audio } from '../support/audio.ts'
import { startApplication } from '../support/application.ts'
import type { Application } from '../support/application.ts'
import { startBaresip } from '../support/baresip.ts'
import { createAuthority } from '../support/certificates.ts'
import type { Authority } from '../support/certificates.ts'
import { startLinphone } from '../support/linphone.ts'
import { journalOf, provision, recentCalls, startPlatform } from '../support/platform-process.ts'
import type { Platform } from '../support/platform-process.ts'
import { freePorts } from '../support/ports.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const [callerHz, calledHz] = [700, 1100]

let authority: Authority
let application: Application
let platform: Platform
let port: number

beforeAll(async () => {
  authority = createAuthority()
  // Linphone looks for its proxy among the names alone.
  const { certificateFile, keyFile } = authority.issue({ names: 'IP:127.0.0.1,DNS:127.0.0.1' })
  port = await freePorts(1)
  application = await startApplication()
  application.on('/status', { status: 200 })
  platform = await startPlatform({
    env: {
      SWITCHHOOK_SIPS_PORT: String(port),
      SWITCHHOOK_TLS_CERTIFICATE: certificateFile,
      SWITCHHOOK_TLS_KEY: keyFile,
    },
  })
})

afterAll(async () => {
  await platform?.remove()
  await application?.close()
  authority?.remove()
})

async function hears(phone: { heard(): Promise<Audio> }, hz: number): Promise<void> {
  await until(`a second of ${hz} Hz`, async () => {
    const heard = await phone.heard().catch(() => undefined)
    return heard && toneSegments(heard, hz).find(({ startMs, endMs }) => endMs - startMs > 1000)
  })
}

it.skipIf(isMissing('baresip', 'linphone', 'openssl'))(
  'linphone calls baresip, all over TLS, and the journal and the capture say so',
  async () => {
    const tenant = await provision(platform.api, { application })
    const { account_sid, realm, password, username } = tenant
    await platform.api.must('POST', '/Clients', { account_sid, username: 'bob', password })
    const proxy = { address: '127.0.0.1', port, transport: 'tls' } as const
    const common = { realm, password, proxy, authorityFile: authority.certificateFile }
    const says = (hz: number): Audio => tone(hz, 30_000)
    const called = await startBaresip({ ...common, username: 'bob', says: says(calledHz), answers: 'auto' })
    const caller = await startLinphone({ ...common, username, says: says(callerHz) })
    try {
      expect(await called.registered()).toMatchObject({ ok: true })
      const [bob] = await platform.api.must<object[]>('POST', `/Accounts/${account_sid}/RegisteredSipUsers`, [
        'bob',
      ])
      expect(bob).toMatchObject({ protocol: 'tls' })
      caller.dial(`sip:bob@${realm}`)
      await caller.call('connected')
      await hears(called, callerHz)
      caller.hangUp()
      await caller.call('ended')
      await hears(caller, calledHz)
    } finally {
      await Promise.all([called.stop(), caller.stop()])
    }
    for (const { call_sid } of await recentCalls(platform.api, account_sid, 2)) {
      const events = await journalOf(platform.api, account_sid, call_sid)
      const remotes = events.flatMap(({ type, remote }) => (type === 'sip' ? [String(remote)] : []))
      expect(remotes.length).toBeGreaterThan(4)
      expect(remotes.filter((remote) => !remote.startsWith('tls:127.0.0.1:'))).toEqual([])
    }
  },
  60_000,
)
