// The fields of every hook in a real call: exactly those that the reference names. Its examples are these payloads.
import { createSocket } from 'node:dgram'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { WebSocketServer } from 'ws'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { placeCall } from '../../examples/demo/phone.ts'
import { commonFields, type HookDescription } from '../../scripts/reference/hook-fields.ts'
import { hookDescriptions } from '../../scripts/reference/hook-payloads.ts'
import { responseTo } from '../../src/sip/message/build.ts'
import { headerOf, type SipRequest } from '../../src/sip/message/message.ts'
import { parseMessage } from '../../src/sip/message/parse-message.ts'
import { serializeMessage } from '../../src/sip/message/serialize-message.ts'
import { startApplication, type Application } from '../support/application.ts'
import {
  journalOf,
  provision,
  startPlatform,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { until } from '../support/wait.ts'

type Payload = Readonly<Record<string, unknown>>

const exampleFile = join(import.meta.dirname, '../../scripts/reference/hook-examples.json')

describe('the payloads of hooks', () => {
  let application: Application
  let platform: Platform
  let called: AnsweringPhone
  let tenant: Awaited<ReturnType<typeof provision>>
  const received = new Map<HookDescription['key'], Payload[]>()

  beforeAll(async () => {
    application = await startApplication()
    platform = await startPlatform()
    tenant = await provision(platform.api, { application, fields: { env_vars: { MENU: 'main' } } })
    const gather = {
      verb: 'gather',
      numDigits: 2,
      timeout: 10,
      actionHook: '/action',
      id: 'menu',
      say: { text: 'Two digits.' },
    }
    called = await openAnsweringPhone()
    application.on('/call', { json: [{ verb: 'tag', data: { order: 4711 } }, gather] })
    application.on('/action', ({ body }) => ({
      json:
        body['digits'] === undefined
          ? []
          : [
              { verb: 'play', url: 'silence_stream://100', actionHook: '/action' },
              { ...dialing, target: [{ type: 'sip', sipUri: `sip:bob@127.0.0.1:${called.port}` }] },
              { verb: 'dial', target: [{ type: 'user', name: 'absent' }], actionHook: '/action' },
              { verb: 'hangup' },
            ],
    }))
    application.on('/confirm', { json: [] })
    application.on('/dtmf', { json: [] })
    application.on('/hold', { json: [] })
    application.on('/request', { json: [] })
    application.on('/refer', { status: 603 })
    application.on('/status', { status: 200 })
    for (const path of ['/conference-wait', '/conference-enter', '/conference'])
      application.on(path, { json: [] })
    let isPressed = false
    const call = await placeCall(
      { server: { host: platform.sip.address, port: platform.sip.port }, ...tenant },
      `sip:${tenant.target}`,
      {
        onSound() {
          if (!isPressed) call.press('42')
          isPressed = true
        },
      },
    )
    await until(
      'the captured key',
      () => {
        if (application.to('/confirm').length > 0) call.press('7')
        return application.to('/dtmf').length > 0
      },
      { everyMs: 300 },
    )
    called.ask()
    await until('the transfer', () => application.to('/refer').length > 0)
    const leg = application.to('/confirm')[0]?.body['call_sid']
    await platform.api.must('PUT', `/Accounts/${tenant.account_sid}/Calls/${String(leg)}`, {
      call_status: 'completed',
    })
    await call.ended
    await call.close()
    await platform.api.must('POST', `/Accounts/${tenant.account_sid}/Calls`, {
      from: '100',
      to: { type: 'sip', sipUri: `sip:bob@127.0.0.1:${called.port}` },
      application_sid: tenant.application_sid,
      sipRequestWithinDialogHook: application.url('/request'),
    })
    await until('the call of the platform', () => application.to('/call').length > 1 && called.calls > 1)
    const placed = String(application.to('/call')[1]?.body['call_sid'])
    await until('its verbs to run up to the menu', async () =>
      (await journalOf(platform.api, tenant.account_sid, placed)).some(
        ({ type, id }) => type === 'verb-started' && id === 'menu',
      ),
    )
    called.ask()
    await until('the request', () => application.to('/request').length > 0)
    await until('the last status', () =>
      application
        .to('/status')
        .some(({ body }) => body['call_status'] === 'completed' && body['direction'] === 'inbound'),
    )
    await refer()
    await useQueue(application, platform, tenant)
    await hearWords(application, platform, tenant)
    application.on('/registration', { json: { status: 'ok' } })
    await platform.api.must('PUT', `/Accounts/${tenant.account_sid}`, {
      registration_hook: { url: application.url('/registration'), method: 'POST' },
    })
    await record(application, platform, tenant)
    await meet()
    for (const { key } of hookDescriptions)
      received.set(
        key,
        application.to(`/${key}`).map(({ body }) => body),
      )
  })

  /** Places a call that transfers its far end. */
  async function refer(): Promise<void> {
    application.on('/refer-event', { json: [] })
    await platform.api.must('POST', `/Accounts/${tenant.account_sid}/Calls`, {
      ...toPhone(),
      app_json: JSON.stringify([
        { verb: 'sip:refer', referTo: 'carol', eventHook: application.url('/refer-event') },
      ]),
    })
    await until('the transfer of the platform', () => application.to('/refer-event').length > 0)
  }

  const toPhone = (): object => ({
    from: '100',
    to: { type: 'sip', sipUri: `sip:bob@127.0.0.1:${called.port}` },
    call_hook: application.url('/meet'),
    speech_synthesis_vendor: 'default',
    speech_synthesis_language: 'en-US',
    speech_synthesis_voice: 'default',
    speech_recognizer_vendor: 'default',
    speech_recognizer_language: 'en-US',
  })

  /** Places two calls: one waits in a conference, the other begins it, and both leave. */
  async function meet(): Promise<void> {
    const path = `/Accounts/${tenant.account_sid}/Calls`
    const enter = async (options: object): Promise<string> => {
      const conference = { verb: 'conference', name: 'team', ...options }
      const { sid } = await platform.api.must<{ sid: string }>('POST', path, {
        ...toPhone(),
        app_json: JSON.stringify([conference]),
      })
      return sid
    }
    const toConference = (event: string): boolean =>
      application.to('/conference').some(({ body }) => body['event'] === event)
    const waiting = await enter({
      startConferenceOnEnter: false,
      waitHook: application.url('/conference-wait'),
      statusHook: application.url('/conference'),
      statusEvents: ['start', 'join', 'leave', 'end'],
    })
    await until('the wait hook', () => application.to('/conference-wait').length > 0)
    const starting = await enter({ enterHook: application.url('/conference-enter') })
    await until('the enter hook', () => application.to('/conference-enter').length > 0)
    for (const sid of [waiting, starting]) await platform.api.must('DELETE', `${path}/${sid}`)
    await until('the end of the conference', () => toConference('end'))
  }

  afterAll(async () => {
    await platform?.remove()
    await application?.close()
    await called?.close()
  })

  it.each(hookDescriptions)(
    '$name: all fields are described, and the permanent ones are always present',
    ({ key, fields, isBare = false }) => {
      const payloads = received.get(key) ?? []
      expect(payloads.length).toBeGreaterThan(0)
      // A field of the hook itself replaces a common one with the same name.
      const byName = new Map([...(isBare ? [] : commonFields), ...fields].map((one) => [one.name, one]))
      const described = [...byName.values()]
      const always = described.filter(({ when }) => when === undefined).map(({ name }) => name)
      for (const payload of payloads) {
        const names = Object.keys(payload)
        expect(described.map(({ name }) => name)).toEqual(expect.arrayContaining(names))
        expect(names).toEqual(expect.arrayContaining(always))
        for (const { name, type } of described)
          if (payload[name] !== undefined && payload[name] !== null)
            expect(typeof payload[name]).toBe(type === 'text' ? 'string' : type)
      }
    },
  )

  it('the action hook of a dial reports its outcome and the call that it made', () => {
    const fields = new Set(received.get('action')?.flatMap((payload) => Object.keys(payload)))
    expect(fields).toContain('dial_call_status')
    const dialled = received.get('status')?.filter((payload) => 'parent_call_sid' in payload)
    expect(dialled?.map(({ call_status }) => call_status)).toContain('failed')
  })

  it('the hooks of a dial report its outcome, and identify each of its two calls', () => {
    const [confirm, dialled] = [
      received.get('confirm')?.[0],
      received.get('action')?.find(({ dial_call_status }) => dial_call_status !== undefined),
    ]
    const caller = received.get('call')?.[0]
    expect(confirm).toMatchObject({ parent_call_sid: caller?.['call_sid'], caller_id: caller?.['from'] })
    expect(dialled).toMatchObject({
      call_sid: caller?.['call_sid'],
      dial_call_sid: confirm?.['call_sid'],
      dial_call_status: 'completed',
      dial_sip_status: 200,
      dial_sbc_callid: confirm?.['call_id'],
    })
    expect(dialled).not.toHaveProperty('parent_call_sid')
    expect(received.get('dtmf')?.[0]).toMatchObject({ call_sid: caller?.['call_sid'], dtmf: '7' })
    expect(received.get('hold')?.[0]).toMatchObject({ call_sid: caller?.['call_sid'] })
    expect(received.get('request')?.[0]).toMatchObject({
      direction: 'outbound',
      sip_method: 'INFO',
      sip_body: 'desk 7',
    })
    expect(received.get('refer')?.[0]).toMatchObject({
      call_sid: confirm?.['call_sid'],
      refer_details: {
        refer_to_user: 'carol',
        referred_by_user: 'bob',
        x_department: 'sales',
        referring_call_sid: confirm?.['call_sid'],
        referred_call_sid: caller?.['call_sid'],
      },
    })
  })

  const firstSid = () => received.get('call')?.[0]?.['call_sid']

  it('the hooks of a queue report the outcome of a waiting caller, and the call that took it', () => {
    const results = received
      .get('action')
      ?.map(({ queue_result, dequeue_result }) => queue_result ?? dequeue_result)
    expect(results).toEqual(expect.arrayContaining(['bridged', 'complete']))
  })

  it('the payloads of hooks are the examples of the reference', async () => {
    const examples: Record<string, Payload | undefined> = {
      call: received.get('call')?.[0],
      action: received.get('action')?.[0],
      conference: received.get('conference')?.find(({ event }) => event === 'join'),
      'conference-enter': received.get('conference-enter')?.[0],
      'conference-wait': received.get('conference-wait')?.[0],
      confirm: received.get('confirm')?.[0],
      dtmf: received.get('dtmf')?.[0],
      hold: received.get('hold')?.[0],
      machine: received.get('machine')?.[0],
      partial: received.get('partial')?.[0],
      transcription: received.get('transcription')?.[0],
      recording: received.get('status')?.find(({ event }) => event === 'recording'),
      queue: received.get('queue')?.find(({ event }) => event === 'leave'),
      refer: received.get('refer')?.[0],
      'refer-event': received.get('refer-event')?.[0],
      registration: received.get('registration')?.[0],
      request: received.get('request')?.[0],
      status: received
        .get('status')
        ?.findLast(({ direction, call_sid }) => direction === 'inbound' && call_sid === firstSid()),
      wait: received.get('wait')?.[0],
    }
    const shown = hookDescriptions.flatMap(({ key, moreExamples = {} }) => [
      key,
      ...Object.keys(moreExamples),
    ])
    const there = Object.entries(examples).flatMap(([name, body]) => (body === undefined ? [] : [name]))
    expect(there.sort()).toEqual(shown.sort())
    expect(examples['queue']).toMatchObject({ leave_reason: 'dequeued', dequeuer: { direction: 'inbound' } })
    await expect(`${JSON.stringify(withoutChance(examples), null, 2)}\n`).toMatchFileSnapshot(exampleFile)
  })
})

/** Has one call wait in a queue, and another one take it. */
async function useQueue(application: Application, platform: Platform, tenant: Tenant): Promise<void> {
  await platform.api.must('PUT', `/Accounts/${tenant.account_sid}`, {
    queue_event_hook: { url: application.url('/queue'), method: 'POST' },
  })
  application.on('/queue', { status: 200 })
  application.on('/wait', { json: [] })
  application.on('/action', { json: [] })
  const server = { host: platform.sip.address, port: platform.sip.port }
  const ring = (verb: object) => {
    application.on('/call', { json: [{ ...verb, name: 'support', actionHook: '/action' }] })
    return placeCall({ server, ...tenant }, `sip:${tenant.target}`, {})
  }
  const caller = await ring({ verb: 'enqueue', waitHook: '/wait' })
  await until('the caller to wait', () => application.to('/wait').length > 0)
  const agent = await ring({ verb: 'dequeue' })
  await until('the caller to be taken', () => application.to('/queue').length > 1)
  const { call_sid } = application.to('/wait')[0]?.body ?? {}
  await platform.api.must('DELETE', `/Accounts/${tenant.account_sid}/Calls/${String(call_sid)}`)
  await Promise.all([caller.ended, agent.ended])
  await Promise.all([caller.close(), agent.close()])
}

/** Places a call whose words a server of the account recognises: it hears the same whatever is said. */
async function hearWords(application: Application, platform: Platform, tenant: Tenant): Promise<void> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  server.on('connection', (socket) => {
    const say = (transcript: string, is_final: boolean): void =>
      socket.send(
        JSON.stringify({
          type: 'transcription',
          is_final,
          alternatives: [{ transcript, confidence: 0.91 }],
          language: 'en-US',
          channel: 1,
        }),
      )
    let messages = 0
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) messages += 1
      if (messages === 2 && isBinary) say('my bill', false)
      if (messages === 8 && isBinary) say('my billing address', true)
      if (!isBinary && data.toString().includes('"stop"')) socket.close(1000)
    })
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await platform.api.must('POST', `/Accounts/${tenant.account_sid}/SpeechCredentials`, {
    vendor: 'custom:mine',
    auth_token: 'the-token',
    custom_stt_url: `ws://127.0.0.1:${port}`,
    use_for_tts: 0,
  })
  const recognizer = { vendor: 'custom:mine', language: 'en-US' }
  const gather = {
    verb: 'gather',
    input: ['speech'],
    partialResultHook: '/partial',
    actionHook: '/spoken',
    recognizer,
  }
  application.on('/call', {
    json: [
      {
        verb: 'config',
        notifySttLatency: true,
        amd: { actionHook: '/machine', thresholdWordCount: 3, recognizer },
      },
      { ...gather, id: 'address' },
      { verb: 'transcribe', id: 'all', transcriptionHook: '/transcription', recognizer },
    ],
  })
  application.on('/machine', { json: [] })
  application.on('/partial', { json: [] })
  application.on('/spoken', { json: [] })
  application.on('/transcription', { json: [{ verb: 'hangup' }] })
  const sip = { host: platform.sip.address, port: platform.sip.port }
  const call = await placeCall({ server: sip, ...tenant }, `sip:${tenant.target}`, {})
  await call.ended
  await call.close()
  server.close()
}

/** Places a short call, and waits until its recording is stored. */
async function record(application: Application, platform: Platform, tenant: Tenant): Promise<void> {
  const recorded = { verb: 'config', record: { action: 'startCallRecording', type: 'cloud' } }
  application.on('/call', { json: [{ verb: 'answer' }, recorded, { verb: 'pause', length: 0.2 }] })
  const server = { host: platform.sip.address, port: platform.sip.port }
  const call = await placeCall({ server, ...tenant }, `sip:${tenant.target}`, {})
  await call.ended
  await call.close()
  await until('the recording', () =>
    application.to('/status').some(({ body }) => body['event'] === 'recording'),
  )
}

const dialing = {
  verb: 'dial',
  confirmHook: '/confirm',
  dtmfHook: '/dtmf',
  dtmfCapture: { parentCall: ['7'] },
  actionHook: '/action',
  onHoldHook: '/hold',
  referHook: '/refer',
}

interface AnsweringPhone {
  readonly port: number
  /** The number of calls that were answered. */
  readonly calls: number
  /** Sends INFO and requests a transfer. */
  ask(): void
  close(): Promise<void>
}

/** Opens a SIP address that answers every call and puts it on hold immediately. */
async function openAnsweringPhone(): Promise<AnsweringPhone> {
  const [socket, media] = [createSocket('udp4'), createSocket('udp4')]
  const dialogs = new Set<string | undefined>()
  let send: ((request: Request) => void) | undefined
  socket.on('message', (bytes, { port, address }) => {
    const message = parseMessage(bytes)
    if (message.kind === 'response') return
    const { port: own } = socket.address()
    const sdp = sdpOf(media.address().port)
    if (message.method === 'ACK') {
      dialogs.add(headerOf(message, 'call-id'))
      send = (request) => socket.send(withinDialog(message, own, request), port, address)
      return send(holding(`${sdp}a=sendonly\r\n`))
    }
    if (message.method === 'REFER') {
      socket.send(serializeMessage(responseTo(message, { status: 202 })), port, address)
      return socket.send(withinDialog(message, own, transferred), port, address)
    }
    const body = { type: 'application/sdp', content: sdp }
    const contact = [{ name: 'contact', value: `<sip:bob@127.0.0.1:${own}>` }]
    const reply = message.method === 'INVITE' ? { status: 200, headers: contact, body } : { status: 200 }
    socket.send(serializeMessage(responseTo(message, reply, { toTag: 'bob' })), port, address)
  })
  const both = [socket, media]
  for (const one of both) one.bind(0, '127.0.0.1')
  await Promise.all(both.map((one) => once(one, 'listening')))
  return {
    port: socket.address().port,
    get calls() {
      return dialogs.size
    },
    ask() {
      for (const request of requestsOf(socket.address().port)) send?.(request)
    },
    async close() {
      await Promise.all(both.map((one) => new Promise<void>((resolve) => one.close(() => resolve()))))
    },
  }
}

interface Request {
  readonly method: string
  readonly headers: readonly string[]
  readonly body: string
}

/** The NOTIFY of a successful transfer: RFC 3515 §2.4.5. */
const transferred: Request = {
  method: 'NOTIFY',
  headers: [
    'Event: refer',
    'Subscription-State: terminated;reason=noresource',
    'Content-Type: message/sipfrag;version=2.0',
  ],
  body: 'SIP/2.0 200 OK\r\n',
}

/** Returns an UPDATE with an offer: RFC 3311. */
function holding(sdp: string): Request {
  return { method: 'UPDATE', headers: ['Content-Type: application/sdp'], body: sdp }
}

function requestsOf(port: number): readonly Request[] {
  return [
    { method: 'INFO', headers: ['Content-Type: text/plain'], body: 'desk 7' },
    {
      method: 'REFER',
      headers: [
        'Refer-To: <sip:carol@example.com>',
        `Referred-By: <sip:bob@127.0.0.1:${port}>`,
        'User-Agent: desk phone',
        'X-Department: sales',
      ],
      body: '',
    },
  ]
}

/** Returns a request of the called side in the dialog of this ACK. */
function withinDialog(ack: SipRequest, port: number, { method, headers, body }: Request): string {
  const [from, to, callId] = ['from', 'to', 'call-id'].map((name) => headerOf(ack, name) ?? '')
  const sentBy = /UDP ([^;]+)/.exec(headerOf(ack, 'via') ?? '')?.[1] ?? ''
  const numbers: Readonly<Record<string, number>> = { UPDATE: 1, INFO: 2, REFER: 3, NOTIFY: 4 }
  const lines = [
    `${method} sip:${sentBy} SIP/2.0`,
    `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK${method}${callId}`,
    `From: ${to}`,
    `To: ${from}`,
    `Call-ID: ${callId}`,
    `CSeq: ${numbers[method]} ${method}`,
    'Max-Forwards: 70',
    `Contact: <sip:bob@127.0.0.1:${port}>`,
    ...headers,
    `Content-Length: ${body.length}`,
  ]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

function sdpOf(port: number): string {
  const lines = ['v=0', 'o=bob 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0']
  return [...lines, `m=audio ${port} RTP/AVP 0`, 'a=rtpmap:0 PCMU/8000', ''].join('\r\n')
}

const fixed: Readonly<Record<string, unknown>> = {
  stt_latency_ms: '181',
  nonce: 'a84b4c76e66710bc',
  cnonce: '0a4f113b',
  response: '6629fae49393a05397450978507c4ef1',
  source_port: 5060,
  duration: 2,
  leave_time: 1_795_336_200_000,
  recording_duration: 2.5,
  recording_bytes: 20_160,
}

/** Replaces values that differ from run to run: ids, times, ports, tags. */
function withoutChance(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutChance)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, fixed[name] ?? withoutChance(member)]),
    )
  if (typeof value !== 'string') return value
  return value
    .replaceAll(
      /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
      '01a20239-2106-4d3c-8f3e-66daad174128',
    )
    .replaceAll(/t\d+-\d+\.example\.test/g, 'phones.example.test')
    .replaceAll(/(http:\/\/127\.0\.0\.1):\d{4,5}/g, '$1:<http port>')
    .replaceAll(/(127\.0\.0\.1)[: ]\d{4,5}/g, '$1:5060')
    .replaceAll('<http port>', '3000')
    .replaceAll(/(content-length: |^)\d{3}$/gim, '$1181')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-11-22T12:00:00.000Z')
    .replaceAll(/rport=\d+/g, 'rport=5060')
    .replaceAll(/m=audio \d+/g, 'm=audio 40000')
    .replaceAll(/(;tag=)[0-9a-f]{16,}/g, '$1a84b4c76e66710bc')
    .replaceAll(/\b[0-9a-f]{32}\b/g, '0af7651916cd43dd8448eb211c80319c')
    .replaceAll(/\b(z9hG4bK)?[0-9a-f]{16}(?=[;@>\s]|$)/g, '$1a84b4c76e66710bc')
    .replaceAll(/\/record\/\d{4}\/\d\d\/\d\d\//g, '/record/2026/11/22/')
    .replaceAll(/(response|nonce|cnonce)="[^"]+"/g, '$1="..."')
}
