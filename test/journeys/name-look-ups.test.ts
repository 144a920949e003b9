// Look-ups of host names of one tenant do not disturb the others, whatever their name servers do.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { createCaller } from '../support/caller.ts'
import { startNameServer, type ScriptedNameServer } from '../support/name-server.ts'
import { provision, startPlatform, type Platform, type Tenant } from '../support/platform-process.ts'
import { startRefusingCarrier } from '../support/refusing-carrier.ts'
import { isMissing } from '../support/tools.ts'

describe.skipIf(isMissing('sipp'))('names whose server does not respond', () => {
  let application: Application
  let names: ScriptedNameServer
  let platform: Platform
  let attacker: Tenant
  let victim: Tenant

  beforeAll(async () => {
    names = await startNameServer()
    names.silence('slow.test')
    names.addresses('hooks.victim.test', ['127.0.0.1'], 0)
    application = await startApplication()
    application.on('/call', { json: [{ verb: 'answer' }, { verb: 'hangup' }] })
    application.on('/status', { status: 200 })
    platform = await startPlatform({ env: { SWITCHHOOK_NAME_SERVERS: names.at } })
    attacker = await provision(platform.api, { application })
    const { port } = new URL(application.origin)
    const byName = { url: (path: string) => `http://hooks.victim.test:${port}${path}` }
    victim = await provision(platform.api, { application: byName })
  })

  afterAll(async () => {
    await platform?.remove()
    await application?.close()
    await names?.close()
  })

  it('sixty slow names of one account delay neither hooks nor changes of another', async () => {
    const { token } = await platform.api.must<{ token: string }>('POST', '/ApiKeys', {
      account_sid: attacker.account_sid,
    })
    let isOver = false
    let rounds = 0
    const ask = async (index: number): Promise<void> => {
      const path = `/AppEnv?url=http://h${index}-${rounds}.slow.test/`
      const { status } = await platform.api.call('GET', path, undefined, token)
      // Either the application does not respond, or the account has reached its limit of look-ups.
      expect([204, 503]).toContain(status)
    }
    const attack = (async () => {
      for (; !isOver; rounds++) await Promise.all(Array.from({ length: 60 }, (_, index) => ask(index)))
    })()
    await names.asked.next('one of them', (name) => name.endsWith('.slow.test'))
    const result = await createCaller(platform, victim).call('call', victim.target)
    isOver = true
    expect(result.report).toBe('')
    expect(application.to('/call').at(-1)?.body).toMatchObject({ account_sid: victim.account_sid })
    await attack
  })

  it('a call whose first SRV target is dead reaches the second in two seconds, the next immediately', async () => {
    const dead = createSocket('udp4')
    dead.bind(0, '127.0.0.1')
    await once(dead, 'listening')
    const { sip: gateway, invites } = await startRefusingCarrier()
    try {
      names.addresses('edge.carrier.test', ['127.0.0.1'])
      names.services('_sip._udp.carrier.test', [
        { target: 'edge.carrier.test', port: dead.address().port, priority: 1 },
        { target: 'edge.carrier.test', port: gateway.listening.port, priority: 2 },
      ])
      const { account_sid, application_sid } = victim
      const carrier = { name: 'Behind SRV', account_sid }
      const { sid: voip_carrier_sid } = await platform.api.must<{ sid: string }>(
        'POST',
        '/VoipCarriers',
        carrier,
      )
      const row = { voip_carrier_sid, ipv4: 'carrier.test', port: null, outbound: true }
      await platform.api.must('POST', '/SipGateways', row)
      const call = async (number: string): Promise<number> => {
        const to = { type: 'phone', number, trunk: 'Behind SRV' }
        const beganAt = performance.now()
        await platform.api.must('POST', `/Accounts/${account_sid}/Calls`, {
          application_sid,
          from: '15550199',
          to,
        })
        await invites.next(`the call of ${number}`, ({ uri }) => uri.startsWith(`sip:${number}@`))
        return performance.now() - beganAt
      }
      const first = await call('15550100')
      expect(first).toBeGreaterThan(1_900)
      // Without this a dead address would take 32 s; the rest is a margin for a busy machine.
      expect(first).toBeLessThan(4_000)
      expect(await call('15550101')).toBeLessThan(1_500)
    } finally {
      dead.close()
      await gateway.stop()
    }
  })
})
