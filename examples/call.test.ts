// The phone for the terminal, run as a child process that calls a real platform.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApplication, type Application } from '../test/support/application.ts'
import {
  adminApiKey,
  codeCache,
  provision,
  sharedPlatform,
  type Platform,
  type Tenant,
} from '../test/support/platform-process.ts'
import { ToolProcess } from '../test/support/processes.ts'

let application: Application
let platform: Platform
let tenant: Tenant

beforeAll(async () => {
  application = await startApplication()
  application.on('/status', { status: 200 })
  application.on('/call', { json: [{ verb: 'answer' }, { verb: 'pause', length: 120 }] })
  platform = await sharedPlatform()
  tenant = await provision(platform.api, { application })
})

afterAll(async () => {
  await application?.close()
})

const withKey = (): Readonly<Record<string, string>> => ({
  ...codeCache(),
  SWITCHHOOK_ADMIN_API_KEY: adminApiKey,
  SWITCHHOOK_HTTP_PORT: String(platform.httpPort),
})

const call = (uri: string, ...args: readonly string[]): ToolProcess => callWith(codeCache(), uri, ...args)

const callWith = (
  env: Readonly<Record<string, string>>,
  uri: string,
  ...args: readonly string[]
): ToolProcess =>
  new ToolProcess({
    command: process.execPath,
    args: [
      join(import.meta.dirname, 'call.ts'),
      uri,
      ...['--user', tenant.username, '--password', tenant.password],
      ...['--server', `127.0.0.1:${platform.sip.port}`, ...args],
    ],
    env,
  })

it('hangs up as many seconds after the answer as --seconds says, where the application does not', async () => {
  const run = call(`sip:${tenant.target}`, '--seconds', '0.5')
  expect([(await run.exited).code, run.stderr]).toEqual([0, ''])
  expect(run.stdout).toMatch(/the call is answered\n[^]* {2}hangs up after 0\.5 s\n$/)
  expect(run.stdout).not.toContain('the platform hangs up')
})

it('says why the platform refused the call, with the cure and the code', async () => {
  const run = call(`sip:app-01a20239-2106-4d3c-8f3e-66daad174128@${tenant.realm}`)
  expect((await run.exited).code).toBe(1)
  expect(run.stderr).toMatch(/^The platform refused the call: 4\d\d [^]+\. [A-Z].+ \([a-z_]+\)\n$/)
})

it('names keys that no phone has, and places no call', async () => {
  const run = call(`sip:${tenant.target}`, '--press', '1x')
  expect((await run.exited).code).toBe(1)
  expect([run.stdout, run.stderr]).toEqual([
    '',
    '--press must be keys (0 to 9, *, #, A to D), and is "1x".\n',
  ])
})

it('prints the cure of the journal with a key, and npm run story the whole call by its id', async () => {
  const refused = callWith(withKey(), `sip:app-01a20239-2106-4d3c-8f3e-66daad174128@${tenant.realm}`)
  expect((await refused.exited).code).toBe(1)
  interface Call {
    readonly call_sid: string
    readonly sip_status: number
  }
  const path = `/Accounts/${tenant.account_sid}/RecentCalls`
  const { data } = await platform.api.must<{ data: Call[] }>('GET', `${path}?page=1&count=25`)
  const { call_sid = '' } = data.find(({ sip_status }) => sip_status >= 400) ?? {}
  const events = await platform.api.must<Record<string, string>[]>('GET', `${path}/${call_sid}/journal`)
  const refusal = events.find(({ type }) => type === 'refusal')
  expect(refusal?.['cure']).toBeTruthy()
  expect(refused.stderr).toContain(`${refusal?.['cure']} (${refusal?.['code']})`)
  const story = (id: string): ToolProcess =>
    new ToolProcess({
      command: process.execPath,
      args: [join(import.meta.dirname, 'story.ts'), id],
      env: withKey(),
    })
  const told = story(call_sid)
  expect([(await told.exited).code, told.stderr]).toEqual([0, ''])
  expect(told.stdout).toContain(`(${refusal?.['code']})`)
  const unknown = story('01a20239-2106-4d3c-8f3e-66daad174128')
  expect((await unknown.exited).code).toBe(1)
  expect(unknown.stderr).toContain('has a record of the call 01a20239')
})
