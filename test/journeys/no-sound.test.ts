// A call on which no packet arrives, in either direction: the journal, the record, the alert and the test of the
// carrier say so, with the places of both sides; and calls with sound do not.
import { createSocket } from 'node:dgram'
import { statfsSync } from 'node:fs'
import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as turn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { journalStory, type StoryEvent } from '../../examples/demo/journal-story.ts'
import { toCompound, type ReportBlock } from '../../src/media/rtp/rtcp.ts'
import { startApplication, type Application } from '../support/application.ts'
import { endedJournal, recordsOf } from '../support/call-ends.ts'
import { provisionCarrier } from '../support/carrier.ts'
import {
  journalOf,
  provision,
  startPlatform,
  type JournalEntry,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { startCallee, type SipCallee } from '../support/sip-callee.ts'
import { mountVolume } from '../support/small-volume.ts'
import { TalkingPhone } from '../support/talking-phone.ts'
import { until } from '../support/wait.ts'

// Nothing of the platform is bound to it: packets to it are lost, as packets to a wrong public address are.
const announced = '127.0.0.99'
let application: Application
let platform: Platform
let tenant: Tenant
const callees: SipCallee[] = []
const timers: NodeJS.Timeout[] = []

beforeAll(async () => {
  application = await startApplication()
  application.on('/status', { status: 200 })
  application.on('/call', { json: [{ verb: 'answer' }, { verb: 'pause', length: 60 }] })
  platform = await startPlatform({ env: { SWITCHHOOK_PUBLIC_ADDRESS: announced } })
  tenant = await provision(platform.api, { application })
})

afterAll(async () => {
  await platform?.remove()
  await application?.close()
})

afterEach(async () => {
  for (const timer of timers.splice(0)) clearInterval(timer)
  await Promise.all(callees.splice(0).map((callee) => callee.close()))
})

async function called(lines: readonly string[] = []) {
  const callee = await startCallee('127.0.0.1', { lines })
  callees.push(callee)
  const { sid } = await platform.api.must<{ sid: string }>('POST', `/Accounts/${tenant.account_sid}/Calls`, {
    from: '+15550100',
    to: { type: 'sip', sipUri: callee.uri },
    application_sid: tenant.application_sid,
  })
  const invite = await callee.requests.next('the INVITE', (text) => text.startsWith('INVITE'))
  const port = Number(/^m=audio (\d+)/m.exec(invite)?.[1])
  const address = /^c=IN IP4 (\S+)/m.exec(invite)?.[1]
  return { callee, sid, port, address }
}

const noted = (sid: string, what: string, isIt: (event: JournalEntry) => boolean) =>
  until(what, async () => (await journalOf(platform.api, tenant.account_sid, sid)).find(isIt))

async function ended(sid: string) {
  await platform.api.must('DELETE', `/Accounts/${tenant.account_sid}/Calls/${sid}`)
  const journal = await endedJournal(platform.api, tenant.account_sid, sid)
  const [record] = await recordsOf(platform.api, tenant.account_sid, [sid])
  return { journal, record }
}

describe('a call without sound', () => {
  it('names in journal, story, record and alert where the packets should come from and go to, and continues', async () => {
    const { callee, sid, port, address } = await called()
    expect(address).toBe(announced)
    // It sends to the address in the SDP, as every phone does, and the packets are lost.
    const socket = createSocket('udp4')
    timers.push(setInterval(() => socket.send(Buffer.alloc(172, 0x80), port, announced), 20))
    const problem = await noted(sid, 'the missing sound', ({ type }) => type === 'problem')
    const sentence = `no packet from 127.0.0.1:${callee.rtp.port}, the place in the SDP of the far end, has come to ${announced}:${port}, the place in our SDP`
    expect(problem).toMatchObject({ code: 'no_media_received', sentence })
    expect(problem.cure).toContain('SWITCHHOOK_PUBLIC_ADDRESS')
    expect(problem.cure).toContain('SWITCHHOOK_RTP_PORTS')
    const path = `/Accounts/${tenant.account_sid}/Calls/${sid}`
    expect(await platform.api.must('GET', path)).toMatchObject({ call_status: 'in-progress' })
    const { journal, record } = await ended(sid)
    clearInterval(timers.pop())
    socket.close()
    expect(record).toMatchObject({ media_failure: { code: 'no_media_received', sentence } })
    expect(record).not.toHaveProperty('failure')
    expect(journalStory(journal as unknown as readonly StoryEvent[]).join('\n')).toContain(sentence)
    const alert = await until('the alert', async () => {
      const { data } = await platform.api.must<{ data: { call_sid?: string }[] }>(
        'GET',
        `/Accounts/${tenant.account_sid}/Alerts?page=1&count=100&alert_type=no-media`,
      )
      return data.find(({ call_sid }) => call_sid === sid)
    })
    expect(alert).toMatchObject({ message: sentence })
  })

  it('says of a far end that gets none of our packets, by its own reports, where they go', async () => {
    const { callee, sid, port } = await called()
    timers.push(setInterval(() => callee.rtp.send(port), 20))
    const { ssrc } = await until('our stream', () => callee.rtp.heard.items[0])
    const lost = {
      ...{ ssrc, fractionLost: 255, packetsLost: 100, highestSequence: 1, jitter: 0 },
      ...{ lastSenderReport: 0, delaySinceLastSenderReport: 0 },
    }
    const reportOf = (block: ReportBlock | undefined): Buffer =>
      toCompound({ ssrc: callee.rtp.ssrc, cname: 'far', sender: undefined, block, isBye: false })
    // Reports without a block may be those of a device that reports on no stream.
    const mention = setInterval(() => callee.rtp.sendReport(port + 1, reportOf(undefined)), 500)
    timers.push(mention)
    const place = `${announced}:${port} to 127.0.0.1:${callee.rtp.port}`
    await noted(
      sid,
      'the doubt',
      ({ type, sentence }) => type === 'note' && String(sentence).includes(`from ${place} yet`),
    )
    clearInterval(mention)
    // They go on until there were enough packets between them.
    timers.push(setInterval(() => callee.rtp.sendReport(port + 1, reportOf(lost)), 500))
    // On a busy machine our own sender may begin late, which is another problem.
    const problem = await noted(
      sid,
      'the report',
      ({ type, code }) => type === 'problem' && code === 'no_media_delivered',
    )
    expect(problem).toMatchObject({
      code: 'no_media_delivered',
      sentence: `our packets from ${place} do not arrive: the reports of the far end (RTCP) say that all were lost`,
    })
    const { record } = await ended(sid)
    expect(record).toMatchObject({ media_failure: { code: 'no_media_delivered' } })
  })

  it('takes the alarm back in the record if the sound comes late', async () => {
    const { callee, sid, port } = await called()
    await noted(sid, 'the missing sound', ({ type }) => type === 'problem')
    callee.rtp.send(port)
    await noted(sid, 'the sound', ({ type }) => type === 'media-first-packet')
    expect((await ended(sid)).record).not.toHaveProperty('media_failure')
  })

  it.each([
    ['that only listens', 'a=recvonly'],
    ['that holds', 'a=sendonly'],
    ['without audio', 'a=inactive'],
  ])('is not one to a far end %s', async (_, line) => {
    const silent = await called([line])
    // The alarm of a later call shows that the time has passed for this one too.
    const { sid } = await called()
    await noted(sid, 'the missing sound', ({ type }) => type === 'problem')
    const { journal, record } = await ended(silent.sid)
    expect(journal.filter(({ type }) => type === 'problem')).toEqual([])
    expect(record).not.toHaveProperty('media_failure')
    await ended(sid)
  })

  it('is found by the test of its carrier, and shown by the health of the carrier', async () => {
    const callee = await startCallee('127.0.0.1')
    callees.push(callee)
    const { account_sid } = tenant
    const { voip_carrier_sid } = await provisionCarrier(
      platform.api,
      { account_sid },
      { ipv4: '127.0.0.1', port: callee.port, inbound: false, outbound: true },
    )
    const test = await platform.api.must<{ ok: boolean; steps: { step: string; reason: string }[] }>(
      'POST',
      `/VoipCarriers/${voip_carrier_sid}/Test`,
      { to: '+15551230100', account_sid },
    )
    const from = `from 127.0.0.1:${callee.rtp.port}`
    expect(test.ok).toBe(false)
    expect(test.steps).toMatchObject([
      { step: 'options', ok: true },
      { step: 'call', ok: true },
      { step: 'media', ok: false, reason: expect.stringContaining(from), cure: expect.stringMatching(/\w/) },
    ])
    const health = await until('the record of the test call', async () => {
      const read = await platform.api.must<{ media?: object }>(
        'GET',
        `/VoipCarriers/${voip_carrier_sid}/Health`,
      )
      return read.media === undefined ? undefined : read
    })
    expect(health).toMatchObject({
      condition: 'degraded',
      reason: expect.stringContaining(from),
      media: { code: 'no_media_received' },
    })
  })
})

/** Keeps the disk full, whatever is freed meanwhile: the platform gives up a reserve for what must be written. */
async function keepFull(path: string, signal: AbortSignal): Promise<void> {
  for (let bytes = 1_048_576; !signal.aborted;) {
    const isFull = await appendFile(path, Buffer.alloc(bytes)).then(
      () => false,
      () => true,
    )
    if (isFull) bytes = Math.max(4096, bytes / 2)
    if (isFull && bytes === 4096) await turn(5)
  }
}

it('a text that a full disk keeps from being spoken is a problem with its code, and the next verb runs', async (context) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchhook-full-'))
  const volume = mountVolume(dataDir, '48m')
  if (typeof volume === 'string') return context.skip(volume)
  const speaking = await startApplication()
  // Without a reserve the platform frees nothing when a write fails, so that the disk stays full.
  const full = await startPlatform({ dataDir, env: { SWITCHHOOK_DISK_RESERVE_MB: '0' } })
  const phone = await TalkingPhone.open()
  const over = new AbortController()
  let filling = Promise.resolve()
  try {
    speaking.on('/status', { status: 200 })
    speaking.on('/call', {
      json: [{ verb: 'answer' }, { verb: 'gather', numDigits: 1, timeout: 60, actionHook: '/key' }],
    })
    speaking.on('/key', {
      json: [
        { verb: 'say', text: 'Not said before.' },
        { verb: 'pause', length: 60 },
      ],
    })
    const { account_sid, ...tenant } = await provision(full.api, { application: speaking })
    const talk = await phone.call(full, { account_sid, ...tenant })
    const [call] = await until('the live call', async () => {
      const calls = await full.api.must<{ call_sid: string }[]>('GET', `/Accounts/${account_sid}/Calls`)
      return calls.length === 1 ? calls : undefined
    })
    filling = keepFull(join(dataDir, 'fill'), over.signal)
    await until('the full disk', () => statfsSync(dataDir).bavail === 0)
    talk.press('1')
    const journal = await until('the next verb', async () => {
      const events = await journalOf(full.api, account_sid, call?.call_sid ?? '')
      return events.some(({ type, verb }) => type === 'verb-started' && verb === 'pause') ? events : undefined
    })
    const said = journal.filter(
      ({ type, verb }) => type === 'problem' || (type === 'verb-ended' && verb === 'say'),
    )
    expect(said).toMatchObject([
      { type: 'problem', code: 'disk_full' },
      { type: 'verb-ended', verb: 'say', outcome: 'failed' },
    ])
    await talk.hangUp()
  } finally {
    over.abort()
    await filling
    await rm(join(dataDir, 'fill'), { force: true })
    await full.stop()
    await phone.close()
    await speaking.close()
    volume.unmount()
    await rm(dataDir, { recursive: true, force: true })
  }
})
