// Recording sessions from carriers (SIPREC, RFC 7866): the platform as recording server for others, and for itself.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { slice, toneShare, type Audio } from '../support/audio.ts'
import { serveAudio, type AudioServer, type ServedStream } from '../support/audio-server.ts'
import { provisionCarrier, type Carrier } from '../support/carrier.ts'
import {
  journalOf,
  provision,
  recentCalls,
  sharedPlatform,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { openBorder, RecordingClient } from '../support/recording-client.ts'
import { TalkingPhone } from '../support/talking-phone.ts'
import { until } from '../support/wait.ts'
import { headerOf } from '../../src/sip/message/message.ts'
import { sdpOf } from '../../src/sip/message/body.ts'

let application: Application
let platform: Platform
let tenant: Tenant
let carrier: Carrier
let audio: AudioServer
const closing: { close(): Promise<void> }[] = []

beforeAll(async () => {
  application = await startApplication()
  application.on('/status', { status: 200 })
  audio = await serveAudio()
  platform = await sharedPlatform()
  tenant = await provision(platform.api, { application })
  carrier = await provisionCarrier(platform.api, { account_sid: tenant.account_sid })
})
afterEach(async () => {
  await Promise.all(closing.splice(0).map((one) => one.close()))
})
afterAll(async () => {
  await application?.close()
  await audio?.close()
})

const change = (fields: object) => platform.api.must('PUT', `/Accounts/${tenant.account_sid}`, fields)
const siprec = (application_sid: string | null) => change({ siprec_hook_sid: application_sid })

async function client(): Promise<RecordingClient> {
  const one = await RecordingClient.open(platform, carrier.address)
  closing.push(one)
  return one
}

const listen = (mixType: string) => ({ verb: 'listen', url: audio.url, mixType })
const nextStream = (from: number): Promise<ServedStream> =>
  audio.streams.next('a stream', () => true, { from })

/** Returns the share of a tone in the newest 300 ms of a channel. */
function share(stream: ServedStream, hz: number, channels = 1, channel = 0): number {
  const samples = stream.samples(channels, channel)
  const whole: Audio = { samples, sampleRate: 8000 }
  const lengthMs = samples.length / 8
  return lengthMs < 300 ? 0 : toneShare(slice(whole, lengthMs - 300, lengthMs), hz)
}

const metadata = `<?xml version="1.0"?>
<recording xmlns="urn:ietf:params:xml:ns:recording:1"><datamode>complete</datamode>
<session session_id="s"/>
<participant participant_id="p2"><nameID aor="sip:bob@biloxi.example"/></participant>
<participant participant_id="p1"><nameID aor="sip:+15550100@atlanta.example"><name>A &amp; B</name></nameID></participant>
<stream stream_id="t1" session_id="s"><label>96</label></stream>
<stream stream_id="t2" session_id="s"><label>97</label></stream>
<participantstreamassoc participant_id="p1"><send>t1</send><recv>t2</recv></participantstreamassoc>
<participantstreamassoc participant_id="p2"><send>t2</send><recv>t1</recv></participantstreamassoc></recording>`
const required = { name: 'require', value: 'siprec' }
const session = { headers: [required], metadata, labels: ['96', '97'] } as const

describe('a recording session of a carrier', () => {
  it('a recording session without an application for it is refused with 404, and the record says so', async () => {
    await siprec(null)
    const refused = await (await client()).call(session)
    expect([refused.status, headerOf(refused, 'x-reason')]).toEqual([
      404,
      expect.stringContaining('no application'),
    ])
    const [record] = await recentCalls(platform.api, tenant.account_sid, 1)
    const events = await journalOf(platform.api, tenant.account_sid, record?.call_sid ?? '')
    expect(events.filter(({ type }) => type === 'decision').map(({ rule }) => rule)).toContain(
      'siprec-no-application',
    )
  })

  it('a recording session has its participants; listen has the caller left and the called party right', async () => {
    await siprec(tenant.application_sid)
    application.on('/call', {
      json: [{ verb: 'say', text: 'unheard' }, { verb: 'answer' }, listen('stereo')],
    })
    const before = audio.streams.items.length
    const recorded = await client()
    const answer = await recorded.call(session)
    expect(answer.status).toBe(200)
    expect(headerOf(answer, 'contact')).toMatch(/>;\+sip\.srs$/)
    const sdp = sdpOf(answer) ?? ''
    expect(sdp.match(/^a=(?:recvonly|label:\d+|sendrecv|sendonly)/gm)).toEqual([
      'a=recvonly',
      'a=label:96',
      'a=recvonly',
      'a=label:97',
    ])
    const hook = application.to('/call').at(-1)?.body
    expect(hook?.['participants']).toEqual([
      { participant: 'caller', uri_user: '+15550100', uri_host: 'atlanta.example' },
      { participant: 'callee', uri_user: 'bob', uri_host: 'biloxi.example' },
    ])
    const stream = await nextStream(before)
    await until(
      'both sides, each in its channel',
      () => share(stream, 400, 2, 0) > 0.8 && share(stream, 700, 2, 1) > 0.8,
    )
    expect([share(stream, 700, 2, 0) < 0.05, share(stream, 400, 2, 1) < 0.05]).toEqual([true, true])
    const update = await recorded.dialog?.reoffer({
      offer: () => recorded.body({ ...session, metadata: metadata.replace('bob', 'carol') }),
    })
    expect(update?.status).toBe(200)
    await until('sound after the re-INVITE', () => share(stream, 400, 2, 0) > 0.8)
    await recorded.dialog?.bye()
    expect(recorded.heard).toBe(0)
    const call_sid = String(hook?.['call_sid'])
    const events = await until('the end in the journal', async () => {
      const found = await journalOf(platform.api, tenant.account_sid, call_sid)
      return found.some(({ type }) => type === 'ended') ? found : undefined
    })
    const notes = events.filter(({ type }) => type === 'note').map(({ sentence }) => sentence)
    expect(notes).toEqual(
      expect.arrayContaining([
        'a recording session of caller +15550100@atlanta.example and callee bob@biloxi.example',
        'say: this verb does not run here, and was left out',
        'a recording session of caller +15550100@atlanta.example and callee carol@biloxi.example',
      ]),
    )
  })
})

describe('a session of Cisco, without metadata', () => {
  it('a Cisco session names its participants in headers; mono is the caller only, mixed both', async () => {
    await siprec(tenant.application_sid)
    const participant = (user: string, index: number) => ({
      name: 'X-Cisco-Recording-Participant',
      value: `sip:${user}@198.51.100.${index};media-index="${index}"`,
    })
    for (const [mixType, hears] of [
      ['mono', (stream: ServedStream) => share(stream, 400) > 0.8 && share(stream, 700) < 0.05],
      ['mixed', (stream: ServedStream) => share(stream, 700) > 0.3 && share(stream, 400) > 0.3],
    ] as const) {
      application.on('/call', { json: [{ verb: 'answer' }, listen(mixType)] })
      const before = audio.streams.items.length
      const recorded = await client()
      // The first line is the caller's, whatever the order of the headers.
      await recorded.call({ headers: [participant('1001', 1), participant('1002', 0)] })
      const hook = application.to('/call').at(-1)?.body
      expect(hook?.['participants']).toEqual([
        { participant: 'caller', uri_user: '1002', uri_host: '198.51.100.0' },
        { participant: 'callee', uri_user: '1001', uri_host: '198.51.100.1' },
      ])
      const stream = await nextStream(before)
      await until(`the sound of ${mixType}`, () => hears(stream))
      await recorded.dialog?.bye()
    }
  })
})

describe('the platform as recording client of a border controller', () => {
  it('the platform can record its own calls through a border controller', async () => {
    await siprec(tenant.application_sid)
    const border = await openBorder(platform, carrier.address)
    const [caller, called] = [await TalkingPhone.open(), await TalkingPhone.open()]
    closing.push(border, caller, called)
    const record = { action: 'startCallRecording', siprecServerURL: border.uri }
    const dial = { verb: 'dial', answerOnBridge: true, target: [{ type: 'sip', sipUri: called.uri }] }
    application.on('/call', ({ body }) => ({
      json:
        body['participants'] === undefined
          ? [{ verb: 'config', record }, dial]
          : [{ verb: 'answer' }, listen('stereo')],
    }))
    const before = audio.streams.items.length
    const ringing = called.answers()
    const talk = await caller.call(platform, tenant)
    talk.says(400)
    ;(await ringing).says(700)
    const stream = await nextStream(before)
    await until('both sides', () => share(stream, 400, 2, 0) > 0.8 && share(stream, 700, 2, 1) > 0.8)
    const hook = application.to('/call').at(-1)?.body
    expect(hook?.['participants']).toEqual([
      { participant: 'caller', uri_user: 'alice', uri_host: tenant.realm },
      // This is the application at first, and soon the phone that it dials.
      { participant: 'callee', uri_user: expect.any(String), uri_host: expect.any(String) },
    ])
    await talk.hangUp()
    await stream.closed
  })
})
