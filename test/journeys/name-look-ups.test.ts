// Host names that one tenant has looked up are no other tenant's trouble, whatever their name servers do.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication } from '../support/application.ts'
import type { Application } from '../support/application.ts'
import { createCaller } from '../support/caller.ts'
import { startNameServer } from '../support/name-server.ts'
import type { ScriptedNameServer } from '../support/name-server.ts'
import { provision, startPlatform } from '../support/platform-process.ts'
import type { Platform, Tenant } from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'

describe.skipIf(isMissing('sipp'))('names that no server speaks of', () => {
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
      // The application says nothing, or more look-ups than an account may have are under way.
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
})
