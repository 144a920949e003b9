import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  accountApiKey,
  adminApiKey,
  startPlatform,
  type Platform,
} from '../../test/support/platform-process.ts'
import { provisionCall, provisionPhone } from './provision-demo.ts'
import { runCall } from './run-call.ts'

let platform: Platform

beforeAll(async () => {
  platform = await startPlatform()
}, 60_000)

afterAll(() => platform?.remove())

const options = (hookUrl = 'http://127.0.0.1:3001', apiKey = adminApiKey) => ({
  baseUrl: `http://127.0.0.1:${platform.httpPort}`,
  apiKey,
  hookUrl,
  realm: 'demo.switchhook.test',
})

const namesAt = async (path: string, field: string): Promise<unknown[]> =>
  (await platform.api.must<Record<string, unknown>[]>('GET', path)).map((row) => row[field])

describe('provisionPhone', () => {
  it('makes an account of its own, an application and a client, and finds them again with the same password', async () => {
    const first = await provisionPhone(options())
    expect(first.password).toHaveLength(20)
    expect(first.webhookSecret).toMatch(/^wh_secret_/)
    expect(await provisionPhone(options('http://127.0.0.1:3002'))).toEqual(first)
    const accounts = await platform.api.must<{ name: string; sip_realm?: string }[]>('GET', '/Accounts')
    expect(accounts.map(({ name, sip_realm }) => [name, sip_realm])).toEqual([
      ['default account', undefined],
      ['Switchhook demo', 'demo.switchhook.test'],
    ])
  })

  it('leaves the password of a phone as it is when the API key is another one', async () => {
    const first = await provisionPhone(options())
    const { token } = await platform.api.must<{ token: string }>('POST', '/ApiKeys', {})
    const second = await provisionPhone(options('http://127.0.0.1:3001', token))
    expect(second.username).not.toBe(first.username)
    expect(second.application_sid).toBe(first.application_sid)
    const clients = await platform.api.must<{ client_sid: string }[]>('GET', '/Clients')
    expect(clients.map(({ client_sid }) => client_sid)).toEqual(
      expect.arrayContaining([first.client_sid, second.client_sid]),
    )
  })

  it('leaves another choice of application for dialled numbers as it is', async () => {
    const { account_sid, application_sid } = await provisionPhone(options())
    const other = await platform.api.must<{ sid: string }>('POST', '/Applications', {
      account_sid,
      name: 'own',
      call_hook: { url: 'http://127.0.0.1:4000/', method: 'POST' },
      call_status_hook: { url: 'http://127.0.0.1:4000/', method: 'POST' },
    })
    const chosen = { device_calling_application_sid: other.sid }
    await platform.api.must('PUT', `/Accounts/${account_sid}`, chosen)
    expect((await provisionPhone(options())).application_sid).toBe(application_sid)
    expect(await platform.api.must('GET', `/Accounts/${account_sid}`)).toMatchObject(chosen)
  })

  it('says in words what is wrong', async () => {
    const provision = (change: object) => provisionPhone({ ...options(), ...change })
    await expect(provision({ apiKey: 'wrong' })).rejects.toThrow(/does not take this API key .*reset-admin/)
    await expect(provision({ apiKey: accountApiKey })).rejects.toThrow('Take the admin API key')
    await expect(provision({ realm: 'no realm' })).rejects.toThrow(
      /refused POST \/Accounts \(400 bad_request\): sip_realm .*\. [A-Z]/,
    )
    await expect(provision({ baseUrl: 'http://127.0.0.1:1' })).rejects.toThrow(
      'The platform does not respond',
    )
  })
})

describe('provisionCall', () => {
  it('removes what one call needed, and also what a killed run has left', async () => {
    await provisionPhone(options())
    const before = [
      await namesAt('/Clients', 'client_sid'),
      await namesAt('/Applications', 'application_sid'),
    ]
    const killed = await provisionCall(options())
    const next = await provisionCall(options('http://127.0.0.1:4001'))
    expect(next.account_sid).toBe(killed.account_sid)
    expect(next.client_sid).not.toBe(killed.client_sid)
    expect(await namesAt('/Clients', 'client_sid')).not.toContain(killed.client_sid)
    await next.remove()
    expect([
      await namesAt('/Clients', 'client_sid'),
      await namesAt('/Applications', 'application_sid'),
    ]).toEqual(before)
  })
})

describe('runCall', () => {
  it('says why the platform refused the call, with the cure', async () => {
    const { account_sid } = await provisionPhone(options())
    await platform.api.must('PUT', `/Accounts/${account_sid}`, { is_active: 0 })
    const sip = { host: '127.0.0.1', port: platform.sip.port }
    await expect(runCall({ ...options(), sip }, () => undefined)).rejects.toThrow(
      /^The platform refused the call: .+\. [A-Z].+ \(account_inactive\)$/,
    )
  })
})
