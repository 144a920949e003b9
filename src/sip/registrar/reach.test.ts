// The way to a registered phone when its connection may be gone.
import { beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { AppError } from '../../lib/errors.ts'
import { silentLogger } from '../../lib/log.ts'
import type { Resolved } from '../transport/resolve.ts'
import type { Binding } from './binding-store.ts'
import type { Remote } from '../transport/transports.ts'
import { createBindings, type Bindings } from './bindings.ts'
import { createReach, type Reach } from './reach.ts'

const tcp: Remote = { transport: 'tcp', address: '198.51.100.7', port: 40_000 }
const aor = 'alice@a.example'
const elsewhere: Remote = { transport: 'tcp', address: '203.0.113.5', port: 5060 }
const anywhere = (): boolean => true

let bindings: Bindings
let reach: Reach
let isOpen: boolean
let opened: Remote[]
let resolved: Resolved | Error
let whileOpening: (() => Promise<void>) | undefined

beforeEach(() => {
  const clock = createFakeClock()
  bindings = createBindings({ clock })
  isOpen = false
  opened = []
  resolved = elsewhere
  whileOpening = undefined
  reach = createReach({
    bindings,
    transport: {
      isOpen: () => isOpen,
      open: async (remote) => {
        opened.push(remote)
        await whileOpening?.()
      },
    },
    resolve: async () => {
      if (resolved instanceof Error) throw resolved
      return resolved
    },
    log: silentLogger,
  })
})

async function register(more: Partial<Binding> = {}): Promise<Binding> {
  const binding: Binding = {
    aor,
    key: 'desk',
    contact: 'sip:alice@203.0.113.5;transport=tcp',
    instance: undefined,
    q: undefined,
    expiresAt: 2_000_000_000_000,
    registeredAt: 1_000,
    remote: tcp,
    path: [],
    callId: 'c',
    cseq: 1,
    userAgent: undefined,
    ...more,
  }
  await bindings.put(binding)
  return binding
}

const isRegistered = async (): Promise<boolean> => (await bindings.get(aor)).length > 0

describe('a phone is called', () => {
  it('by its connection while it stands, whatever its Contact says', async () => {
    isOpen = true
    expect(await reach.find(await register({ contact: 'alice' }), () => false)).toEqual(tcp)
    expect(opened).toEqual([])
  })

  it('where it registered from over UDP, which has no connection to lose', async () => {
    const udp: Remote = { ...tcp, transport: 'udp' }
    expect(await reach.find(await register({ remote: udp }), () => false)).toEqual(udp)
  })

  it('at its Contact once the connection is gone, by a new one that stands before the call goes out', async () => {
    expect(await reach.find(await register(), anywhere)).toEqual(elsewhere)
    expect(opened).toEqual([elsewhere])
    expect(await isRegistered()).toBe(true)
  })

  it('at its Contact over UDP, where there is nothing to open', async () => {
    const udp: Remote = { ...elsewhere, transport: 'udp' }
    resolved = udp
    expect(await reach.find(await register(), anywhere)).toEqual(udp)
    expect(opened).toEqual([])
  })

  it('where it registered from, also if its neighbours registered over the same connection', async () => {
    resolved = tcp
    await register({ aor: 'bob@a.example', contact: 'sip:bob@198.51.100.7:40000;transport=tcp' })
    const binding = await register({ contact: 'sip:alice@198.51.100.7:40000;transport=tcp' })
    expect(await reach.find(binding, anywhere)).toEqual(tcp)
    expect(opened).toEqual([tcp])
    expect(await isRegistered()).toBe(true)
  })

  it('by another proxy of its Path, also if that has brought phones of others', async () => {
    const path = ['<sip:edge.example;transport=tcp;lr>']
    await register({ aor: 'bob@a.example', remote: elsewhere, path })
    expect(await reach.find(await register({ path }), anywhere)).toEqual(elsewhere)
    expect(await isRegistered()).toBe(true)
  })

  it('at another port of the address it came from, where that may be called', async () => {
    resolved = { ...elsewhere, address: tcp.address }
    expect(await reach.find(await register(), ({ port }) => port === elsewhere.port)).toEqual(resolved)
  })
})

describe('a phone is not registered any more', () => {
  it.each<[string, () => Promise<Binding>, (place: Remote) => boolean, string]>([
    [
      'its Contact leads nowhere',
      () => register({ contact: 'sip:a@x.invalid' }),
      anywhere,
      'the Contact names no address',
    ],
    ['its Contact leads where no call may go', () => register(), () => false, 'may not be called'],
    [
      'a further address of its Contact leads where no call may go',
      () => {
        resolved = { ...elsewhere, alternatives: [{ ...elsewhere, address: '10.0.0.8' }] }
        return register({ contact: 'sip:alice@two.example;transport=tcp' })
      },
      ({ address }) => address !== '10.0.0.8',
      'may not be called',
    ],
    [
      'its Contact has no address',
      () => {
        resolved = new AppError('sip_unreachable', 'no such name')
        return register()
      },
      anywhere,
      'no such name',
    ],
    [
      'nothing answers there',
      () => {
        whileOpening = () => Promise.reject(new AppError('sip_unreachable', 'refused'))
        return register()
      },
      anywhere,
      'its connection is gone, and refused',
    ],
    [
      'its Contact leads to the connection of another user',
      async () => {
        await register({ aor: 'bob@a.example', remote: elsewhere })
        return register()
      },
      anywhere,
      'the connection of another phone',
    ],
  ])('when its connection is gone and %s', async (_why, make, mayReach, reason) => {
    await expect(reach.find(await make(), mayReach)).rejects.toThrow(reason)
    expect(await isRegistered()).toBe(false)
  })

  it('but a fault of the platform costs no phone its registration', async () => {
    const binding = await register()
    resolved = new TypeError('a fault')
    await expect(reach.find(binding, anywhere)).rejects.toThrow('a fault')
    expect(await isRegistered()).toBe(true)
  })

  it('but one that has registered again meanwhile stays', async () => {
    whileOpening = async () => {
      await register({ cseq: 2, remote: { ...tcp, port: 41_000 } })
      throw new AppError('sip_unreachable', 'refused')
    }
    await expect(reach.find(await register(), anywhere)).rejects.toThrow('refused')
    expect((await bindings.get(aor)).map(({ cseq }) => cseq)).toEqual([2])
  })
})

describe('a connection that closes', () => {
  it('ends the registrations it carried that have no other way, and only those', async () => {
    await register({ key: 'behind NAT', contact: 'sip:alice@10.0.0.5' })
    await register({ key: 'listens', callId: 'd' })
    await register({ key: 'other', contact: 'sip:alice@10.0.0.6', callId: 'e', remote: { ...tcp, port: 1 } })
    reach.closed(tcp)
    await new Promise((resolve) => setImmediate(resolve))
    expect((await bindings.get(aor)).map(({ key }) => key)).toEqual(['other', 'listens'])
  })
})
