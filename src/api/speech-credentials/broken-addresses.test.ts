// Addresses and regions of vendors that no request can be sent to: a refusal or a failed test, never a 500.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { settingFields, settingNames, vendorNames, vendorRule } from './vendors.ts'

let api: TestApi
let path: string
beforeAll(async () => {
  api = await openTestApi()
  path = `/Accounts/${api.own.account_sid}/SpeechCredentials`
})
afterAll(() => api.close())

const places = Object.keys(settingFields).filter((name) => /_ur[il]$|region$/.test(name))
const fields = ['custom:mine', ...vendorNames].flatMap((vendor) => {
  const rule = vendorRule(vendor)
  const names = rule === undefined ? [] : settingNames(rule)
  return names.filter((name) => places.includes(name)).map((field) => ({ vendor, field }))
})

/** Values of the other fields that a credential may need. */
const rest: Readonly<Record<string, string | number>> = {
  ...{ api_key: 'k', model_id: 'm', client_id: 'c', client_key: 'k', user_id: 'u', voice_engine: 'v' },
  ...{ region: 'westeurope', access_key_id: 'a', secret_access_key: 's', stt_model_id: 'm' },
  ...{ use_custom_tts: 1, use_custom_stt: 1, secret: 's', instance_id: 'i' },
}

function credential(vendor: string, given: Readonly<Record<string, string>>): object {
  const rule = vendorRule(vendor)
  const names = rule === undefined ? [] : settingNames(rule)
  const own = Object.fromEntries(names.filter((name) => name in rest).map((name) => [name, rest[name]]))
  return { vendor, use_for_tts: 1, use_for_stt: 1, ...own, ...given }
}

const unusable = [
  'http://[::1',
  'http://x:99999/',
  'https://%zz/',
  'http://u:p@127.0.0.1:1/',
  'ws://[',
  'a:b:c',
]
const useless = [
  ...[
    'http://127.0.0.1:1/#part',
    'ws://127.0.0.1:1/#part',
    'http://127.0.0.1:1/%',
    'http://127.0.0.1:1/?\ud800',
  ],
  ...['127.0.0.1:1', '-', 'x'.repeat(40)],
]

describe.each(fields)('$field of $vendor', ({ vendor, field }) => {
  it('is refused by its name where no request can be sent to it', async () => {
    for (const value of unusable) {
      const { status, body } = await api.post(
        path,
        api.own.accountKey,
        credential(vendor, { [field]: value }),
      )
      expect([status, body], value).toEqual([
        400,
        expect.objectContaining({ msg: expect.stringMatching(`^${field} must `) as string }),
      ])
    }
  })

  it('fails the test of the credential with a reason where nothing answers there', async () => {
    for (const value of useless) {
      const made = await api.post(path, api.own.accountKey, credential(vendor, { [field]: value }))
      expect([201, 400], value).toContain(made.status)
      if (made.status !== 201) continue
      const one = `${path}/${(made.body as { readonly sid: string }).sid}`
      // A region would be asked for in the network.
      const { status, body } = field.endsWith('region')
        ? await api.get(one, api.own.accountKey)
        : await api.get(`${one}/test`, api.own.accountKey)
      expect([status, body], value).toEqual([200, expect.any(Object)])
      expect((await api.delete(one, api.own.accountKey)).status).toBe(204)
    }
  })
})
