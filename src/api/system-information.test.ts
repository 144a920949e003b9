import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const post = (body: object, token = api.adminKey) => api.post('/SystemInformation', token, body)

describe('SystemInformation', () => {
  it('is empty before the first write, then what was written; what is left out stays, null clears', async () => {
    expect((await api.get('/SystemInformation', api.adminKey)).body).toEqual({})
    const first = await post({
      domain_name: 'Example.com',
      private_network_cidr: '10.0.0.0/8, 192.0.2.7, fd00::/8',
    })
    expect([first.status, first.body]).toEqual([
      201,
      {
        domain_name: 'example.com',
        sip_domain_name: null,
        monitoring_domain_name: null,
        private_network_cidr: '10.0.0.0/8, 192.0.2.7, fd00::/8',
        log_level: 'info',
      },
    ])
    const second = await post({
      log_level: 'DEBUG',
      sip_domain_name: 'sip.example.com',
      private_network_cidr: null,
    })
    expect(second.body).toMatchObject({
      domain_name: 'example.com',
      sip_domain_name: 'sip.example.com',
      private_network_cidr: null,
      log_level: 'debug',
    })
    const read = await api.get('/SystemInformation', api.adminKey)
    expect([read.status, read.body]).toEqual([200, second.body])
  })

  it('is for administrators only', async () => {
    for (const token of [api.own.providerKey, api.own.accountKey]) {
      expect((await api.get('/SystemInformation', token)).status).toBe(403)
      expect((await post({ domain_name: 'a.example.com' }, token)).status).toBe(403)
    }
  })

  it.each([
    [{ domain_name: 'not a host' }, 'domain_name must be a host name'],
    [{ sip_domain_name: 5 }, 'sip_domain_name must be text'],
    [{ monitoring_domain_name: 'a\r\nb' }, 'monitoring_domain_name must be a host name'],
    [{ private_network_cidr: 'home' }, 'private_network_cidr must be a list of networks'],
    [{ private_network_cidr: 'x'.repeat(9000) }, 'private_network_cidr must have at most 8192'],
    [{ log_level: 'warn' }, 'log_level must be one of'],
  ])('answers 400 naming the field for %.60j', async (body, msg) => {
    const answer = await post(body)
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.objectContaining({ msg: expect.stringContaining(msg) }),
    ])
  })
})
