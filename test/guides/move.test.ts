// The script of the move guide against rows that the platform refuses.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { openTestApi, type TestApi } from '../support/api.ts'

const guide = join(import.meta.dirname, '../../docs/guides/move-from-jambonz.md')
const hook = { url: 'https://app.example.com/', method: 'POST' }

let api: TestApi
let old: Application
let folder: string
beforeEach(async () => {
  api = await openTestApi()
  await api.http.start()
  old = await startApplication()
  folder = await mkdtemp(join(tmpdir(), 'switchhook-move-'))
  const [, script = ''] = /```js move\.mjs\n([^]*?)\n```/.exec(await readFile(guide, 'utf8')) ?? []
  await writeFile(join(folder, 'move.mjs'), script)
})
afterEach(async () => {
  await rm(folder, { recursive: true })
  await old.close()
  await api.close()
})

interface Run {
  readonly code: number
  readonly output: string
  readonly errors: string
}

function move(more: Readonly<Record<string, string>> = {}): Promise<Run> {
  const env = {
    ...process.env,
    OLD: old.url('/v1'),
    OLD_KEY: 'old-key',
    NEW: `http://127.0.0.1:${api.http.address.port}/v1`,
    KEY: api.own.accountKey,
    ACCOUNT: api.own.account_sid,
    ...more,
  }
  return new Promise((resolve) => {
    execFile(process.execPath, [join(folder, 'move.mjs')], { env }, (error, output, errors) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, output, errors }),
    )
  })
}

/** Answers the lists of the old platform; what is not given is empty. */
function holds(lists: Readonly<Record<string, readonly object[]>>): void {
  const all = { Applications: [], VoipCarriers: [], SipGateways: [], PhoneNumbers: [], Clients: [], Lcrs: [] }
  const more = { 'Accounts/o/SpeechCredentials': [], MicrosoftTeamsTenants: [] }
  const account = { account_sid: 'o', record_all_calls: 1, device_calling_application_sid: 'b' }
  for (const [name, rows] of Object.entries({ ...all, ...more, Accounts: [account], ...lists }))
    old.on(`/v1/${name}`, { json: [...rows] })
}

const application = (application_sid: string, name: string, call_hook: object) => ({
  ...{ application_sid, name, call_hook },
  call_status_hook: hook,
})
const rows = (badHook: object) => ({
  Applications: [application('a', 'good', hook), application('b', 'bad', badHook)],
  VoipCarriers: [
    { voip_carrier_sid: 'c', name: 'Good Telecom', application_sid: 'a' },
    { voip_carrier_sid: 'd', name: 'Waiting Telecom', application_sid: 'b' },
  ],
  SipGateways: [{ ipv4: '203.0.113.30', netmask: 32, inbound: 1, outbound: 1 }],
  PhoneNumbers: [
    { number: '15550177', voip_carrier_sid: 'c', application_sid: 'a' },
    { number: '15550178', voip_carrier_sid: 'c', application_sid: 'b' },
  ],
})
const names = async (path: string, name: string): Promise<unknown[]> =>
  ((await api.get(path, api.own.accountKey)).body as Record<string, unknown>[]).map((row) => row[name])

it('goes on after a refused row, lists what was refused with the sentence of the API, and exits with 1', async () => {
  holds(rows({ url: 'ftp://app.example.com/' }))
  const { code, output, errors } = await move()
  expect([code, errors]).toEqual([1, ''])
  const [, refused = ''] = output.split('Refused. Mend these, and run the script again:\n')
  expect(refused.split('\n').map((line) => line.trim())).toEqual([
    expect.stringMatching(/^\/Applications bad: 4\d\d call_hook\.url must .+/),
    '/VoipCarriers Waiting Telecom: waits for its application, which was refused',
    '/SipGateways 203.0.113.30: waits for its carrier, which was refused',
    '/PhoneNumbers 15550178: waits for its application, which was refused',
    'The account: waits for its application, which was refused',
    '',
  ])
  expect(await names('/Applications', 'name')).toEqual(['good'])
  expect(await names('/VoipCarriers', 'name')).toEqual(['Good Telecom'])
  expect(await names('/PhoneNumbers', 'number')).toEqual(['15550177'])
})

it('makes the rest in the next run, once what was refused is mended', async () => {
  holds(rows({ url: 'ftp://app.example.com/' }))
  await move()
  holds(rows(hook))
  const { code, output, errors } = await move()
  expect([code, errors]).toEqual([0, ''])
  expect(output).toContain('/Applications good (was there)\n/Applications bad\n')
  expect(new Set(await names('/VoipCarriers', 'name'))).toEqual(new Set(['Good Telecom', 'Waiting Telecom']))
  const numbers = (await api.get('/PhoneNumbers', api.own.accountKey)).body as { application_sid: unknown }[]
  expect(numbers).toHaveLength(2)
  for (const { application_sid } of numbers) expect(application_sid).toEqual(expect.any(String))
  expect((await api.get(`/Accounts/${api.own.account_sid}`, api.adminKey)).body).toMatchObject({
    record_all_calls: 1,
    device_calling_application_sid: expect.any(String) as string,
  })
})

it('ends with a sentence, and no stack trace, where a platform cannot be reached or refuses the key', async () => {
  holds({})
  const refused = await move({ KEY: 'wrong' })
  expect([refused.code, refused.errors]).toEqual([1, ''])
  expect(refused.output).toMatch(/^ {2}GET \/Applications: 401 .+/m)
  const away = await move({ OLD: 'http://127.0.0.1:1/v1' })
  expect([away.code, away.errors]).toEqual([1, ''])
  expect(away.output).toMatch(/^ {2}http:\/\/127\.0\.0\.1:1\/v1 cannot be reached: /m)
})
