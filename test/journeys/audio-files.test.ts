// Audio files of several kinds, from the application to the audio of a real phone, and the journal entries about files
// that cannot be played.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { toneSegments } from '../support/audio.ts'
import { startBaresip } from '../support/baresip.ts'
import { endedJournal } from '../support/call-ends.ts'
import {
  provision,
  recentCalls,
  sharedPlatform,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'

let application: Application
let platform: Platform
let tenant: Tenant

const file = (name: string): Buffer => readFileSync(join(import.meta.dirname, '../support/audio', name))

beforeAll(async () => {
  application = await startApplication()
  application.on('/a.mp3', { status: 200, body: file('mono-16k.mp3') })
  application.on('/b.opus', { status: 200, body: file('stereo.opus') })
  application.on('/page.mp3', {
    status: 200,
    body: Buffer.from('<!doctype html><title>Log in</title>'.repeat(9)),
  })
  application.on('/call', {
    json: [
      { verb: 'play', url: ['/a.mp3', '/b.opus'].map((path) => application.url(path)), loop: 2 },
      { verb: 'play', url: application.url('/page.mp3') },
      { verb: 'hangup' },
    ],
  })
  application.on('/status', { status: 200 })
  platform = await sharedPlatform()
  tenant = await provision(platform.api, { application })
})

afterAll(async () => {
  await application?.close()
})

describe.skipIf(isMissing('baresip'))('play', () => {
  it('play repeats MP3 and Opus, and the journal reports an HTML page that was sent instead of audio', async () => {
    const phone = await startBaresip({ ...tenant, proxy: platform.sip, answers: 'auto' })
    try {
      expect(await phone.registered()).toMatchObject({ ok: true })
      await platform.api.must('POST', `/Accounts/${tenant.account_sid}/Calls`, {
        from: '+15550100',
        to: { type: 'user', name: tenant.username },
        application_sid: tenant.application_sid,
      })
      await phone.events.next('the end of the call', ({ type }) => type === 'CALL_CLOSED', {
        timeoutMs: 60_000,
      })
      const heard = toneSegments(await phone.heard(), 440)
      const heardMs = heard.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)
      expect(heardMs).toBeGreaterThan(1500)
      const [record] = await recentCalls(platform.api, tenant.account_sid, 1)
      const journal = await endedJournal(platform.api, tenant.account_sid, record!.call_sid)
      expect(journal.find(({ type }) => type === 'problem')).toMatchObject({
        code: 'audio_not_supported',
        sentence: 'the audio URL responded with a file that is an HTML page',
        cure: expect.stringContaining('MP3 and Ogg/Opus'),
      })
      expect(application.to('/a.mp3')).toHaveLength(1)
    } finally {
      await phone.stop()
    }
  })
})
