// A real browser as a phone: the softphone page of the examples in Chromium, over secure WebSockets, ICE, DTLS and SRTP.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { tone, toneSegments, toWav } from '../support/audio.ts'
import { startBaresip, type Baresip } from '../support/baresip.ts'
import { endedJournal, recordsOf } from '../support/call-ends.ts'
import {
  adminApiKey,
  provision,
  recentCalls,
  sharedPlatform,
  type JournalEntry,
  type RecentCallRecord,
  type SharedPlatform,
  type Tenant,
} from '../support/platform-process.ts'
import { ToolProcess } from '../support/processes.ts'
import { openSoftphone, type SoftphoneInBrowser } from '../support/softphone-page.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'
import { callWithoutOffer } from '../support/web-socket-phone.ts'

const [browserHz, phoneHz, applicationHz] = [700, 1100, 1500]

let application: Application
let platform: SharedPlatform
let tenant: Tenant
let page: SoftphoneInBrowser
let bob: Baresip

const holdSays = (text: string): Promise<boolean> =>
  until(`the button to say ${text}`, () =>
    page.evaluate<boolean>(
      `(({ textContent, disabled }) => textContent === '${text}' && !disabled)(document.getElementById('hold'))`,
    ),
  )

const callsOf = (): Promise<{ readonly call_sid: string; readonly direction: string }[]> =>
  platform.api.must('GET', `/Accounts/${tenant.account_sid}/Calls`)
const noCalls = (): Promise<boolean> =>
  until('the end of all calls', async () => (await callsOf()).length === 0)

interface Told {
  readonly record: RecentCallRecord
  readonly events: readonly JournalEntry[]
  readonly of: (type: string) => readonly JournalEntry[]
}

/** Returns the inbound call, once those of earlier tests have ended. */
const callUp = (): Promise<string> =>
  until('one call to be up', async () => {
    const [call, ...more] = (await callsOf()).filter(({ direction }) => direction === 'inbound')
    return more.length === 0 && call?.call_sid
  })

/** Returns the record and the journal of a call, once all calls have ended. */
async function toldOf(call_sid: string): Promise<Told> {
  await noCalls()
  const [record] = await recordsOf(platform.api, tenant.account_sid, [call_sid])
  if (record === undefined) throw new Error('the call has left no record')
  const events = await endedJournal(platform.api, tenant.account_sid, call_sid)
  return { record, events, of: (wanted) => events.filter(({ type }) => type === wanted) }
}

async function bobHears(hz: number): Promise<void> {
  await until(`the desk phone to hear ${hz} Hz`, async () => {
    const heard = await bob.heard().catch(() => undefined)
    return heard && toneSegments(heard, hz).some(({ startMs, endMs }) => endMs - startMs > 300)
  })
}

const callBob = async (): Promise<void> => {
  await page.call('bob')
  await page.says(/^connected$/)
  await page.hears(phoneHz)
}

describe.skipIf(isMissing('chromium', 'baresip'))('a browser', () => {
  beforeAll(async () => {
    application = await startApplication()
    application.on('/status', { status: 200 })
    application.on('/tone.wav', { status: 200, body: toWav(tone(applicationHz, 40_000)) })
    platform = await sharedPlatform()
    tenant = await provision(platform.api, { application })
    const { account_sid, password } = tenant
    await platform.api.must('POST', '/Clients', { account_sid, username: 'bob', password })
    const says = tone(phoneHz, 60_000)
    bob = await startBaresip({
      ...tenant,
      username: 'bob',
      says,
      answers: 'auto',
      proxy: platform.sip,
      codecs: 'PCMU',
    })
    await bob.registered()
    page = await openSoftphone({ platform, tenant, saysHz: browserHz })
  }, 60_000)

  afterEach(async () => {
    if (await page.evaluate("!document.getElementById('hangup').hidden")) await page.press('hangup')
  })

  afterAll(async () => {
    await page?.close()
    await Promise.all([bob?.stop(), application?.close()])
  })

  it('a browser and a desk phone with PCMU hear each other, even after a hold; the journal has the path', async () => {
    await callBob()
    await page.press('hold')
    await holdSays('Resume')
    await page.press('hold')
    await holdSays('Hold')
    await page.hears(phoneHz)
    await bobHears(browserHz)
    const sid = await callUp()
    await page.press('hangup')
    await page.says(/^ended/)
    await bob.events.next('the end of the call', ({ type }) => type === 'CALL_CLOSED')
    const { of } = await toldOf(sid)
    expect(of('sip')[0]?.['remote']).toMatch(/^wss:127\.0\.0\.1:/)
    expect(of('media-open')[0]).toMatchObject({ codec: 'OPUS', encryption: 'DTLS-SRTP' })
    expect(of('media-first-packet')).toMatchObject([
      { trust: 'handshake', address: expect.stringMatching(/[1-9]/) },
    ])
    expect(of('media-moved')).toEqual([])
    expect(of('media-closed')[0]).toMatchObject({ packets_lost: 0, packets_ignored: 0 })
  })

  it('a browser hears an application before the answer, and then sends it keys', async () => {
    application.on('/call', { json: [{ verb: 'play', url: application.url('/tone.wav'), earlyMedia: true }] })
    application.on('/answer', {
      json: [
        { verb: 'gather', input: ['digits'], numDigits: 2, timeout: 20, actionHook: '/keys' },
        { verb: 'hangup' },
      ],
    })
    application.on('/keys', { json: [{ verb: 'hangup' }] })
    await page.call(`app-${tenant.application_sid}`)
    await page.says(/^ringing$/)
    await page.hears(applicationHz)
    expect(await page.says(/./)).toBe('ringing')
    const [{ call_sid } = { call_sid: '' }] = await callsOf()
    await platform.api.must('PUT', `/Accounts/${tenant.account_sid}/Calls/${call_sid}`, {
      call_hook: application.url('/answer'),
    })
    await page.says(/^connected$/)
    await page.connected()
    await page.press('key-4')
    await page.press('key-7')
    await page.says(/^ended/)
    expect(application.to('/keys')).toMatchObject([{ body: { digits: '47' } }])
  })

  it('a browser and a desk phone meet in a conference that is recorded', async () => {
    const account = `/Accounts/${tenant.account_sid}`
    await platform.api.must('PUT', account, { record_all_calls: 1, record_format: 'wav' })
    application.on('/call', { json: [{ verb: 'answer' }, { verb: 'conference', name: 'browsers' }] })
    await Promise.all([page.call(`app-${tenant.application_sid}`), bob.dial(`sip:${tenant.target}`)])
    await page.hears(phoneHz)
    await bobHears(browserHz)
    await page.press('hangup')
    await bob.hangUp()
    await noCalls()
    await platform.api.must('PUT', account, { record_all_calls: 0 })
    const records = await recentCalls(platform.api, tenant.account_sid, 2)
    const own = records.find(
      ({ from, direction }) => from.includes(tenant.username) && direction === 'inbound',
    )
    const url = `http://127.0.0.1:${platform.httpPort}/v1${String({ ...own }['recording_url' as never])}`
    const bytes = await until('the recording', async () => {
      const answer = await fetch(url, { headers: { authorization: `Bearer ${adminApiKey}` } })
      return answer.status === 200 && Buffer.from(await answer.arrayBuffer())
    })
    for (const [channel, hz] of [browserHz, phoneHz].entries())
      expect(longest(bytes, channel, hz), `${hz} Hz`).toBeGreaterThan(300)
  })

  it('a browser keeps a call from a desk phone over a new ICE session and WebSocket, and is hung up', async () => {
    await bob.dial(`sip:${tenant.username}@${tenant.realm}`)
    await page.says(/^bob calls$/)
    await page.press('answer')
    await page.says(/^connected$/)
    await page.hears(phoneHz)
    const ufrag = 'window.phone.session.connection.remoteDescription.sdp.match(/ice-ufrag:(.*)/)[1]'
    const former = await page.evaluate(ufrag)
    await page.evaluate(
      'new Promise((done) => window.phone.session.renegotiate({ rtcOfferConstraints: { iceRestart: true } }, done))',
    )
    expect(await page.evaluate(ufrag)).not.toBe(former)
    await page.connected()
    await page.evaluate('ua.transport.socket._ws.close()')
    await page.says(/^no connection/)
    await page.says(/^ready$/)
    await page.hears(phoneHz)
    await bob.hangUp()
    await page.says(/^ended/)
  })

  it('a browser that reloads leaves its call immediately, with the reason in the record, and calls again', async () => {
    const target = [{ type: 'user', name: `bob@${tenant.realm}` }]
    application.on('/call', { json: [{ verb: 'dial', target, exitMediaPath: true }] })
    await page.call(`app-${tenant.application_sid}`)
    await page.says(/^connected$/)
    await page.hears(phoneHz)
    const sid = await callUp()
    await page.open()
    const { record, of } = await toldOf(sid)
    const because =
      'the far end has closed its media path: the page of a browser was closed, left or loaded again'
    expect(record.termination_reason).toBe(`failed: ${because}`)
    expect(of('refusal')).toMatchObject([{ code: 'media_path_lost', sentence: because }])
    expect(of('note').map(({ sentence }) => sentence)).toContain(
      'the sound stays with the platform: one side encrypts its packets, as browsers do',
    )
    await page.says(/^ready$/)
    await callBob()
  })

  it('a browser that dies leaves its call within seconds, with the reason in the record', async () => {
    const other = await openSoftphone({ platform, tenant, saysHz: browserHz })
    try {
      await other.call('bob')
      await other.says(/^connected$/)
      await other.hears(phoneHz)
      const sid = await callUp()
      const diedAt = performance.now()
      await other.kill()
      const { record, of } = await toldOf(sid)
      // The expiry of its consent alone would take half a minute.
      expect(performance.now() - diedAt).toBeLessThan(20_000)
      const because =
        'the far end sends nothing any more since its WebSocket has closed: the page of a browser was closed or left'
      expect(record.termination_reason).toBe(`failed: ${because}`)
      expect(of('media-timeout')).toMatchObject([{ cause: 'gone', because }])
      expect(of('note').map(({ sentence }) => sentence)).toContain('the WebSocket of the far end has closed')
    } finally {
      await other.close()
    }
  })

  it('a browser is notified immediately when the process of its media has died, and the next call works', async () => {
    await callBob()
    const sid = await callUp()
    const children = execFileSync('ps', ['--ppid', String(platform.pid), '-o', 'pid=,args='], {
      encoding: 'utf8',
    })
    const [, pid] = /^ *(\d+) .*browser-process/m.exec(children) ?? []
    process.kill(Number(pid), 'SIGKILL')
    expect(await page.says(/^ended/)).toBe('ended: the process that carried the media of browsers ended')
    const { record } = await toldOf(sid)
    expect(record.termination_reason).toBe('failed: the process that carried the media of browsers ended')
    await callBob()
  })

  it('a browser may leave the offer to the platform', async () => {
    application.on('/call', {
      json: [{ verb: 'answer' }, { verb: 'play', url: application.url('/tone.wav') }],
    })
    let sid = ''
    const call = await callWithoutOffer(`ws://127.0.0.1:${platform.httpPort}`, tenant)
    try {
      await call.acknowledge(
        await page.evaluate<string>(`(async () => {
          const connection = (window.late = new RTCPeerConnection())
          connection.ontrack = ({ streams }) =>
            (window.phone.stream = document.getElementById('sound').srcObject = streams[0])
          const { sdp } = ${JSON.stringify({ sdp: call.offer })}
          await connection.setRemoteDescription({ type: 'offer', sdp })
          const [microphone] = (await navigator.mediaDevices.getUserMedia({ audio: true })).getTracks()
          connection.addTrack(microphone)
          await connection.setLocalDescription()
          if (connection.iceGatheringState !== 'complete')
            await new Promise((done) => (connection.onicegatheringstatechange = () => connection.iceGatheringState === 'complete' && done()))
          return connection.localDescription.sdp
        })()`),
      )
      await page.hears(applicationHz)
      sid = await callUp()
    } finally {
      call.close()
    }
    await page.evaluate('window.late.close()')
    expect((await toldOf(sid)).of('media-first-packet')).toMatchObject([{ trust: 'handshake' }])
  })

  it('a browser registers by the single link of the demo, and hears its application', async () => {
    const demo = new ToolProcess({
      command: process.execPath,
      args: [
        join(import.meta.dirname, '../../examples/demo.ts'),
        ...['--browser', '--api-key', adminApiKey],
        ...['--base-url', `http://127.0.0.1:${platform.httpPort}`],
      ],
      env: {},
    })
    try {
      const line = await demo.lines.next('the link', (text) => text.includes('http://localhost:'))
      await page.open(line.trim())
      await page.says(/^ready$/)
      await page.press('call')
      await page.says(/^connected$/)
      await page.hears()
    } finally {
      await demo.stop('SIGINT')
    }
  })
})

/** Returns the length of the longest tone in one channel of a WAV file with two, in ms. */
function longest(bytes: Buffer, channel: number, hz: number): number {
  const both = new Int16Array(Uint8Array.from(bytes.subarray(44)).buffer)
  const samples = Float64Array.from(
    { length: both.length / 2 },
    (_, index) => (both[2 * index + channel] ?? 0) / 32_768,
  )
  return Math.max(
    0,
    ...toneSegments({ sampleRate: 8000, samples }, hz).map(({ startMs, endMs }) => endMs - startMs),
  )
}
