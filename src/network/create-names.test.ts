import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startNameServer, type ScriptedNameServer } from '../../test/support/name-server.ts'
import { actingFor } from '../lib/acting-for.ts'
import { systemClock } from '../lib/clock.ts'
import { createNames, type NamesOptions } from './create-names.ts'
import type { Names } from './names.ts'
import { parseHosts, parseResolver } from './names-of-machine.ts'

let server: ScriptedNameServer
let folder: string
let now = 0
const opened: Names[] = []

beforeEach(async () => {
  server = await startNameServer()
  folder = await mkdtemp(join(tmpdir(), 'names-'))
  now = 0
})

afterEach(async () => {
  for (const names of opened.splice(0)) names.close()
  await server.close()
  await rm(folder, { recursive: true })
})

/**
 * Creates names with real timers, because servers and sockets are real; only the time for cached records is set by the
 * test.
 */
function namesWith(options: Partial<NamesOptions> = {}): Names {
  const files = { hosts: join(folder, 'hosts'), resolver: join(folder, 'resolv.conf') }
  const clock = { ...systemClock, monotonic: () => now }
  const names = createNames({ servers: [server.at], clock, files, ...options })
  opened.push(names)
  return names
}

const times = (name: string): number => server.asked.items.filter((asked) => asked === name).length

describe('names', () => {
  it('are asked for once while their records may be kept, and again afterwards', async () => {
    server.addresses('hook.test', ['192.0.2.1', '192.0.2.2'], 30)
    const names = namesWith()
    const both = [
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
    ]
    expect(await names.lookup('hook.test')).toEqual(both)
    now = 29_999
    expect(await names.lookup('HOOK.test.'.slice(0, -1))).toEqual(both)
    // One query for each family.
    expect(times('hook.test')).toBe(2)
    server.addresses('hook.test', ['192.0.2.3'], 30)
    now = 30_000
    expect(await names.lookup('hook.test')).toEqual([{ address: '192.0.2.3', family: 4 }])
  })

  it('whose IPv4 addresses could not be asked for are asked for again within five seconds', async () => {
    server.addresses('both.test', ['192.0.2.1'], 3600)
    server.addresses('both.test', ['2001:db8::1'], 3600)
    const names = namesWith()
    server.failIpv4('both.test', true)
    const six = { address: '2001:db8::1', family: 6 }
    expect(await names.lookup('both.test')).toEqual([six])
    server.failIpv4('both.test', false)
    now = 4_999
    expect(await names.lookup('both.test')).toEqual([six])
    now = 5_000
    expect(await names.lookup('both.test')).toContainEqual({ address: '192.0.2.1', family: 4 })
  })

  it('have 32 records at most, those of services by their priority, since each is remembered', async () => {
    const numbers = Array.from({ length: 36 }, (_, n) => n)
    server.addresses(
      'many.test',
      numbers.map((n) => `192.0.2.${n}`),
    )
    server.services(
      's.test',
      numbers.map((n) => ({ target: 't', port: n + 1, priority: 36 - n })),
    )
    const names = namesWith()
    expect(await names.lookup('many.test')).toHaveLength(32)
    const ports = (await names.services('s.test')).map(({ port }) => port)
    expect([ports.length, ports[0], ports.at(-1)]).toEqual([32, 36, 5])
  })

  it('of services are asked for once a minute, those that are absent every five seconds', async () => {
    server.services('_sip._udp.call.test', [
      { target: 'b.call.test', port: 5070, priority: 2 },
      { target: 'a.call.test', port: 5060, priority: 1 },
    ])
    server.pointers('call.test', [{ service: 'SIP+D2U', replacement: '_sip._udp.call.test' }])
    const names = namesWith()
    const both = await Promise.all([1, 2].map(() => names.services('_SIP._udp.call.test')))
    expect(both[1]).toEqual([
      { name: 'a.call.test', port: 5060, priority: 1, weight: 0 },
      { name: 'b.call.test', port: 5070, priority: 2, weight: 0 },
    ])
    expect(await names.pointers('call.test')).toMatchObject([
      { service: 'SIP+D2U', replacement: '_sip._udp.call.test', order: 0 },
    ])
    now = 59_999
    await names.services('_sip._udp.call.test')
    expect(times('_sip._udp.call.test')).toBe(1)
    now = 60_000
    await names.services('_sip._udp.call.test')
    expect(times('_sip._udp.call.test')).toBe(2)
    expect(await names.services('_sip._tcp.call.test')).toEqual([])
    now = 64_999
    expect(await names.services('_sip._tcp.call.test')).toEqual([])
    expect(times('_sip._tcp.call.test')).toBe(1)
    now = 65_000
    await names.services('_sip._tcp.call.test')
    expect(times('_sip._tcp.call.test')).toBe(2)
    expect(await names.isOfMachine('pbx.localhost')).toBe(true)
    expect(await names.isOfMachine('call.test')).toBe(false)
  })

  it('that many want at once are asked for once', async () => {
    server.addresses('hook.test', ['192.0.2.1'], 0)
    const names = namesWith()
    await Promise.all(Array.from({ length: 50 }, () => names.lookup('hook.test')))
    expect(times('hook.test')).toBe(2)
  })

  it('that do not exist are not found, for five seconds without asking again', async () => {
    const names = namesWith()
    await expect(names.lookup('absent.test')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    server.addresses('absent.test', ['192.0.2.1'])
    now = 4999
    await expect(names.lookup('absent.test')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    now = 5000
    expect(await names.lookup('absent.test')).toHaveLength(1)
  })

  it.each(['localhost', 'LOCALHOST.', 'app.localhost'])(
    'that are %s never leave the machine',
    async (name) => {
      const addresses = await namesWith().lookup(name)
      expect(addresses.map(({ address }) => address)).toEqual(['127.0.0.1', '::1'])
      expect(server.asked.items).toEqual([])
    },
  )

  it('that are addresses are their own', async () => {
    expect(await namesWith().lookup('2001:db8::1')).toEqual([{ address: '2001:db8::1', family: 6 }])
  })

  it('in the hosts file come from there, IPv4 first, also when it changes', async () => {
    const path = join(folder, 'hosts')
    await writeFile(path, '# mine\n::1 App other\n192.0.2.9\tapp # trailing\n')
    const names = namesWith()
    expect((await names.lookup('app')).map(({ address }) => address)).toEqual(['192.0.2.9', '::1'])
    await writeFile(path, '192.0.2.10 app')
    await utimes(path, 1, 1)
    now = 2000
    expect(await names.lookup('app')).toEqual([{ address: '192.0.2.10', family: 4 }])
    expect(server.asked.items).toEqual([])
  })

  it('that are short are completed by the search list of the machine, those with dots only if needed', async () => {
    await writeFile(join(folder, 'resolv.conf'), 'search ns.svc.test svc.test\noptions ndots:1\n')
    server.addresses('app.svc.test', ['192.0.2.5'])
    server.addresses('hook.example', ['192.0.2.6'])
    const names = namesWith()
    expect(await names.lookup('app')).toEqual([{ address: '192.0.2.5', family: 4 }])
    expect(await names.lookup('hook.example')).toEqual([{ address: '192.0.2.6', family: 4 }])
    await expect(names.lookup('app.')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    expect(times('hook.example.ns.svc.test')).toBe(0)
  })

  it('of one tenant that no server responds to delay no other tenant', async () => {
    server.silence('slow.test')
    server.addresses('good.test', ['192.0.2.1'])
    const names = namesWith()
    const slow = actingFor('a', () =>
      Promise.allSettled(Array.from({ length: 60 }, (_, index) => names.lookup(`h${index}.slow.test`))),
    )
    await server.asked.next('the first of them', (name) => name.endsWith('.slow.test'))
    expect(await actingFor('b', () => names.lookup('good.test'))).toHaveLength(1)
    const codes = (await slow).map((outcome) => outcome.status === 'rejected' && outcome.reason.code)
    // The most that one tenant may have in progress; the others were refused immediately.
    expect(codes.filter((code) => code === 'EAI_AGAIN')).toHaveLength(32)
    expect(codes.filter((code) => code === 'overloaded')).toHaveLength(28)
    expect(await actingFor('a', () => names.lookup('good.test'))).toHaveLength(1)
  })

  it('have texts', async () => {
    server.texts('_owner.acme.test', ['one', 'two'])
    const names = namesWith()
    expect(await names.texts('_owner.acme.test')).toEqual(['one', 'two'])
    expect(await names.texts('other.test')).toEqual([])
  })
})

describe('the files of a machine', () => {
  it('list hosts', () => {
    expect([...parseHosts('127.0.0.1 localhost\n\nnonsense here\n10.0.0.1 a A. b\n10.0.0.2 a\n')]).toEqual([
      ['localhost', ['127.0.0.1']],
      ['a', ['10.0.0.1', '10.0.0.2']],
      ['b', ['10.0.0.1']],
    ])
  })

  it.each([
    ['', { search: [], ndots: 1 }],
    ['domain a.test\nnameserver 192.0.2.1', { search: ['a.test'], ndots: 1 }],
    ['search a.test. b.test ; mine\noptions timeout:1 ndots:5', { search: ['a.test', 'b.test'], ndots: 5 }],
  ])('complete names: %s', (text, expected) => {
    expect(parseResolver(text)).toEqual(expected)
  })
})
