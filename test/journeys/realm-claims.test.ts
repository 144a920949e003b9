// An account that claims the host name by which carriers call the platform gets neither the name nor the calls of
// others.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { callFromCarrier, provisionCarrier, refusedCall, type Carrier } from '../support/carrier.ts'
import { startNameServer, type ScriptedNameServer } from '../support/name-server.ts'
import {
  productionSettings,
  provision,
  startPlatform,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { headerOf } from '../support/sipp.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const host = 'sip.edge.platform.test'
const number = '15550001'

describe.skipIf(isMissing('sipp'))('the host name that carriers call', () => {
  let application: Application
  let names: ScriptedNameServer
  let platform: Platform
  let victim: Tenant
  let attacker: Tenant
  let attackerKey: string
  let carrier: Carrier

  beforeAll(async () => {
    names = await startNameServer()
    application = await startApplication()
    application.on('/call', { json: [{ verb: 'answer' }, { verb: 'hangup' }] })
    application.on('/status', { status: 200 })
    platform = await startPlatform({
      env: {
        ...productionSettings(),
        SWITCHHOOK_NAME_SERVERS: names.at,
        SWITCHHOOK_WEBHOOK_ALLOW: '127.0.0.1/32',
      },
    })
    victim = await provision(platform.api, { application })
    attacker = await provision(platform.api, { application })
    const owner = { account_sid: attacker.account_sid }
    attackerKey = (await platform.api.must<{ token: string }>('POST', '/ApiKeys', owner)).token
    const { account_sid, application_sid } = victim
    carrier = await provisionCarrier(platform.api, { account_sid })
    const { voip_carrier_sid } = carrier
    await platform.api.must('POST', '/PhoneNumbers', {
      number,
      voip_carrier_sid,
      account_sid,
      application_sid,
    })
  })

  afterAll(async () => {
    await platform?.remove()
    await application?.close()
    await names?.close()
  })

  const asAttacker = (method: string, path: string, body?: object) =>
    platform.api.call(method, path, body, attackerKey)
  const claim = (realm: string, tenant = attacker) =>
    asAttacker('POST', `/Accounts/${tenant.account_sid}/SipRealms/${realm}`)

  async function ownerOfCall(): Promise<unknown> {
    const result = await callFromCarrier(platform, carrier, number, { uri: `${number}@${host}` })
    expect(result.report).toBe('')
    const call_id = headerOf(result.messages[0], 'Call-ID')
    return application.to('/call').find(({ body }) => body['call_id'] === call_id)?.body['account_sid']
  }

  it('the host name that carriers call cannot become a realm of another account, from the first call on', async () => {
    expect(await ownerOfCall()).toBe(victim.account_sid)
    // The name is stored in parallel with the call, so a claim that comes too early is undone.
    const refused = await until('the name to be refused', async () => {
      const reply = await claim(host)
      if (reply.status !== 204) return reply
      expect((await claim('free.attacker.test')).status).toBe(204)
      return false
    })
    expect(refused.status).toBe(403)
    expect(refused.body).toMatchObject({ code: 'realm_not_proven' })
    expect(refused.text).toContain(`switchhook-account=${attacker.account_sid}`)
  })

  it('the host name leads to the account of the number even if it is the realm of another account', async () => {
    const { account_sid } = attacker
    await platform.api.must('PUT', `/Accounts/${account_sid}`, { sip_realm: host })
    expect(await ownerOfCall()).toBe(victim.account_sid)
    // A call from there as a user of the realm gets a password challenge, as anywhere.
    await refusedCall(platform, carrier, number, 401, {
      uri: `${number}@${host}`,
      values: { realm: host, username: 'alice' },
    })
  })

  it('a gateway as wide as the Internet does not help to get the calls', async () => {
    const made = await asAttacker('POST', '/VoipCarriers', {
      name: 'wide',
      account_sid: attacker.account_sid,
      application_sid: attacker.application_sid,
    })
    const { sid: voip_carrier_sid } = made.body as { sid: string }
    const gateway = { voip_carrier_sid, ipv4: '127.0.0.0', netmask: 1, inbound: true }
    const reply = await asAttacker('POST', '/SipGateways', gateway)
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('at least 24') as string])
    expect(await ownerOfCall()).toBe(victim.account_sid)
  })

  it('a host name that leads here becomes a realm only with a TXT record that names the account', async () => {
    const realm = 'calls.attacker.test'
    names.addresses(realm, ['127.0.0.1'])
    const refused = await claim(realm)
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining(`_switchhook.${realm}`) as string,
    ])
    names.texts(`_switchhook.${realm}`, [`switchhook-account=${attacker.account_sid}`])
    expect((await claim(realm)).status).toBe(204)
  })
})
