// Realm records on a real name server: accepted updates, the records afterwards, and refusals.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../../test/support/covers.ts'
import { startBind, type NameServer } from '../../test/support/bind.ts'
import { isMissing } from '../../test/support/tools.ts'
import { until } from '../../test/support/wait.ts'
import { systemClock } from '../lib/clock.ts'
import { createRealmRecords } from './create-realm-records.ts'
import type { RealmRecords } from './dns.ts'
import { createUpdateClient, type UpdateClientOptions } from './create-update-client.ts'

const target = { address: '192.0.2.7', port: 5062 }

function recordsAt(
  { address, port, zone, key }: Pick<NameServer, 'address' | 'port' | 'zone' | 'key'>,
  more: Partial<UpdateClientOptions> = {},
): RealmRecords {
  const server = { address, port }
  const client = createUpdateClient({ server, zone, key, clock: systemClock, ...more })
  return createRealmRecords({ client, zone, target: () => target })
}

describe.skipIf(isMissing('bind'))('records of a realm, on BIND', () => {
  let bind: NameServer
  let records: RealmRecords
  beforeAll(async () => {
    bind = await startBind()
    records = recordsAt(bind)
  })
  afterAll(() => bind.stop())

  const isGone = { code: expect.stringMatching(/ENOTFOUND|ENODATA/) as string }

  async function expectThere(realm: string): Promise<void> {
    expect(await bind.resolver.resolve4(realm)).toEqual([target.address])
    const srv = { name: realm, port: target.port, priority: 10, weight: 10 }
    expect(await bind.resolver.resolveSrv(`_sip._udp.${realm}`)).toMatchObject([srv])
    expect(await bind.resolver.resolveSrv(`_sip._tcp.${realm}`)).toMatchObject([srv])
    const naptr = await bind.resolver.resolveNaptr(realm)
    expect(naptr.toSorted((a, b) => a.order - b.order)).toMatchObject([
      { flags: 'S', service: 'SIP+D2U', regexp: '', replacement: `_sip._udp.${realm}`, order: 10 },
      { flags: 'S', service: 'SIP+D2T', regexp: '', replacement: `_sip._tcp.${realm}`, order: 20 },
    ])
  }

  async function expectGone(realm: string): Promise<void> {
    await expect(bind.resolver.resolve4(realm)).rejects.toMatchObject(isGone)
    await expect(bind.resolver.resolveNaptr(realm)).rejects.toMatchObject(isGone)
    await expect(bind.resolver.resolveSrv(`_sip._udp.${realm}`)).rejects.toMatchObject(isGone)
    await expect(bind.resolver.resolveSrv(`_sip._tcp.${realm}`)).rejects.toMatchObject(isGone)
  }

  it(
    'are A, SRV for UDP and TCP, and NAPTR',
    covers({
      section: 'Endpoints: Accounts',
      says: 'POST SipRealms makes DNS entries.',
      chosen: 'Where a name server is set; without one the realm is checked and kept.',
    }),
    async () => {
      await records.move(undefined, `one.${bind.zone}`)
      await expectThere(`one.${bind.zone}`)
    },
  )

  it('move: the former ones go as the new ones come', async () => {
    await records.move(undefined, `two.${bind.zone}`)
    await records.move(`two.${bind.zone}`, `three.${bind.zone}`)
    await expectThere(`three.${bind.zone}`)
    await expectGone(`two.${bind.zone}`)
  })

  it('are written again when the realm stays, and completed after an attempt that was interrupted', async () => {
    const realm = `four.${bind.zone}`
    await records.move(undefined, realm)
    await records.move(realm, realm)
    await records.move(undefined, realm)
    await expectThere(realm)
  })

  it('go with the realm, and their removal may be repeated', async () => {
    const realm = `five.${bind.zone}`
    await records.move(undefined, realm)
    await records.remove(realm)
    await records.remove(realm)
    await expectGone(realm)
  })

  it('never take a name that the zone uses for something else', async () => {
    const refused = records.move(undefined, `www.${bind.zone}`)
    await expect(refused).rejects.toMatchObject({ code: 'duplicate' })
    expect(await bind.resolver.resolve4(`www.${bind.zone}`)).toEqual(['192.0.2.80'])
  })

  it('of realms outside the zone, and of the zone itself, are not touched', async () => {
    await records.move(undefined, 'sip.elsewhere.example')
    await records.move(undefined, bind.zone)
    await expect(bind.resolver.resolve4(bind.zone)).rejects.toMatchObject(isGone)
  })

  it.each<[string, Partial<UpdateClientOptions>, RegExp]>([
    ['a wrong secret', { key: { name: 'switchhook', secret: Buffer.alloc(32, 8) } }, /secrets differ/],
    ['an unknown key', { key: { name: 'other', secret: Buffer.alloc(32, 7) } }, /does not know the key/],
    ['a wrong clock', { clock: { ...systemClock, now: () => systemClock.now() - 3_600_000 } }, /clock/],
    ['a zone it does not have', { zone: 'example.test' }, /zone|refused/],
  ])('are refused with %s, saying so, and nothing changes', async (_title, more, message) => {
    const realm = `six.${bind.zone}`
    const refused = recordsAt(bind, more).move(undefined, realm)
    await expect(refused).rejects.toMatchObject({
      code: 'dns_update_failed',
      message: expect.stringMatching(message),
    })
    await expectGone(realm)
  })
})

describe('a name server', () => {
  const key = { name: 'k', secret: Buffer.alloc(32, 1) }
  const tries = [20, 20, 20]

  async function deaf(answer?: (request: Buffer) => Buffer) {
    const socket = createSocket('udp4')
    const received: Buffer[] = []
    socket.on('message', (request, { port, address }) => {
      received.push(request)
      if (answer !== undefined) socket.send(answer(request), port, address)
    })
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    const { address, port } = socket.address()
    const records = recordsAt({ address, port, zone: 'a.test', key }, { tries })
    return { records, received, close: () => socket.close() }
  }

  it('that does not answer is asked again with the same bytes, then given up', async () => {
    const server = await deaf()
    const asked = server.records.move(undefined, 'x.a.test')
    await expect(asked).rejects.toMatchObject({ code: 'dns_update_failed', message: /did not answer/ })
    // The process may not have read the last request yet when the client gives up.
    await until('three requests', () => server.received.length >= 3)
    expect(server.received).toHaveLength(3)
    expect(new Set(server.received.map((bytes) => bytes.toString('hex'))).size).toBe(1)
    server.close()
  })

  it.each<[string, (request: Buffer) => Buffer]>([
    [
      'without a signature',
      (request) => Buffer.concat([request.subarray(0, 2), Buffer.from([0xa8, 0, 0, 0, 0, 0, 0, 0, 0, 0])]),
    ],
    [
      'with the signature of the request',
      (request) => {
        const echo = Buffer.from(request)
        echo.writeUInt8(echo.readUInt8(2) | 0x80, 2)
        return echo
      },
    ],
    [
      'a signature among its answers',
      (request) => {
        const moved = Buffer.from(request)
        moved.writeUInt8(moved.readUInt8(2) | 0x80, 2)
        moved.writeUInt16BE(moved.readUInt16BE(8) + 1, 8)
        moved.writeUInt16BE(0, 10)
        return moved
      },
    ],
    ['that is no message', () => Buffer.from('hello')],
    [
      'that goes round in circles',
      (request) => Buffer.concat([request.subarray(0, 12), Buffer.of(0xc0, 12)]),
    ],
  ])('is not trusted when it responds with %s', async (_title, answer) => {
    const server = await deaf(answer)
    const asked = server.records.move(undefined, 'x.a.test')
    await expect(asked).rejects.toMatchObject({ code: 'dns_update_failed', message: /did not answer/ })
    server.close()
  })

  it('that the network does not lead to makes the removal of records fail', async () => {
    // The system refuses to connect to a broadcast address, as it does to one without a route.
    const records = recordsAt({ address: '255.255.255.255', port: 53, zone: 'a.test', key })
    await expect(records.remove('x.a.test')).rejects.toMatchObject({
      code: 'dns_update_failed',
      message: /cannot be reached/,
    })
  })

  it('that does not listen makes the removal of records fail', async () => {
    const server = await deaf()
    server.close()
    await expect(server.records.remove('x.a.test')).rejects.toMatchObject({ code: 'dns_update_failed' })
  })
})
