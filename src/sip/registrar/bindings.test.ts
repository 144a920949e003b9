// The bindings of registered phones, by flow and by realm, and what is stored in an archive.
import { beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import type { Binding, BindingArchive, KeptBinding } from './binding-store.ts'
import type { Remote } from '../transport/transports.ts'
import { createBindings, flowKeyOf, type Bindings } from './bindings.ts'

const remote: Remote = { transport: 'udp', address: '198.51.100.7', port: 40_000 }
const aor = 'alice@a.example'

let clock: FakeClock
let kept: KeptBinding[]
let archived: unknown[][]
let elsewhere: KeptBinding[]
let bindings: Bindings

beforeEach(() => {
  clock = createFakeClock()
  kept = []
  archived = []
  elsewhere = []
  const archive: BindingArchive = {
    load: async () => kept,
    elsewhereAt: async (place) =>
      elsewhere.filter((binding) => flowKeyOf(binding.remote as Remote) === place),
    elsewhere: async (sought) => elsewhere.filter((binding) => binding.aor === sought),
    save: async ({ key }, { gone, isRefresh }) => void archived.push(['save', key, gone, isRefresh]),
    remove: async (...what) => void archived.push(['remove', ...what]),
    forget: async (realm) => void archived.push(['forget', realm]),
  }
  bindings = createBindings({ clock, archive })
})

function phone(name: string, more: Partial<Binding> = {}): Binding {
  return {
    aor,
    key: name,
    contact: `sip:alice@${name}.example`,
    instance: undefined,
    q: undefined,
    expiresAt: clock.now() + 600_000,
    registeredAt: clock.now(),
    remote,
    path: [],
    callId: name,
    cseq: 1,
    userAgent: undefined,
    ...more,
  }
}

const keysOf = async (name = aor): Promise<string[]> => (await bindings.get(name)).map(({ key }) => key)

describe('an archive', () => {
  it('is given each new phone, and which of them is a mere refresh', async () => {
    await bindings.put(phone('desk'))
    await bindings.put(
      phone('desk', { cseq: 2, callId: 'other', expiresAt: clock.now() + 700_000, q: '0.5' }),
    )
    await bindings.put(phone('desk', { contact: 'sip:alice@moved.example' }))
    await bindings.put(phone('desk', { contact: 'sip:alice@moved.example', instance: 'i;1' }))
    await bindings.put(
      phone('desk', { contact: 'sip:alice@moved.example', instance: 'i;1', path: ['<sip:p;lr>'] }),
    )
    const moved = { ...remote, port: 41_000 }
    const last = { contact: 'sip:alice@moved.example', instance: 'i;1', path: ['<sip:p;lr>'], remote: moved }
    await bindings.put(phone('desk', last))
    await bindings.put(phone('desk', last))
    expect(archived).toEqual(
      [false, true, false, false, false, false, true].map((isRefresh) => ['save', 'desk', [], isRefresh]),
    )
    expect(bindings.size).toBe(1)
  })

  it('gets the keys of the phones that a new one took the place of: that is no refresh', async () => {
    await bindings.put(phone('desk'))
    // The same place, but with an instance from now on.
    await bindings.put(phone('instance', { contact: 'sip:alice@desk.example', instance: 'i;1' }))
    expect(archived.at(-1)).toEqual(['save', 'instance', ['desk'], false])
    expect(await keysOf()).toEqual(['instance'])
  })

  it('gets the key of the phone that registered longest ago, when an eleventh comes, and of those that ran out', async () => {
    await bindings.put(phone('old', { expiresAt: clock.now() + 1_000 }))
    for (let count = 1; count <= 9; count += 1) await bindings.put(phone(`p${count}`))
    clock.advance(2_000)
    await bindings.put(phone('p10'))
    expect(archived.at(-1)).toEqual(['save', 'p10', ['old'], false])
    await bindings.put(phone('p11'))
    expect(archived.at(-1)).toEqual(['save', 'p11', ['p1'], false])
    expect(await keysOf()).toHaveLength(10)
  })

  it('adds to a search the phones that other nodes have; a phone that has moved has its latest place', async () => {
    const path = ['<sip:edge.example;lr>']
    await bindings.put(phone('desk', { path, callId: 'stays' }))
    await bindings.put(phone('hall', { path }))
    const found = async (): Promise<unknown> =>
      (await bindings.find(aor)).map(({ key, callId }) => [key, callId])
    expect(await found()).toEqual([
      ['hall', 'hall'],
      ['desk', 'stays'],
    ])
    // How long a registration lasts says nothing about which is the latest.
    const sooner = { registeredAt: clock.now() - 1_000, expiresAt: clock.now() + 700_000 }
    const later = { registeredAt: clock.now() + 1_000, expiresAt: clock.now() + 60_000 }
    elsewhere = [
      phone('desk', { path, callId: 'was there', ...sooner }),
      phone('hall', { path, callId: 'is there', ...later }),
      phone('browser', { path, ...later }),
      phone('bob', { path, aor: 'bob@a.example' }),
    ]
    expect(await found()).toEqual([
      ['hall', 'is there'],
      ['browser', 'browser'],
      ['desk', 'stays'],
    ])
    expect(await keysOf()).toEqual(['hall', 'desk'])
  })

  it('removes what is removed here: a phone, all phones of a user, all of a realm', async () => {
    for (const name of ['desk', 'hall']) await bindings.put(phone(name))
    await bindings.put(phone('other', { aor: 'bob@A.example' }))
    await bindings.put(phone('far', { aor: 'alice@b.example' }))
    archived.length = 0
    await bindings.remove(aor, 'desk')
    expect(await keysOf()).toEqual(['hall'])
    await bindings.remove(aor)
    expect(await keysOf()).toEqual([])
    await bindings.forget('A.Example')
    expect(await keysOf('bob@A.example')).toEqual([])
    expect(await keysOf('alice@b.example')).toEqual(['far'])
    expect(archived).toEqual([
      ['remove', aor, 'desk'],
      ['remove', aor, undefined],
      ['forget', 'a.example'],
    ])
    // The bindings of other nodes for a realm are removed too, so the archive also removes a realm that is unknown
    // here.
    await bindings.forget('nowhere.example')
    expect(archived.at(-1)).toEqual(['forget', 'nowhere.example'])
  })

  it('gets nothing when a phone only sends a keep-alive, which is not worth a write', async () => {
    const first = phone('desk')
    await bindings.put(first)
    await bindings.put(phone('hall'))
    archived.length = 0
    bindings.touch(first)
    expect(await keysOf()).toEqual(['desk', 'hall'])
    bindings.touch(first)
    // Bindings that have been replaced or removed meanwhile.
    bindings.touch(phone('desk'))
    bindings.touch(phone('gone', { aor: 'bob@a.example' }))
    expect(await keysOf()).toEqual(['desk', 'hall'])
    expect([archived, bindings.size]).toEqual([[], 2])
  })
})

describe('the content of an archive', () => {
  it('is loaded in its order, without bindings that have expired or use a transport that is not served', async () => {
    kept = [
      phone('desk'),
      phone('past', { expiresAt: clock.now() }),
      { ...phone('secure'), remote: { ...remote, transport: 'sctp' } },
      phone('hall', { remote: { ...remote, port: 41_000 } }),
      phone('other', { aor: 'bob@a.example' }),
    ]
    await bindings.load()
    expect(await keysOf()).toEqual(['desk', 'hall'])
    expect(await keysOf('bob@a.example')).toEqual(['other'])
    expect(bindings.isBound({ ...remote, port: 41_000 })).toBe(true)
    expect(archived).toEqual([])
  })

  it('is loaded as far as there is room', async () => {
    bindings = createBindings({
      clock,
      capacity: 2,
      archive: {
        load: async () => ['a', 'b', 'c'].map((name) => phone(name)),
        save: async () => undefined,
        remove: async () => undefined,
        forget: async () => undefined,
      },
    })
    await bindings.load()
    expect(await keysOf()).toEqual(['a', 'b'])
  })

  it('loses bindings over a connection, there and here, unless its Contact leads to the phone', async () => {
    const tcp = { ...remote, transport: 'tcp' } as const
    const inner = { contact: 'sip:alice@10.0.0.5' }
    kept = [
      phone('lost', { remote: tcp, ...inner }),
      phone('listens', { remote: tcp }),
      phone('by UDP', inner),
    ]
    await bindings.load()
    expect(await keysOf()).toEqual(['listens', 'by UDP'])
    expect(archived).toEqual([['remove', aor, 'lost']])
  })

  it('is nothing without an archive', async () => {
    bindings = createBindings({ clock })
    await bindings.load()
    await bindings.put(phone('desk'))
    await bindings.remove(aor)
    await bindings.forget('a.example')
    expect(bindings.size).toBe(0)
  })
})

describe('a flow', () => {
  it('carries the phones that registered over it, while they live, and every phone behind one proxy', async () => {
    await bindings.put(phone('desk', { expiresAt: clock.now() + 1_000 }))
    await bindings.put(phone('hall'))
    const names = (place: Remote): string[] => bindings.boundTo(place).map(({ key }) => key)
    expect(names(remote)).toEqual(['desk', 'hall'])
    for (const other of [{ port: 40_001 }, { address: '198.51.100.8' }, { transport: 'tcp' as const }]) {
      expect(names({ ...remote, ...other })).toEqual([])
      expect(bindings.isBound({ ...remote, ...other })).toBe(false)
    }
    clock.advance(1_000)
    expect(names(remote)).toEqual(['hall'])
    await bindings.remove(aor, 'hall')
    clock.advance(60_000)
    expect(bindings.isBound(remote)).toBe(false)
  })

  it('is found with what other nodes have there', async () => {
    await bindings.put(phone('desk'))
    const away = { ...remote, port: 41_000 }
    elsewhere = [phone('hall'), phone('far', { remote: away })]
    expect((await bindings.findReachedAt(remote)).map(({ key }) => key)).toEqual(['desk', 'hall'])
    expect((await bindings.findReachedAt(away)).map(({ key }) => key)).toEqual(['far'])
    expect(bindings.boundTo(away)).toEqual([])
  })

  it('of a phone behind a trusted proxy is stored as the place that the proxy has heard it at, and other phones as theirs', async () => {
    const stored: (string | undefined)[] = []
    const archive: BindingArchive = {
      load: async () => [],
      save: async (_binding, { place }) => void stored.push(place),
      remove: async () => undefined,
      forget: async () => undefined,
    }
    const edge = { ...remote, address: '192.0.2.1' }
    const there = createBindings({ clock, archive, isProxy: (address) => address === edge.address })
    const path = ['<sip:192.0.2.1;lr;received=sip:203.0.113.9:41000%3Btransport%3Dtcp>']
    await there.put(phone('direct'))
    await there.put(phone('behind', { remote: edge, path }))
    await there.put(phone('silent', { remote: edge, path: ['<sip:192.0.2.1;lr>'] }))
    // A Path that a stranger has written says nothing.
    await there.put(phone('forged', { path }))
    expect(stored).toEqual(['udp|198.51.100.7|40000', 'tcp|203.0.113.9|41000', undefined, undefined])
    there.close()
  })

  it('is left when the phone comes by another', async () => {
    await bindings.put(phone('desk'))
    await bindings.put(phone('desk', { remote: { ...remote, port: 41_000 } }))
    expect(bindings.isBound(remote)).toBe(false)
    expect(bindings.isBound({ ...remote, port: 41_000 })).toBe(true)
  })
})

describe('the place of a phone', () => {
  const edge: Remote = { transport: 'udp', address: '203.0.113.5', port: 5060 }
  const pathOf = (received: string): string[] => [
    '<sip:203.0.113.5;lr;r2=on>',
    `<sip:203.0.113.5:5060;lr;received=${received};r2=on>`,
  ]
  const names = (place: Remote): string[] => bindings.reachedAt(place).map(({ key }) => key)

  beforeEach(() => {
    bindings = createBindings({ clock, isProxy: (address) => address === edge.address })
  })

  it('is where it signals from, or where the proxy in front of it has heard it; that of the proxy is no phone', async () => {
    await bindings.put(phone('desk'))
    await bindings.put(phone('hall', { remote: edge, path: pathOf('sip:198.51.100.7:40000') }))
    await bindings.put(
      phone('sofa', { remote: edge, path: pathOf('sip:[2001:DB8::7]:40000%3Btransport%3Dtcp') }),
    )
    const sofa: Remote = { transport: 'tcp', address: '2001:db8::7', port: 40_000 }
    expect([remote, sofa, { ...sofa, transport: 'udp' as const }, edge].map(names)).toEqual([
      ['desk', 'hall'],
      ['sofa'],
      [],
      [],
    ])
    expect(bindings.isBound(sofa)).toBe(false)
    expect(bindings.boundTo(edge).map(({ key }) => key)).toEqual(['hall', 'sofa'])
  })

  it('is not known if the Path does not say it, or if a stranger has written the Path', async () => {
    await bindings.put(phone('hall', { remote: edge, path: ['<sip:203.0.113.5;lr>'] }))
    const path = pathOf('sip:198.51.100.7:40000')
    await bindings.put(phone('forged', { remote: { ...edge, address: '203.0.113.6' }, path }))
    expect([remote, edge].map(names)).toEqual([[], []])
  })

  it('is left when the phone moves, goes or has run out', async () => {
    const first = { remote: edge, path: pathOf('sip:198.51.100.7:40000') }
    const moved = { remote: edge, path: pathOf('sip:198.51.100.7:41000') }
    await bindings.put(phone('hall', first))
    await bindings.put(phone('hall', moved))
    expect([remote, { ...remote, port: 41_000 }].map(names)).toEqual([[], ['hall']])
    await bindings.remove(aor, 'hall')
    expect(names({ ...remote, port: 41_000 })).toEqual([])
    await bindings.put(phone('hall', { ...first, expiresAt: clock.now() + 1_000 }))
    clock.advance(1_000)
    expect(names(remote)).toEqual([])
  })
})

describe('the bound of the registrar', () => {
  it('holds for all users together, and not for a phone that is there', async () => {
    bindings = createBindings({ clock, capacity: 2 })
    await bindings.put(phone('desk'))
    await bindings.put(phone('other', { aor: 'bob@a.example' }))
    await expect(bindings.put(phone('hall'))).rejects.toThrow('as many bindings as its limit allows')
    await bindings.put(phone('desk', { cseq: 2 }))
    await bindings.remove('bob@a.example')
    await bindings.put(phone('hall'))
    expect(await keysOf()).toEqual(['hall', 'desk'])
  })
})

describe('the sweep', () => {
  it('gives back what has run out within a minute, and is not there when nothing is bound', async () => {
    expect(clock.pending).toBe(0)
    await bindings.put(phone('desk', { expiresAt: clock.now() + 10_000 }))
    await bindings.put(phone('hall', { expiresAt: clock.now() + 90_000 }))
    expect(clock.pending).toBe(1)
    clock.advance(60_000)
    expect([bindings.size, await keysOf()]).toEqual([1, ['hall']])
    clock.advance(60_000)
    expect([bindings.size, clock.pending]).toEqual([0, 0])
  })

  it('stops when the registrar closes', async () => {
    await bindings.put(phone('desk'))
    bindings.close()
    bindings.close()
    expect(clock.pending).toBe(0)
  })
})
