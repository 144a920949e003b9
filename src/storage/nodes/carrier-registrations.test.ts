import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemTenancy } from '../../contracts/caller.ts'
import type { CarrierRegistration, RegisterStatus } from '../../contracts/carrier-registration.ts'
import { makeAccount, onEachStore, type TestStorage } from '../../../test/support/each-store.ts'

const status: RegisterStatus = {
  status: 'ok',
  reason: '200 OK',
  cseq: 12,
  callId: 'c',
  timestamp: 1,
  expires: 3600,
}

onEachStore(({ open }) => {
  describe('registrations with carriers', () => {
    let test: TestStorage
    let sid: string

    beforeEach(async () => {
      test = await open()
      const { account_sid, service_provider_sid } = await makeAccount(test.storage)
      const rows = test.storage.for(systemTenancy)
      const carrier = { name: 'acme', account_sid, service_provider_sid }
      sid = (await rows.voip_carriers.insert(carrier)).voip_carrier_sid
    })
    afterEach(() => test.close())

    const store = () => test.storage.carrierRegistrations
    const kept = (more: Partial<CarrierRegistration> = {}): CarrierRegistration => ({
      voip_carrier_sid: sid,
      callId: 'c',
      cseq: 12,
      contact: '<sip:me@192.0.2.1>',
      expiresAt: 4_000_000_000_000,
      gateway: 'g',
      addresses: ['192.0.2.7'],
      routes: ['<sip:edge.example.com;lr>'],
      ...more,
    })
    const carrierRow = () => test.storage.for(systemTenancy).voip_carriers.find(sid)

    it('survive a restart, and the carrier says how the last one went without being changed', async () => {
      expect(await store().hold([sid])).toEqual(new Set([sid]))
      const before = await carrierRow()
      const revision = test.storage.revision(['voip_carriers'])
      await store().save(kept(), status)
      expect(await carrierRow()).toEqual({ ...before, register_status: JSON.stringify(status) })
      // The first outcome makes the lists that were sent out of date; a refresh with the same outcome does not.
      expect(test.storage.revision(['voip_carriers'])).toBeGreaterThan(revision)
      const turned = test.storage.revision(['voip_carriers'])
      await store().save(kept(), { ...status, timestamp: 2 })
      await store().save(kept(), status)
      expect(test.storage.revision(['voip_carriers'])).toBe(turned)
      await test.reopen()
      expect(await store().load()).toEqual([kept()])
      expect(await store().hold([sid])).toEqual(new Set([sid]))
    })

    it('leave no status once they are withdrawn, and show one again once they are made', async () => {
      await store().hold([sid])
      await store().save(kept(), status)
      await store().save(kept(), undefined)
      expect((await carrierRow())?.register_status).toBe(JSON.stringify(status))
      const revision = test.storage.revision(['voip_carriers'])
      await store().save(kept({ contact: null }), 'none')
      expect((await carrierRow())?.register_status).toBeNull()
      expect(test.storage.revision(['voip_carriers'])).toBeGreaterThan(revision)
      await store().save(kept(), status)
      expect((await carrierRow())?.register_status).toBe(JSON.stringify(status))
    })

    it('are written by the node alone that holds the carrier', async () => {
      await store().hold([sid])
      await store().release([sid])
      await store().save(kept(), status)
      expect((await carrierRow())?.register_status).toBeNull()
      expect((await store().load())[0]?.callId).toBe('')
    })

    it('go with their carrier, which then cannot be held', async () => {
      await store().hold([sid])
      await test.storage.for(systemTenancy).voip_carriers.remove(sid)
      expect(await store().load()).toEqual([])
      expect(await store().hold([sid])).toEqual(new Set())
    })
  })
})
