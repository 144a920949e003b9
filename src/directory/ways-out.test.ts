import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AccountFacts } from '../calls/ports.ts'
import { createDirectory } from './create-directory.ts'
import type { StorageDirectory } from './directory.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import type { Repositories, Row } from '../storage/storage.ts'
import { makeAccount, onEachStore, type TestStorage } from '../../test/support/each-store.ts'

onEachStore(({ open }) => {
  let test: TestStorage
  let directory: StorageDirectory
  let rows: Repositories
  beforeAll(async () => {
    test = await open()
    // The clock stands still: changes must be seen without a delay.
    directory = createDirectory({ storage: test.storage, clock: createFakeClock() })
    rows = test.storage.for(systemTenancy)
  })
  afterAll(() => test.close())

  async function account(service_provider_sid?: string): Promise<AccountFacts> {
    const { account_sid } = await makeAccount(test.storage, service_provider_sid)
    const facts = await directory.account(account_sid)
    if (facts === undefined) throw new Error('no account')
    return facts
  }

  interface Made {
    readonly carrier: string
    readonly gateway: string
  }

  async function makeCarrier(
    {
      account_sid,
      service_provider_sid,
    }: Pick<AccountFacts, 'service_provider_sid'> & { account_sid: string | null },
    name: string,
    more: Partial<Row<'voip_carriers'>> = {},
    gateway: Partial<Row<'sip_gateways'>> = {},
  ): Promise<Made> {
    const owner = { account_sid, ...(account_sid === null ? { service_provider_sid } : {}) }
    const { voip_carrier_sid } = await rows.voip_carriers.insert({ name, ...owner, ...more })
    const { sip_gateway_sid } = await rows.sip_gateways.insert({
      ...owner,
      voip_carrier_sid,
      ipv4: '192.0.2.1',
      port: 5080,
      outbound: 1,
      ...gateway,
    })
    return { carrier: voip_carrier_sid, gateway: sip_gateway_sid }
  }

  const names = async (facts: AccountFacts): Promise<string[]> =>
    (await directory.outboundCarriers(facts)).map(({ name }) => name)

  it('knows the carriers that take calls of an account: its own before those it shares', async () => {
    const own = await account()
    const sibling = await account(own.service_provider_sid)
    const foreign = await account()
    await makeCarrier({ ...own, account_sid: null }, 'shared')
    await makeCarrier(own, 'own', { tech_prefix: '9', e164_leading_plus: 1, register_password: 'secret' })
    await makeCarrier(own, 'inbound only', {}, { outbound: 0 })
    await makeCarrier(own, 'off', { is_active: 0 })
    await makeCarrier(own, 'gateway off', {}, { is_active: 0 })
    await makeCarrier(sibling, 'of the sibling')
    await makeCarrier({ ...foreign, account_sid: null }, 'of another provider')
    expect(await names(own)).toEqual(['own', 'shared'])
    expect((await directory.outboundCarriers(own))[0]).toMatchObject({
      isShared: false,
      tech_prefix: '9',
      e164_leading_plus: true,
      register_password: 'secret',
      gateways: [
        {
          sip_gateway_sid: expect.any(String),
          host: '192.0.2.1',
          port: 5080,
          protocol: 'udp',
          use_sips_scheme: false,
        },
      ],
    })
  })

  it('knows where the carriers of all accounts are called, also while they are switched off', async () => {
    const own = await account()
    await makeCarrier(own, 'off', { is_active: 0 }, { ipv4: 'off.example', port: null })
    await makeCarrier(own, 'gateway off', {}, { ipv4: 'gateway-off.example', is_active: 0, protocol: 'tcp' })
    await makeCarrier(own, 'by a proxy', { outbound_sip_proxy: 'sip:proxy.example' })
    await makeCarrier({ ...own, account_sid: null }, 'shared', {}, { ipv4: 'shared.example' })
    await makeCarrier(own, 'inbound only', {}, { ipv4: 'inbound.example', outbound: 0 })
    const { account_sid } = own
    const hops = (await directory.carrierHops()).filter(({ hop }) => hop.includes('.example'))
    expect(hops).toHaveLength(4)
    expect(hops).toEqual(
      expect.arrayContaining([
        { hop: 'sip:off.example;transport=udp', account_sid },
        { hop: 'sip:gateway-off.example:5080;transport=tcp', account_sid },
        { hop: 'sip:proxy.example;transport=udp', account_sid },
        { hop: 'sip:shared.example:5080;transport=udp', account_sid: null },
      ]),
    )
  })

  it('knows a gateway that is reached over TLS and wants SRTP, and how it reads keys', async () => {
    const own = await account()
    await makeCarrier(own, 'over SRTP', {}, { protocol: 'tls/srtp', pad_crypto: 1 })
    const [carrier] = await directory.outboundCarriers(own)
    expect(carrier?.gateways).toMatchObject([
      { protocol: 'tls', protection: { sdes: 'required', padsKeys: true } },
    ])
  })

  it.each([
    [{}, { dtls: 'ice' }],
    [{ remove_ice: 1 }, { dtls: 'no-ice' }],
    [{ dtls_off: 1 }, undefined],
  ] as const)(
    'knows what a gateway that refuses SRTP with keys in SDP is offered with %o',
    async (fields, again) => {
      const own = await account()
      await makeCarrier(own, 'over SRTP', {}, { protocol: 'tls/srtp', ...fields })
      const [carrier] = await directory.outboundCarriers(own)
      expect(carrier?.gateways.map(({ protectionAgain }) => protectionAgain)).toEqual([again])
    },
  )

  it('knows a gateway over TLS, and whether it is called by sips URIs', async () => {
    const own = await account()
    await makeCarrier(own, 'secure', {}, { protocol: 'tls', use_sips_scheme: 1 })
    expect((await directory.outboundCarriers(own))[0]?.gateways).toMatchObject([
      { protocol: 'tls', use_sips_scheme: true },
    ])
  })

  it('sees a change of a carrier or a gateway at the next call', async () => {
    const own = await account()
    const { carrier, gateway } = await makeCarrier(own, 'switched')
    expect(await names(own)).toEqual(['switched'])
    await rows.voip_carriers.update(carrier, { is_active: 0 })
    expect(await names(own)).toEqual([])
    await rows.voip_carriers.update(carrier, { is_active: 1 })
    expect(await names(own)).toEqual(['switched'])
    await rows.sip_gateways.update(gateway, { is_active: 0 })
    expect(await names(own)).toEqual([])
  })

  async function makePlan(
    {
      account_sid,
      service_provider_sid,
    }: Pick<AccountFacts, 'service_provider_sid'> & { account_sid: string | null },
    carrier: string,
    patterns: readonly (readonly [string, number])[],
  ): Promise<{ lcr: string; entries: string[] }> {
    const owner = { account_sid, ...(account_sid === null ? { service_provider_sid } : {}) }
    const { lcr_sid } = await rows.lcrs.insert({ name: 'plan', ...owner })
    const entries: string[] = []
    for (const [regex, priority] of patterns) {
      const { lcr_route_sid } = await rows.lcr_routes.insert({ ...owner, lcr_sid, regex, priority })
      const entry = { ...owner, lcr_route_sid, voip_carrier_sid: carrier, workload: 2, priority: 3 }
      entries.push((await rows.lcr_carrier_set_entries.insert(entry)).lcr_carrier_set_entry_sid)
    }
    return { lcr: lcr_sid, entries }
  }

  it('knows the table of an account, its routes in order and its default', async () => {
    const own = await account()
    const { carrier } = await makeCarrier(own, 'c')
    expect(await directory.dialPlan(own)).toBeUndefined()
    const { lcr, entries } = await makePlan(own, carrier, [
      ['^49\\d+$', 2],
      ['1', 1],
    ])
    await rows.lcrs.update(lcr, { default_carrier_set_entry_sid: entries[0]! })
    const plan = await directory.dialPlan(own)
    const entry = { voip_carrier_sid: carrier, workload: 2, priority: 3 }
    expect(plan?.routes.map(({ regex }) => regex)).toEqual(['1', '^49\\d+$'])
    expect(plan?.routes[0]?.entries).toEqual([entry])
    expect(plan?.fallback).toEqual(entry)
    // A regular expression without an anchor at the beginning matches anywhere.
    expect(['15', '415', '49'].map((number) => plan?.routes[0]?.matches(number))).toEqual([true, true, false])
    expect(['4930', '49', '4930#'].map((number) => plan?.routes[1]?.matches(number))).toEqual([
      true,
      false,
      false,
    ])
    await rows.lcrs.update(lcr, { is_active: 0 })
    expect(await directory.dialPlan(own)).toBeUndefined()
  })

  it('takes the table of the provider where the account has none', async () => {
    const own = await account()
    const provider = { ...own, account_sid: null }
    const { carrier } = await makeCarrier(provider, 'shared')
    await makePlan(provider, carrier, [['33', 1]])
    expect((await directory.dialPlan(own))?.routes.map(({ regex }) => regex)).toEqual(['33'])
    await makePlan(own, carrier, [['44', 1]])
    expect((await directory.dialPlan(own))?.routes.map(({ regex }) => regex)).toEqual(['44'])
  })

  it('knows where a shared carrier is called, however many gateways accounts have', async () => {
    const own = await account()
    const { carrier: voip_carrier_sid } = await makeCarrier(own, 'of many gateways')
    const { account_sid } = own
    await test.storage.transaction(systemTenancy, async ({ sip_gateways }) => {
      for (let index = 0; index < 5000; index++)
        await sip_gateways.insert({ account_sid, voip_carrier_sid, ipv4: `gw${index}.test`, outbound: 1 })
    })
    const last = { sip_gateway_sid: 'ffffffff-ffff-4fff-bfff-ffffffffffff', ipv4: 'last.test', port: null }
    await makeCarrier({ ...own, account_sid: null }, 'shared behind many', {}, last)
    const hop = 'sip:last.test;transport=udp'
    expect((await directory.carrierHops()).filter((one) => one.hop === hop)).toEqual([
      { hop, account_sid: null },
    ])
  })
})
