import { describe, expect, it } from 'vitest'
import type { PointerRecord, ResolvedAddress, ServiceRecord } from '../../network/names.ts'
import { createUriResolver, type UriResolverOptions } from './resolve.ts'
import { inOrder } from './services.ts'

const hosts: Readonly<Record<string, readonly string[]>> = {
  'example.test': ['192.0.2.1'],
  'a.example.test': ['192.0.2.11'],
  'b.example.test': ['192.0.2.12', '192.0.2.13'],
  'c.example.test': ['192.0.2.14'],
}
const lookup = async (host: string): Promise<readonly ResolvedAddress[]> => {
  const found = hosts[host]
  if (found === undefined) throw Object.assign(new Error('absent'), { code: 'ENOTFOUND' })
  return found.map((address) => ({ address, family: 4 }))
}
const record = (name: string, priority: number, weight = 0, port = 5062): ServiceRecord => ({
  name,
  port,
  priority,
  weight,
})
const pointer = (service: string, replacement: string, order = 1, preference = 1): PointerRecord => ({
  service,
  replacement,
  order,
  preference,
})

interface Zone {
  readonly services?: Readonly<Record<string, readonly ServiceRecord[]>>
  readonly pointers?: readonly PointerRecord[]
  readonly ofMachine?: string
}

function resolverOf(
  { services = {}, pointers = [], ofMachine }: Zone,
  more: Partial<UriResolverOptions> = {},
) {
  const asked: string[] = []
  const names: UriResolverOptions['names'] = {
    services: async (name) => {
      asked.push(name)
      return services[name] ?? []
    },
    pointers: async (name) => {
      asked.push(name)
      return pointers
    },
    isOfMachine: async (host) => host === ofMachine,
  }
  const resolve = createUriResolver({
    lookup,
    names,
    bind: '0.0.0.0',
    random: () => 0,
    serves: () => true,
    ...more,
  })
  const places = async (uri: string): Promise<readonly string[]> => {
    const { alternatives = [], ...first } = await resolve(uri)
    return [first, ...alternatives].map(({ transport, address, port, name }) =>
      [transport, `${address.slice('192.0.2.'.length)}:${port}`, ...(name === undefined ? [] : [name])].join(
        ' ',
      ),
    )
  }
  return { places, asked }
}

describe('a domain with records of services', () => {
  const services = {
    '_sip._udp.example.test': [
      record('c.example.test', 20),
      record('a.example.test', 10),
      record('b.example.test', 15),
    ],
    '_sip._tcp.example.test': [record('a.example.test', 1, 0, 5070)],
    '_sips._tcp.example.test': [record('a.example.test', 1, 0, 5071)],
  }

  it('is reached at its targets by their priority, each of their addresses', async () => {
    const { places } = resolverOf({ services })
    const expected = ['udp 11:5062', 'udp 12:5062', 'udp 13:5062', 'udp 14:5062']
    expect(await places('sip:bob@example.test;transport=udp')).toEqual(expected)
    expect(await places('sip:bob@example.test;transport=tcp')).toEqual(['tcp 11:5070'])
    expect(await places('sip:bob@example.test')).toEqual([...expected, 'tcp 11:5070'])
  })

  it('has to prove the domain of the URI over TLS, and not the name of the target', async () => {
    const { places } = resolverOf({ services })
    expect(await places('sips:bob@Example.test')).toEqual(['tls 11:5071 example.test'])
    expect(await places('sip:bob@example.test;transport=tls')).toEqual(['tls 11:5071 example.test'])
  })

  it('is reached by the transport that its pointers prefer, of those that both sides speak', async () => {
    const pointers = [
      pointer('SIP+D2U', '_sip._udp.example.test', 2),
      pointer('SIP+D2T', '_sip._tcp.example.test', 1, 2),
      pointer('SIPS+D2T', '_sips._tcp.example.test', 1, 1),
      pointer('SIP+D2X', '_sip._x.example.test', 0),
    ]
    const all = resolverOf({ services, pointers })
    expect((await all.places('sip:bob@example.test')).slice(0, 3)).toEqual([
      'tls 11:5071 example.test',
      'tcp 11:5070',
      'udp 11:5062',
    ])
    const clear = resolverOf({ services, pointers }, { serves: (transport) => transport !== 'tls' })
    expect((await clear.places('sip:bob@example.test'))[0]).toBe('tcp 11:5070')
    expect(await all.places('sips:bob@example.test')).toEqual(['tls 11:5071 example.test'])
  })

  it('is asked for the services of eight pointers at most, the best ones, however many it has', async () => {
    const pointers = Array.from({ length: 500 }, (_, n) => pointer('SIP+D2U', `_sip._udp.${n}.test`, 500 - n))
    const { places, asked } = resolverOf({
      pointers,
      services: { '_sip._udp.499.test': [record('a.example.test', 1)] },
    })
    expect(await places('sip:bob@example.test')).toEqual(['udp 11:5062'])
    expect(asked.filter((name) => name.endsWith('9.test'))).toEqual(['_sip._udp.499.test'])
    expect(asked.filter((name) => /\d\.test$/.test(name))).toHaveLength(8)
  })

  it('is not asked for records where the URI has a port or an address, or the machine knows the name', async () => {
    const { places, asked } = resolverOf({ services, ofMachine: 'a.example.test' })
    expect(await places('sip:bob@example.test:5080')).toEqual(['udp 1:5080'])
    expect(await places('sip:bob@192.0.2.9')).toEqual(['udp 9:5060'])
    expect(await places('sip:bob@a.example.test')).toEqual(['udp 11:5060'])
    expect(asked).toEqual([])
  })

  it('is reached at its own address without records, and where they name targets that lead nowhere', async () => {
    expect(await resolverOf({}).places('sip:bob@example.test')).toEqual(['udp 1:5060'])
    const absent = { '_sip._udp.example.test': [record('gone.example.test', 1), record('c.example.test', 2)] }
    expect(await resolverOf({ services: absent }).places('sip:example.test;transport=udp')).toEqual([
      'udp 14:5062',
    ])
    const none = { '_sip._udp.example.test': [record('gone.example.test', 1)] }
    await expect(
      resolverOf({ services: none }).places('sip:example.test;transport=udp'),
    ).rejects.toMatchObject({
      code: 'sip_unreachable',
    })
  })

  it('is tried last where it said nothing lately', async () => {
    const { places } = resolverOf({ services }, { isResting: ({ address }) => address.endsWith('.11') })
    expect(await places('sip:example.test;transport=udp')).toEqual([
      'udp 12:5062',
      'udp 13:5062',
      'udp 14:5062',
      'udp 11:5062',
    ])
  })
})

describe('targets of one priority', () => {
  it('are drawn until there are eight, also among thousands', () => {
    const records = Array.from({ length: 3_000 }, (_, n) => record(`${n}`, n < 4 ? 1 : 2, 1))
    let draws = 0
    const drawn = inOrder(records, () => {
      draws += 1
      return 0
    })
    expect(drawn.map(({ name }) => name)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7'])
    expect(draws).toBe(8)
  })

  it('come first as often as their weights say, and each of them once', () => {
    const records = [
      record('a', 1, 60),
      record('b', 1, 30),
      record('c', 1, 10),
      record('d', 0, 0),
      record('e', 1, 0),
    ]
    const firsts = new Map<string, number>()
    for (let draw = 0; draw < 1000; draw += 1) {
      const order = inOrder(records, () => draw / 1000).map(({ name }) => name)
      expect(order.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'])
      expect(order[0]).toBe('d')
      firsts.set(order[1] ?? '', (firsts.get(order[1] ?? '') ?? 0) + 1)
    }
    expect(Object.fromEntries(firsts)).toEqual({ a: 600, b: 300, c: 100 })
  })
})
