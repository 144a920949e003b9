import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accountApiKey, adminApiKey, startPlatform } from '../test/support/platform.ts'
import type { Platform } from '../test/support/platform.ts'
import { provisionDemo } from './provision-demo.ts'

describe('provisionDemo', () => {
  let platform: Platform

  beforeAll(async () => {
    platform = await startPlatform()
  }, 60_000)

  afterAll(() => platform?.remove())

  const provision = (hookUrl: string) =>
    provisionDemo({
      baseUrl: `http://127.0.0.1:${platform.httpPort}`,
      apiKey: adminApiKey,
      hookUrl,
      realm: 'demo.switchhook.test',
    })

  it('makes an account of its own, an application and a client, and finds them again with the same password', async () => {
    const first = await provision('http://127.0.0.1:3001')
    expect(first.password.length).toBe(20)
    expect(first.webhookSecret).toMatch(/^wh_secret_/)
    expect(await provision('http://127.0.0.1:3002')).toEqual(first)
    const accounts = await platform.api.must<{ name: string; sip_realm?: string }[]>('GET', '/Accounts')
    expect(accounts.map(({ name, sip_realm }) => [name, sip_realm])).toEqual([
      ['default account', undefined],
      ['Switchhook demo', 'demo.switchhook.test'],
    ])
  })

  it('says in words what is wrong', async () => {
    const options = { hookUrl: 'http://127.0.0.1:3001', realm: 'demo.switchhook.test' }
    const baseUrl = `http://127.0.0.1:${platform.httpPort}/v1/`
    await expect(provisionDemo({ ...options, baseUrl, apiKey: 'wrong' })).rejects.toThrow('answered 401')
    await expect(provisionDemo({ ...options, baseUrl, apiKey: accountApiKey })).rejects.toThrow(
      'It takes the admin API key',
    )
    await expect(provisionDemo({ ...options, baseUrl: 'http://127.0.0.1:1', apiKey: 'x' })).rejects.toThrow(
      'The platform does not answer',
    )
  })
})
