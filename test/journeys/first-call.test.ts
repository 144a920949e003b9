// The main use, end to end: a real phone registers, calls, hears speech and a WAV file, presses digits, hears them read
// back and is hung up. The REST interface shows the call during its life and afterwards.
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../support/covers.ts'
import {
  durationMs,
  rms,
  slice,
  soundSegments,
  tone,
  toneSegments,
  toWav,
  type Audio,
} from '../support/audio.ts'
import { startApplication, type Application } from '../support/application.ts'
import { startBaresip, type Baresip } from '../support/baresip.ts'
import { endedJournal } from '../support/call-ends.ts'
import {
  provision,
  recentCalls,
  sharedPlatform,
  type JournalEntry,
  type Platform,
  type RecentCallRecord,
  type Tenant,
} from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const toneHz = 1000
const toneMs = 2000
const digits = '4207'
const greeting = 'Hello. This is your first call.'

type LiveCall = Record<string, unknown>

/** The traces that one call left, everywhere it can be seen. */
interface Evidence {
  readonly registration: { ok: boolean; reason: string }
  readonly registeredUsers: unknown
  readonly liveCalls: LiveCall[]
  readonly liveCount: unknown
  readonly heard: Audio
  readonly closedBy: string
  readonly records: RecentCallRecord[]
  readonly journal: JournalEntry[]
  readonly callsAfter: unknown
  readonly countAfter: unknown
  readonly webhookSecret: string
}

/** The fields of the call hook, as the interface specification lists them. */
const hookFields = [
  'call_sid',
  'call_id',
  'application_sid',
  'account_sid',
  'direction',
  'from',
  'to',
  'caller_name',
  'sip_status',
  'sip_reason',
  'call_status',
  'sbc_callid',
  'originating_sip_ip',
  'local_sip_address',
  'service_provider_sid',
  'env_vars',
  'sip.raw',
  'sip.headers',
  'sip.body',
  'sip.method',
  'sip.version',
  'sip.uri',
  'sip.payload',
]

const asksCallHook = covers(
  ...hookFields.map((field) => ({
    section: 'Events: New call',
    says: `The call hook carries \`${field}\`.`,
  })),
  {
    section: 'Events: New call',
    says: 'Posted as JSON when a call is created, with Basic authorization.',
  },
  { section: 'Fields: Application', says: '`env_vars` are sent with the call hook.' },
  {
    section: 'Authentication',
    says: 'The call hook carries Basic authorization.',
    chosen: 'A hook without a user name and password carries none: there is nothing to encode.',
  },
)

describe.skipIf(isMissing('baresip'))('a first call from a real phone', () => {
  let application: Application
  let platform: Platform
  let tenant: Tenant
  let phone: Baresip
  let evidence: Evidence

  beforeAll(async () => {
    application = await startApplication()
    script(application)
    platform = await sharedPlatform()
    const callHook = {
      url: application.url('/call'),
      method: 'POST',
      username: 'hook-user',
      password: 'hook-pass',
    }
    tenant = await provision(platform.api, {
      application,
      fields: { call_hook: callHook, env_vars: { MENU: 'main' } },
    })
    phone = await startBaresip({ ...tenant, proxy: platform.sip })
    evidence = await placeTheCall(platform, tenant, phone, application)
  })

  afterAll(async () => {
    await phone?.stop()
    await application?.close()
  })

  it('a phone registers with digest authentication', () => {
    expect(evidence.registration).toMatchObject({ ok: true })
    expect(evidence.registeredUsers).toEqual([`alice@${tenant.realm}`])
  })

  it('asks the call hook once, with every field of the interface and Basic credentials', asksCallHook, () => {
    const [hook, ...others] = application.to('/call')
    expect(others).toEqual([])
    expect(hook?.method).toBe('POST')
    expect(hook?.headers['authorization']).toBe(
      `Basic ${Buffer.from('hook-user:hook-pass').toString('base64')}`,
    )
    for (const field of hookFields) expect(hook?.body).toHaveProperty(field)
    expect(hook?.body).toMatchObject({
      call_sid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      call_id: expect.any(String),
      application_sid: tenant.application_sid,
      account_sid: tenant.account_sid,
      direction: 'inbound',
      from: 'alice',
      to: `app-${tenant.application_sid}`,
      caller_name: expect.any(String),
      sip_status: 100,
      sip_reason: 'Trying',
      call_status: 'trying',
      sbc_callid: expect.any(String),
      originating_sip_ip: '127.0.0.1',
      local_sip_address: expect.stringMatching(/^[0-9.]+(:\d+)?$/),
      service_provider_sid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      api_base_url: expect.stringMatching(/^http:.*\/v1$/),
      env_vars: { MENU: 'main' },
      sip: {
        method: 'INVITE',
        version: expect.any(String),
        uri: expect.stringContaining(tenant.application_sid),
        raw: expect.stringContaining('INVITE sip:'),
        body: expect.stringContaining('m=audio'),
        headers: expect.any(Object),
        payload: expect.any(Object),
      },
    })
  })

  it(
    'signs every hook with the secret of the account',
    covers({ section: 'Authentication', says: 'An account has a secret that signs its webhooks.' }),
    () => {
      const hooks = application.requests.items.filter(({ method }) => method === 'POST')
      expect(hooks.length).toBeGreaterThanOrEqual(5)
      for (const { headers, raw } of hooks) {
        const signature = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['jambonz-signature']))
        const expected = createHmac('sha256', evidence.webhookSecret)
          .update(`${signature?.[1]}.${raw}`)
          .digest('hex')
        expect(signature?.[2]).toBe(expected)
      }
    },
  )

  it('the caller hears the speech, then the WAV file, whole and in order', () => {
    // A busy machine may let the phone's buffer run empty for a moment.
    const [heardTone, ...otherTones] = toneSegments(evidence.heard, toneHz, { bridgeMs: 500 })
    expect(otherTones).toEqual([])
    const { startMs, endMs } = heardTone ?? { startMs: 0, endMs: 0 }
    expect(Math.abs(endMs - startMs - toneMs)).toBeLessThanOrEqual(600)
    const speech = slice(evidence.heard, 0, startMs)
    const spoken = soundSegments(speech, { bridgeMs: 600 })
    expect(rms(speech)).toBeGreaterThan(0.01)
    // Speech has 8 to 22 characters a second.
    const spokenMs = (spoken.at(-1)?.endMs ?? 0) - (spoken[0]?.startMs ?? 0)
    expect(spokenMs).toBeGreaterThan((greeting.length / 22) * 1000)
    expect(spokenMs).toBeLessThan((greeting.length / 8) * 1000)
  })

  it('the digits reach the action hook, whose answer is spoken', () => {
    const [action, ...others] = application.to('/digits')
    expect(others).toEqual([])
    expect(action?.body).toMatchObject({ reason: 'dtmfDetected', digits, call_status: 'in-progress' })
    const toneEndMs = toneSegments(evidence.heard, toneHz)[0]?.endMs ?? 0
    const afterwards = slice(evidence.heard, toneEndMs, durationMs(evidence.heard))
    const soundMs = soundSegments(afterwards).reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)
    expect(soundMs).toBeGreaterThan(1000)
  })

  it('the API lists the call while it is live, and no longer', () => {
    expect(evidence.liveCalls).toHaveLength(1)
    expect(evidence.liveCalls[0]).toMatchObject({
      account_sid: tenant.account_sid,
      application_sid: tenant.application_sid,
      call_sid: application.to('/call')[0]?.body['call_sid'],
      call_id: expect.any(String),
      call_status: 'in-progress',
      direction: 'inbound',
      from: 'alice',
      service_url: expect.any(String),
      sip_status: 200,
    })
    expect(evidence.liveCount).toEqual({ inbound: 1, outbound: 0 })
    expect(evidence.callsAfter).toEqual([])
    expect(evidence.countAfter).toEqual({ inbound: 0, outbound: 0 })
  })

  it('the platform hangs up the call', () => {
    expect(evidence.closedBy).toBe('Connection reset by peer')
  })

  it('the call leaves exactly one record, with the right values', () => {
    expect(evidence.records).toHaveLength(1)
    const [record] = evidence.records
    expect(record).toMatchObject({
      account_sid: tenant.account_sid,
      call_sid: application.to('/call')[0]?.body['call_sid'],
      from: 'alice',
      to: `app-${tenant.application_sid}`,
      answered: true,
      sip_status: 200,
      direction: 'inbound',
      termination_reason: 'called party hungup',
    })
    const { attempted_at, answered_at, terminated_at, duration } = record!
    expect([attempted_at, answered_at, terminated_at, duration].every(Number.isInteger)).toBe(true)
    expect(attempted_at).toBeLessThanOrEqual(answered_at ?? 0)
    expect(duration).toBe(Math.floor((terminated_at - (answered_at ?? 0)) / 1000))
    expect(duration).toBeGreaterThanOrEqual(4)
  })

  it(
    'reports trying, in-progress and completed to the status hook, in that order',
    covers({
      section: 'States',
      says: 'The call hook and status hooks report trying, in-progress and completed.',
    }),
    () => {
      const statuses = application.to('/status').map(({ body }) => body)
      expect(statuses.map((body) => body['call_status'])).toEqual(['trying', 'in-progress', 'completed'])
      expect(new Set(statuses.map((body) => body['call_sid'])).size).toBe(1)
      expect(statuses.map((body) => body['sip_status'])).toEqual([100, 200, 200])
      expect(statuses[2]).toMatchObject({ duration: evidence.records[0]?.duration })
    },
  )

  it('the journal of the call is complete, without gaps', () => {
    const { journal } = evidence
    expect(journal.map(({ seq }) => seq)).toEqual(journal.map((_event, index) => index + 1))
    const story = JSON.stringify(journal)
    for (const part of [
      'INVITE sip:',
      'SIP/2.0 200',
      'BYE sip:',
      '/call',
      '/digits',
      '"say"',
      '"play"',
      '"gather"',
      'PCMU',
    ])
      expect(story).toContain(part)
    const pressed = journal.filter(({ type }) => type === 'digit').map(({ digit }) => digit)
    expect(pressed.join('')).toBe(digits)
    expect(journal.every(({ at }, index) => at >= (journal[index - 1]?.at ?? 0))).toBe(true)
  })
})

function script(application: Application): void {
  application.on('/call', {
    json: [
      { verb: 'say', text: greeting },
      { verb: 'play', url: application.url('/tone.wav') },
      {
        verb: 'gather',
        input: ['digits'],
        numDigits: digits.length,
        timeout: 15,
        actionHook: '/digits',
        say: { text: 'Please press four digits now, and I will tell you what you pressed.' },
      },
    ],
  })
  application.on('/tone.wav', {
    status: 200,
    headers: { 'content-type': 'audio/wav' },
    body: toWav(tone(toneHz, toneMs)),
  })
  application.on('/digits', ({ body }) => ({
    json: [
      { verb: 'say', text: `You pressed ${String(body['digits']).split('').join(', ')}. Goodbye.` },
      { verb: 'hangup' },
    ],
  }))
  application.on('/status', { status: 200 })
}

async function placeTheCall(
  { api }: Platform,
  { account_sid, target }: Tenant,
  phone: Baresip,
  application: Application,
): Promise<Evidence> {
  const account = `/Accounts/${account_sid}`
  const registration = await phone.registered()
  const registeredUsers = await api.must('GET', `${account}/RegisteredSipUsers`)
  await phone.dial(`sip:${target}`)
  await phone.events.next('the answer', ({ type }) => type === 'CALL_ESTABLISHED')
  const liveCalls = await until('the live call', async () => {
    const calls = await api.must<LiveCall[]>('GET', `${account}/Calls`)
    return calls.some((call) => call['call_status'] === 'in-progress') ? calls : undefined
  })
  const liveCount = await api.must('GET', `${account}/CallCount`)
  // The prompt after the tone is playing, so the gather accepts digits.
  await until('the prompt', async () => promptIsHeard(await phone.heard()), { everyMs: 100 })
  await phone.press(digits)
  await application.requests.next('the action hook', ({ path }) => path === '/digits')
  const closed = await phone.events.next('the hang-up', ({ type }) => type === 'CALL_CLOSED')
  const records = await recentCalls(api, account_sid, 1)
  await until('three status hooks', () => application.to('/status').length >= 3)
  const { webhook_secret } = await api.must<{ webhook_secret: string }>('GET', `${account}/WebhookSecret`)
  return {
    registration,
    registeredUsers,
    liveCalls,
    liveCount,
    heard: await phone.heard(),
    closedBy: closed.param,
    records,
    journal: await endedJournal(api, account_sid, records[0]!.call_sid),
    callsAfter: await api.must('GET', `${account}/Calls`),
    countAfter: await api.must('GET', `${account}/CallCount`),
    webhookSecret: webhook_secret,
  }
}

function promptIsHeard(heard: Audio): boolean {
  const heardTone = toneSegments(heard, toneHz).at(-1)
  if (heardTone === undefined) return false
  return soundSegments(heard, { bridgeMs: 40 }).some(({ endMs }) => endMs > heardTone.endMs + 400)
}
