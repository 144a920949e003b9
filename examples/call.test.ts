// The phone for the terminal, run as a child process that calls a real platform.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApplication } from '../test/support/application.ts'
import type { Application } from '../test/support/application.ts'
import { codeCache, provision, sharedPlatform } from '../test/support/platform-process.ts'
import type { Platform, Tenant } from '../test/support/platform-process.ts'
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

const call = (uri: string, ...args: readonly string[]): ToolProcess =>
  new ToolProcess({
    command: process.execPath,
    args: [
      join(import.meta.dirname, 'call.ts'),
      uri,
      ...['--user', tenant.username, '--password', tenant.password],
      ...['--server', `127.0.0.1:${platform.sip.port}`, ...args],
    ],
    env: codeCache(),
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
