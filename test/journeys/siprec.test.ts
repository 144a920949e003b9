// Calls that a recording server records (SIPREC): both streams, their metadata, and calls that continue without the
// server.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { slice, toneSegments, toneShare, type Audio } from '../support/audio.ts'
import { startApplication, type Application } from '../support/application.ts'
import {
  journalOf,
  provision,
  sharedPlatform,
  type JournalEntry,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { RecordingServer, type Answering } from '../support/recording-server.ts'
import { TalkingPhone, type Talk } from '../support/talking-phone.ts'
import { until } from '../support/wait.ts'
import { allNamed } from '../support/xml.ts'

let application: Application
let platform: Platform
let tenant: Tenant
const closing: { close(): Promise<void> }[] = []

beforeAll(async () => {
  application = await startApplication()
  application.on('/status', { status: 200 })
  platform = await sharedPlatform()
  tenant = await provision(platform.api, { application })
})
afterEach(async () => {
  await Promise.all(closing.splice(0).map((one) => one.close()))
})
afterAll(async () => {
  await application?.close()
})

async function server(answering?: Answering): Promise<RecordingServer> {
  const one = await RecordingServer.open(answering)
  closing.push(one)
  return one
}

async function phone(): Promise<TalkingPhone> {
  const one = await TalkingPhone.open()
  closing.push(one)
  return one
}

const start = (siprecServerURL: string | readonly string[], more: object = {}) => ({
  verb: 'config',
  record: { action: 'startCallRecording', siprecServerURL, recordingID: 'r-1', ...more },
})

interface TwoTalk {
  readonly caller: Talk
  readonly called: Talk
  readonly calledUri: string
  readonly call_sid: string
}

/** Calls the application, which dials a second phone; each phone sends its own tone. */
async function talk(verbs: readonly object[]): Promise<TwoTalk> {
  const [one, other] = [await phone(), await phone()]
  application.on('/call', {
    json: [...verbs, { verb: 'dial', answerOnBridge: true, target: [{ type: 'sip', sipUri: other.uri }] }],
  })
  const before = application.to('/call').length
  const ringing = other.answers()
  const caller = await one.call(platform, tenant)
  const called = await ringing
  caller.says(400)
  called.says(700)
  await Promise.all([caller.hears(700), called.hears(400)])
  const call_sid = String(application.to('/call')[before]?.body['call_sid'])
  return { caller, called, calledUri: other.uri, call_sid }
}

const newest = ({ samples, sampleRate }: Audio, ms = 300): Audio => {
  const lengthMs = (samples.length / sampleRate) * 1000
  return slice({ samples, sampleRate }, Math.max(0, lengthMs - ms), lengthMs)
}
const carries = (audio: () => Audio, hz: number) =>
  until(`${hz} Hz in the recording`, () => toneShare(newest(audio()), hz) > 0.8)

const events = (call_sid: string): Promise<JournalEntry[]> =>
  journalOf(platform.api, tenant.account_sid, call_sid)
const eventOf = (call_sid: string, type: string, count = 1): Promise<JournalEntry> =>
  until(
    `${type} in the journal`,
    async () => (await events(call_sid)).filter((one) => one.type === type)[count - 1],
  )
const command = (call_sid: string, record: object) =>
  platform.api.call('PUT', `/Accounts/${tenant.account_sid}/Calls/${call_sid}`, { record })

describe('config.record with a recording server', () => {
  it('the recording server gets both sides of a call with their names until it ends', async () => {
    const srs = await server()
    const { caller, called, calledUri, call_sid } = await talk([
      { verb: 'answer' },
      start(srs.uri, { headers: { 'X-Customer': 'a', Require: 'x' } }),
    ])
    const recording = await srs.recording()
    await Promise.all([carries(recording.said, 400), carries(recording.heard, 700)])
    expect(toneShare(newest(recording.said()), 700)).toBeLessThan(0.05)
    expect(toneShare(newest(recording.heard()), 400)).toBeLessThan(0.05)
    const { invite, metadata } = recording
    expect([invite.header('x-recording-id'), invite.header('x-customer')]).toEqual(['r-1', 'a'])
    expect(allNamed(metadata, 'sw:call_sid')[0]?.text).toBe(call_sid)
    const aors = allNamed(metadata, 'nameID').map(({ attributes }) => attributes['aor'])
    expect(aors).toEqual([`sip:alice@${tenant.realm}`, `sip:app-${tenant.application_sid}@${tenant.realm}`])
    const snapshot = await recording.reoffers.next('who it talks with now', (body) =>
      body.includes('<recording '),
    )
    expect(snapshot).toMatch(/^a=sendonly\r$/m)
    expect(snapshot.match(/aor="[^"]+"/g)).toEqual([`aor="sip:alice@${tenant.realm}"`, `aor="${calledUri}"`])
    await caller.hangUp()
    await recording.ended.next('the BYE', () => true)
    const messages = await until('the BYE in the journal', async () => {
      const found = (await events(call_sid)).filter(({ raw }) =>
        String(raw).includes(invite.header('call-id')),
      )
      return found.some(({ summary }) => summary === 'BYE') ? found : undefined
    })
    expect([...new Set(messages.map(({ summary }) => summary))]).toEqual(['INVITE', '200 OK', 'ACK', 'BYE'])
    expect(await eventOf(call_sid, 'siprec-started')).toMatchObject({ server: srs.uri, recording_id: 'r-1' })
    expect(await eventOf(call_sid, 'siprec-ended')).toMatchObject({ because: 'the call has ended' })
    await called.end()
  })

  it('the recording server gets the members of a conference, and who is left when one leaves', async () => {
    const srs = await server()
    const [ann, ben] = [await phone(), await phone()]
    const meet = { verb: 'conference', name: 'recorded' }
    application.on('/call', { json: [{ verb: 'answer' }, start(srs.uri), meet] })
    const first = await ann.call(platform, tenant)
    const recording = await srs.recording()
    application.on('/call', { json: [meet] })
    const second = await ben.call(platform, tenant)
    const named = (count: number) => (body: string) =>
      body.includes('<recording ') && body.match(/<nameID /g)?.length === count
    const two = await recording.reoffers.next('both of them', named(2))
    expect(two.match(/<participantsessionassoc /g)).toHaveLength(2)
    expect(two.match(/<participantstreamassoc /g)).toHaveLength(2)
    await second.hangUp()
    await recording.reoffers.next('the one who is left', named(1))
    await first.hangUp()
    await recording.ended.next('the BYE', () => true)
  })

  it('the next server of a list records if one refuses', async () => {
    const [refusing, taking] = [await server({ status: 503 }), await server()]
    const { caller, call_sid } = await talk([start([refusing.uri, taking.uri])])
    await carries((await taking.recording()).said, 400)
    expect(await eventOf(call_sid, 'siprec-started')).toMatchObject({ server: taking.uri })
    await caller.hangUp()
  })

  it('the call continues if no server records it, and an alert gives the reason', async () => {
    const refusing = await server({ status: 486 })
    const { caller, called, call_sid } = await talk([start(refusing.uri)])
    expect(await eventOf(call_sid, 'problem')).toMatchObject({ code: 'siprec_failed' })
    await Promise.all([caller.hears(700), called.hears(400)])
    const path = `/Accounts/${tenant.account_sid}/Alerts?page=1&count=50&alert_type=recording-failure`
    const alert = await until('an alert', async () => {
      const { data } = await platform.api.must<{ data: { message: string }[] }>('GET', path)
      return data.find(({ message }) => message.includes('486'))
    })
    expect(alert.message).toContain(refusing.uri)
    await caller.hangUp()
  })

  it('the call continues when the server hangs up, and a re-INVITE before that is answered', async () => {
    const srs = await server()
    const { caller, called, call_sid } = await talk([start(srs.uri)])
    const recording = await srs.recording()
    await carries(recording.heard, 700)
    srs.reinvite(recording)
    const answer = await recording.responses.next('an answer', (text) => text.startsWith('200 INVITE'))
    expect(answer.match(/^a=sendonly\r$/gm)).toHaveLength(2)
    expect(answer.match(/^a=label:[12]\r$/gm)).toHaveLength(2)
    srs.bye(recording)
    expect(await eventOf(call_sid, 'siprec-ended')).toMatchObject({
      because: 'the recording server has hung up',
    })
    expect(await eventOf(call_sid, 'problem')).toMatchObject({ code: 'siprec_failed' })
    await Promise.all([caller.hears(700), called.hears(400)])
    await caller.hangUp()
  })
})

describe('the command record', () => {
  it('record starts, pauses, resumes and stops: no audio is sent while it is paused', async () => {
    const srs = await server()
    const { caller, called, call_sid } = await talk([])
    const begun = { action: 'startCallRecording', siprecServerURL: srs.uri }
    expect((await command(call_sid, begun)).status).toBe(202)
    const recording = await srs.recording()
    await Promise.all([carries(recording.said, 400), carries(recording.heard, 700)])
    expect((await command(call_sid, { action: 'pauseCallRecording' })).status).toBe(202)
    await eventOf(call_sid, 'siprec-paused')
    expect(recording.reoffers.items.at(-1)?.match(/^a=inactive\r$/gm)).toHaveLength(2)
    const paused = recording.said().samples.length
    caller.says(1000)
    await called.hears(1000)
    caller.says(400)
    await called.hears(400)
    expect((await command(call_sid, { action: 'resumeCallRecording' })).status).toBe(202)
    await eventOf(call_sid, 'siprec-resumed')
    expect(recording.reoffers.items.at(-1)?.match(/^a=sendonly\r$/gm)).toHaveLength(2)
    await until('sound again', () => recording.said().samples.length > paused + 4000)
    await Promise.all([carries(recording.said, 400), carries(recording.heard, 700)])
    expect((await command(call_sid, { action: 'stopCallRecording' })).status).toBe(202)
    await recording.ended.next('the BYE', () => true)
    expect(toneSegments(recording.said(), 1000)).toEqual([])
    expect(toneSegments(recording.said(), 400).length).toBeGreaterThan(0)
    await caller.hangUp()
  })

  it('record refuses a start without a server, and a second recording of one call', async () => {
    const srs = await server()
    const { caller, call_sid } = await talk([start(srs.uri)])
    await srs.recording()
    const without = await command(call_sid, { action: 'startCallRecording' })
    expect([without.status, without.text]).toEqual([
      400,
      expect.stringContaining('siprecServerURL is needed'),
    ])
    await command(call_sid, { action: 'startCallRecording', siprecServerURL: srs.uri })
    expect(await eventOf(call_sid, 'problem')).toMatchObject({ sentence: 'the call is recorded already' })
    expect(srs.recordings.items).toHaveLength(1)
    await caller.hangUp()
  })
})
