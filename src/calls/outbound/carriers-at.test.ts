// The search for carriers at an address, with names that a name server resolves.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startNameServer, type ScriptedNameServer } from '../../../test/support/name-server.ts'
import { actingFor } from '../../lib/acting-for.ts'
import { systemClock } from '../../lib/clock.ts'
import { createNames } from '../../network/create-names.ts'
import type { Names } from '../../network/names.ts'
import { createUriResolver } from '../../sip/transport/resolve.ts'
import type { CarrierHop } from '../ports.ts'
import { carriersAt } from './carriers-at.ts'

type Services = Parameters<typeof carriersAt>[1]

let server: ScriptedNameServer
let names: Names
let folder: string

beforeEach(async () => {
  server = await startNameServer()
  folder = await mkdtemp(join(tmpdir(), 'carriers-'))
  const files = { hosts: join(folder, 'hosts'), resolver: join(folder, 'resolv.conf') }
  names = createNames({ servers: [server.at], clock: systemClock, files })
})

afterEach(async () => {
  names.close()
  await server.close()
  await rm(folder, { recursive: true })
})

function search(address: string, hops: readonly CarrierHop[]): ReturnType<typeof carriersAt> {
  const resolve = createUriResolver({ lookup: (host) => names.lookup(host), bind: '0.0.0.0' })
  const services = {
    directory: { carriersAt: async () => [], carrierHops: async () => hops },
    sip: () => ({ resolve }),
  } as unknown as Services
  return actingFor('a tenant', () => carriersAt(new Set([address]), services))
}

const named = (count: number, account_sid: string | null = 'other'): CarrierHop[] =>
  Array.from({ length: count }, (_, index) => ({
    hop: `sip:gw${index}.test:5060;transport=udp`,
    account_sid,
  }))

it('finds a carrier behind more names than one tenant may look up at the same time', async () => {
  for (const [index] of named(80).entries()) server.addresses(`gw${index}.test`, ['192.0.2.1'], 30)
  server.addresses('gw79.test', ['192.0.2.9'], 30)
  expect(await search('192.0.2.9', named(80))).toEqual([{ address: '192.0.2.9', account_sid: 'other' }])
})

it('refuses to search while the tenant has used up its look-ups', async () => {
  server.addresses('gw0.test', ['192.0.2.9'], 30)
  const others = actingFor('a tenant', () =>
    Promise.allSettled(Array.from({ length: 32 }, (_, index) => names.lookup(`silent${index}.test`))),
  )
  await expect(search('192.0.2.9', named(1))).rejects.toMatchObject({ code: 'overloaded' })
  await others
})

it.each<[string, CarrierHop]>([
  ['that is an address', { hop: 'sip:192.0.2.9:5060;transport=udp', account_sid: 'other' }],
  ['that is an IPv4 address in IPv6', { hop: 'sip:[0::ffff:c000:209]:5060', account_sid: 'other' }],
  ['of the operator', { hop: 'sip:shared.test:5060;transport=udp', account_sid: null }],
])('finds a gateway %s behind those of accounts, however many they are', async (_, hop) => {
  server.addresses('shared.test', ['192.0.2.9'], 30)
  const { account_sid } = hop
  const others = named(600).map(({ account_sid: of }) => ({ hop: 'sip:one.test:5060', account_sid: of }))
  expect(await search('192.0.2.9', [...others, hop])).toEqual([{ address: '192.0.2.9', account_sid }])
})
