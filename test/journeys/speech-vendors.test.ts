// Speech in real calls through the whole product: by the vendor that the account has a credential for, or by the
// embedded voice without one. The call continues if the vendor fails.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Answer, type Application } from '../support/application.ts'
import { tone, toWav } from '../support/audio.ts'
import { createCaller } from '../support/caller.ts'
import { endedJournal } from '../support/call-ends.ts'
import {
  provision,
  sharedPlatform,
  type JournalEntry,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const token = 'the-token-of-the-vendor'
const spokenMs = 700

describe.skipIf(isMissing('sipp'))('say', () => {
  let application: Application
  let platform: Platform

  beforeAll(async () => {
    application = await startApplication()
    application.on('/status', { status: 200 })
    platform = await sharedPlatform()
  })
  afterAll(async () => {
    await application?.close()
  })

  const good: Answer = {
    status: 200,
    headers: { 'content-type': 'audio/wav' },
    body: toWav(tone(440, spokenMs)),
  }

  /** Places one call that speaks one text with the vendor `custom:mine`. */
  async function callThat(vendorAnswer: Answer | undefined, text: string) {
    application.on('/speak', vendorAnswer ?? { status: 404 })
    const synthesizer = { vendor: 'custom:mine', language: 'en-US', voice: 'ada' }
    application.on('/call', { json: [{ verb: 'say', text, synthesizer }, { verb: 'hangup' }] })
    const tenant = await provision(platform.api, { application })
    if (vendorAnswer !== undefined) await addCredential(tenant)
    const caller = createCaller(platform, tenant)
    const result = await caller.call('call', tenant.target)
    expect(result.report).toBe('')
    const record = await caller.recordOf(result)
    const journal = await endedJournal(platform.api, tenant.account_sid, record.call_sid)
    return {
      tenant,
      record,
      journal,
      asked: application.to('/speak').filter(({ body }) => body['text'] === text),
    }
  }

  async function addCredential({ account_sid }: Tenant): Promise<void> {
    await platform.api.must('POST', `/Accounts/${account_sid}/SpeechCredentials`, {
      vendor: 'custom:mine',
      auth_token: token,
      custom_tts_url: application.url('/speak'),
      use_for_stt: 0,
    })
  }

  const remarks = (journal: readonly JournalEntry[]): string =>
    JSON.stringify(journal.filter(({ type }) => type === 'note' || type === 'problem'))

  it('say uses the vendor of the account’s credential, with one request', async () => {
    const { asked, journal, record } = await callThat(good, 'Good morning from the vendor.')
    expect(asked).toHaveLength(1)
    expect(asked[0]!.headers['authorization']).toBe(`Bearer ${token}`)
    expect(asked[0]!.body).toEqual({
      language: 'en-US',
      voice: 'ada',
      type: 'text',
      text: 'Good morning from the vendor.',
    })
    expect(remarks(journal)).not.toContain('embedded voice')
    expect(record.answered).toBe(true)
    expect(record.terminated_at - (record.answered_at ?? 0)).toBeGreaterThanOrEqual(spokenMs)
    expect(JSON.stringify(journal)).not.toContain(token)
  })

  it('without a credential say uses the embedded voice, with a journal entry and an alert', async () => {
    const { asked, journal, record, tenant } = await callThat(undefined, 'Good morning from a vendor.')
    expect(asked).toEqual([])
    const sentence = expect.stringContaining('there is no credential for custom:mine')
    expect(journal).toContainEqual(expect.objectContaining({ type: 'problem', sentence }))
    expect(record.answered).toBe(true)
    const path = `/Accounts/${tenant.account_sid}/Alerts?page=1&count=10`
    const alerts = await until('the alert', async () => {
      const { data } = await platform.api.must<{ data: unknown[] }>('GET', path)
      return data.length > 0 && data
    })
    expect(alerts).toMatchObject([{ alert_type: 'no-tts', message: sentence }])
  })

  it('say uses the application’s second vendor when the first fails, and the journal has the reason', async () => {
    const tenant = await provision(platform.api, { application })
    application.on('/broken', { status: 500 })
    application.on('/speak', good)
    for (const [vendor, path] of [
      ['custom:first', '/broken'],
      ['custom:second', '/speak'],
    ] as const)
      await platform.api.must('POST', `/Accounts/${tenant.account_sid}/SpeechCredentials`, {
        vendor,
        auth_token: token,
        custom_tts_url: application.url(path),
        use_for_stt: 0,
      })
    await platform.api.must('PUT', `/Applications/${tenant.application_sid}`, {
      speech_synthesis_vendor: 'custom:first',
      speech_synthesis_language: 'en-US',
      speech_synthesis_voice: 'ada',
      use_for_fallback_speech: 1,
      fallback_speech_synthesis_vendor: 'custom:second',
      fallback_speech_synthesis_voice: 'eve',
    })
    application.on('/call', { json: [{ verb: 'say', text: 'Spoken by the second.' }, { verb: 'hangup' }] })
    const caller = createCaller(platform, tenant)
    const result = await caller.call('call', tenant.target)
    expect(result.report).toBe('')
    const record = await caller.recordOf(result)
    expect(record.terminated_at - (record.answered_at ?? 0)).toBeGreaterThanOrEqual(spokenMs)
    const asked = application.to('/speak').filter(({ body }) => body['text'] === 'Spoken by the second.')
    expect(asked.map(({ body }) => body)).toMatchObject([{ voice: 'eve', language: 'en-US' }])
    const [hook] = application.to('/call').filter(({ body }) => body['call_sid'] === record.call_sid)
    expect(hook!.body['defaults']).toMatchObject({
      synthesizer: { vendor: 'custom:first', fallback_vendor: 'custom:second', fallback_voice: 'eve' },
    })
    const journal = await endedJournal(platform.api, tenant.account_sid, record.call_sid)
    expect(journal).toContainEqual(expect.objectContaining({ type: 'problem', code: 'speech_failed' }))
    expect(remarks(journal)).not.toContain('embedded voice')
  })

  it('the next verb runs when the vendor fails, and the journal has the reason', async () => {
    const refusal: Answer = {
      status: 401,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message: `bad token ${token}` }),
    }
    const { asked, journal, record } = await callThat(refusal, 'Good morning, refused.')
    expect(asked).toHaveLength(1)
    expect(record.answered).toBe(true)
    const told = JSON.stringify(journal)
    expect(told).toContain('refused the credential (status 401: bad token [hidden])')
    expect(told).not.toContain(token)
  })
})
