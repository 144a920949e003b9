import { afterAll, beforeAll, expect, it } from 'vitest'
import { createDirectory } from './create-directory.ts'
import type { StorageDirectory } from './directory.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import type { Repositories, Row } from '../storage/storage.ts'
import {
  makeAccount,
  onEachStore,
  type TestAccount,
  type TestStorage,
} from '../../test/support/each-store.ts'

onEachStore(({ open }) => {
  let test: TestStorage
  let own: TestAccount
  let sibling: TestAccount
  let directory: StorageDirectory
  let rows: Repositories
  beforeAll(async () => {
    test = await open()
    own = await makeAccount(test.storage)
    sibling = await makeAccount(test.storage, own.service_provider_sid)
    // The clock stands still: changes must be seen without a delay.
    const registrarsAt = (address: string): readonly string[] => registrars.get(address) ?? []
    directory = createDirectory({ storage: test.storage, clock: createFakeClock(), registrarsAt })
    rows = test.storage.for(systemTenancy)
  })
  afterAll(() => test.close())

  const registrars = new Map<string, readonly string[]>()

  let addresses = 0
  /** Returns an address that no other case uses. */
  const freshAddress = (): string => `198.51.${100 + Math.floor(++addresses / 250)}.${addresses % 250}`

  async function makeCarrier(
    name: string,
    ipv4: string,
    more: Partial<Row<'voip_carriers'>> = {},
    gateway: Partial<Row<'sip_gateways'>> = {},
  ): Promise<{ carrier: string; gateway: string }> {
    const owner = more.account_sid === null ? { service_provider_sid: own.service_provider_sid } : {}
    const { voip_carrier_sid, account_sid, service_provider_sid } = await rows.voip_carriers.insert({
      name,
      account_sid: own.account_sid,
      ...owner,
      ...more,
    })
    const { sip_gateway_sid } = await rows.sip_gateways.insert({
      voip_carrier_sid,
      account_sid,
      service_provider_sid,
      ipv4,
      inbound: 1,
      ...gateway,
    })
    return { carrier: voip_carrier_sid, gateway: sip_gateway_sid }
  }

  const namesAt = async (address: string): Promise<string[]> =>
    (await directory.carriersAt(address)).map(({ carrier, netmask }) => `${carrier.name}/${netmask}`)

  it('finds carriers by the address of an inbound gateway, an account’s before a shared one', async () => {
    const address = freshAddress()
    await makeCarrier('shared', address, { account_sid: null })
    await makeCarrier('own', address, { application_sid: null })
    await makeCarrier('outbound only', address, {}, { inbound: 0 })
    await makeCarrier('of the sibling', address, { account_sid: sibling.account_sid })
    expect((await namesAt(address)).sort()).toEqual(['of the sibling/32', 'own/32', 'shared/32'])
    expect((await namesAt(address)).at(-1)).toBe('shared/32')
    expect(await namesAt(freshAddress())).toEqual([])
  })

  it('finds a carrier at the address of its registrar after those that have entered it, each once', async () => {
    const address = '203.0.113.76'
    const entered = await makeCarrier('entered', '203.0.113.0', {}, { netmask: 24 })
    const learnt = await makeCarrier('learnt', freshAddress())
    const off = await makeCarrier('off', freshAddress(), { is_active: 0 })
    registrars.set(address, [learnt.carrier, off.carrier, entered.carrier])
    expect(await namesAt(address)).toEqual(['entered/24', 'learnt/0'])
    expect(directory.gatewayOwners('192.0.2.77')).toBe(undefined)
    registrars.set('192.0.2.77', [learnt.carrier])
    expect(directory.gatewayOwners('192.0.2.77')).toHaveLength(1)
    registrars.clear()
  })

  it('sees a change of a carrier or a gateway at the next question', async () => {
    const address = freshAddress()
    const { carrier, gateway } = await makeCarrier('switched', address)
    expect(await namesAt(address)).toEqual(['switched/32'])
    await rows.voip_carriers.update(carrier, { is_active: 0 })
    expect(await namesAt(address)).toEqual([])
    await rows.voip_carriers.update(carrier, { is_active: 1, name: 'renamed' })
    expect(await namesAt(address)).toEqual(['renamed/32'])
    await rows.sip_gateways.update(gateway, { is_active: 0 })
    expect(await namesAt(address)).toEqual([])
    await rows.sip_gateways.update(gateway, { is_active: 1, netmask: 31 })
    expect(await namesAt(address)).toEqual(['renamed/31'])
    await rows.sip_gateways.remove(gateway)
    expect(await namesAt(address)).toEqual([])
  })

  it('forgets the carriers of an account that is removed', async () => {
    const address = freshAddress()
    const leaving = await makeAccount(test.storage, own.service_provider_sid)
    await makeCarrier('leaving', address, { account_sid: leaving.account_sid })
    expect(await namesAt(address)).toEqual(['leaving/32'])
    await rows.accounts.remove(leaving.account_sid)
    expect(await namesAt(address)).toEqual([])
  })

  it('reads more carriers and gateways than a page holds', { timeout: 60_000 }, async () => {
    const made = 501
    const base = freshAddress()
    const { carrier } = await makeCarrier('many', base)
    await test.storage.transaction(systemTenancy, async ({ sip_gateways }) => {
      for (let n = 0; n < made; n++)
        await sip_gateways.insert({
          voip_carrier_sid: carrier,
          account_sid: own.account_sid,
          ipv4: `203.0.${n >> 8}.${n & 255}`,
          inbound: 1,
        })
    })
    for (let n = 0; n < made; n++) expect(await namesAt(`203.0.${n >> 8}.${n & 255}`)).toEqual(['many/32'])
  })

  it('knows a carrier with a password by it, and not by its address', async () => {
    const address = freshAddress()
    const proof = { inbound_auth_username: 'trunk', inbound_auth_password: 'secret' }
    await makeCarrier('proven', address, { trunk_type: 'auth', ...proof })
    await makeCarrier('by address', address, proof)
    expect(await namesAt(address)).toEqual(['by address/32'])
    const realmOf = async ({ account_sid }: TestAccount): Promise<string> =>
      (await rows.accounts.find(account_sid))?.sip_realm ?? ''
    const peer = await directory.findPeer?.(await realmOf(own), 'trunk')
    expect(peer).toMatchObject({ username: 'trunk', password: 'secret' })
    expect(await directory.carrier(peer?.peer ?? '')).toMatchObject({ name: 'proven' })
    expect(await directory.findPeer?.(await realmOf(own), 'another')).toBeUndefined()
    expect(await directory.findPeer?.(await realmOf(sibling), 'trunk')).toBeUndefined()
    await makeCarrier('shared', address, {
      account_sid: null,
      trunk_type: 'auth',
      ...proof,
      inbound_auth_password: 'of the provider',
    })
    expect(await directory.findPeer?.(await realmOf(sibling), 'trunk')).toMatchObject({
      password: 'of the provider',
    })
    expect(await directory.findPeer?.(await realmOf(own), 'trunk')).toMatchObject({ password: 'secret' })
    await rows.voip_carriers.update(peer?.peer ?? '', { is_active: 0 })
    expect(await directory.findPeer?.(await realmOf(own), 'trunk')).toMatchObject({
      password: 'of the provider',
    })
  })

  it('tells whom we register with only when we do', async () => {
    const registration = { register_username: 'me', register_sip_realm: 'Carrier.Example' }
    const { carrier } = await makeCarrier('registrar', freshAddress(), registration)
    expect(await directory.carrier(carrier)).toMatchObject({ registration: undefined })
    await rows.voip_carriers.update(carrier, { requires_register: 1 })
    expect(await directory.carrier(carrier)).toMatchObject({
      registration: { username: 'me', realm: 'carrier.example' },
    })
  })

  it('finds a number with each of its carriers, and none once it is removed', async () => {
    const number = '15551230100'
    const first = await makeCarrier('first', freshAddress())
    const second = await makeCarrier('second', freshAddress())
    const insert = (voip_carrier_sid: string | null): Promise<Row<'phone_numbers'>> =>
      rows.phone_numbers.insert({
        number,
        received_number: number,
        account_sid: own.account_sid,
        voip_carrier_sid,
      })
    expect(await directory.numbersCalled(number)).toEqual([])
    const inserted = [await insert(first.carrier), await insert(second.carrier), await insert(null)]
    const carriersOf = async (): Promise<(string | null)[]> =>
      (await directory.numbersCalled(number)).map(({ voip_carrier_sid }) => voip_carrier_sid)
    expect(new Set(await carriersOf())).toEqual(new Set([first.carrier, second.carrier, null]))
    for (const { phone_number_sid } of inserted) await rows.phone_numbers.remove(phone_number_sid)
    expect(await carriersOf()).toEqual([])
  })

  it('answers the usable patterns of a carrier, the longest first', async () => {
    const { carrier } = await makeCarrier('patterned', freshAddress())
    const other = await makeCarrier('other', freshAddress())
    const insert = (number: string, voip_carrier_sid = carrier): Promise<Row<'phone_numbers'>> =>
      rows.phone_numbers.insert({
        number,
        received_number: number,
        account_sid: own.account_sid,
        voip_carrier_sid,
        is_pattern: /\D/.test(number) ? 1 : 0,
      })
    for (const number of ['1*', '1555*', '155', '(', '^1(555|666)\\d+$']) await insert(number)
    await insert('17*', other.carrier)
    const listed = async (): Promise<string[]> =>
      (await directory.patternsOf(carrier)).map(({ number }) => number)
    expect(await listed()).toEqual(['^1(555|666)\\d+$', '1555*', '1*'])
    await insert('15551*')
    expect(await listed()).toEqual(['^1(555|666)\\d+$', '15551*', '1555*', '1*'])
  })

  it('names the account of a provider that has only one', async () => {
    const lone = await makeAccount(test.storage)
    expect(await directory.soleAccountOf(lone.service_provider_sid)).toBe(lone.account_sid)
    expect(await directory.soleAccountOf(own.service_provider_sid)).toBeUndefined()
    await makeAccount(test.storage, lone.service_provider_sid)
    expect(await directory.soleAccountOf(lone.service_provider_sid)).toBeUndefined()
  })
})
