// The DNS records that lead a phone from a SIP realm to us, and their changes with the realm.
import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { AppError } from '../lib/errors.ts'
import { encodeName, uint16, type Change, type RecordType, type ResourceRecord } from './message.ts'
import type { RealmRecords, UpdateClient } from './dns.ts'

export interface RealmRecordsOptions {
  readonly client: UpdateClient
  readonly zone: string
  /** Returns our address for phones. Called at each change, since the port may be unknown until start. */
  readonly target: () => { readonly address: string; readonly port: number }
}

// A realm that moves is found again within five minutes.
const ttlSeconds = 300

export function createRealmRecords({ client, zone, target }: RealmRecordsOptions): RealmRecords {
  // Excludes the zone itself: its records are the operator's.
  const isOurs = (realm: string): boolean => realm.endsWith(`.${zone}`)

  async function take(realm: string, changes: readonly Change[]): Promise<void> {
    const isFree = { kind: 'name-unused', name: realm } as const
    if ((await client.update([isFree], changes)) === 'done') return
    // No other account has the name, so it is in use by records of this platform, after an attempt that was
    // interrupted, or by the operator's.
    const own = recordsOf(realm, target()).filter(({ type }) => type === 'srv')
    const isOfUs = own.map((record) => ({ kind: 'records-are', records: [record] }) as const)
    if ((await client.update(isOfUs, changes)) === 'done') return
    throw new AppError(
      'duplicate',
      'SipRealm is a name that the zone of the platform uses for something else',
    )
  }

  return {
    async move(from, to) {
      const removals = from !== undefined && isOurs(from) ? removalsOf(from) : []
      if (!isOurs(to)) {
        if (removals.length > 0) await client.update([], removals)
        return
      }
      const additions = recordsOf(to, target()).map((record): Change => ({ kind: 'add', record }))
      if (from === to) await client.update([], [...removals, ...additions])
      else await take(to, [...removals, ...additions])
    },
    async remove(realm) {
      if (isOurs(realm)) await client.update([], removalsOf(realm))
    },
  }
}

/** RFC 3263 §4: the transports in NAPTR, their ports in SRV, our address in A or AAAA. */
function recordsOf(
  realm: string,
  { address, port }: { readonly address: string; readonly port: number },
): readonly ResourceRecord[] {
  const record = (name: string, type: RecordType, data: Buffer): ResourceRecord => ({
    name,
    type,
    ttlSeconds,
    data,
  })
  const srv = Buffer.concat([uint16(10), uint16(10), uint16(port), encodeName(realm)])
  const naptr = (order: number, service: string, replacement: string): Buffer =>
    Buffer.concat([uint16(order), uint16(10), text('S'), text(service), text(''), encodeName(replacement)])
  return [
    record(realm, isIPv6(address) ? 'aaaa' : 'a', Buffer.from(ipaddr.parse(address).toByteArray())),
    record(`_sip._udp.${realm}`, 'srv', srv),
    record(`_sip._tcp.${realm}`, 'srv', srv),
    record(realm, 'naptr', naptr(10, 'SIP+D2U', `_sip._udp.${realm}`)),
    record(realm, 'naptr', naptr(20, 'SIP+D2T', `_sip._tcp.${realm}`)),
  ]
}

function removalsOf(realm: string): readonly Change[] {
  const remove = (name: string, type: RecordType): Change => ({ kind: 'remove', name, type })
  return [
    ...(['a', 'aaaa', 'naptr'] as const).map((type) => remove(realm, type)),
    ...['_sip._udp', '_sip._tcp'].map((service) => remove(`${service}.${realm}`, 'srv')),
  ]
}

/** Encodes a character string: RFC 1035 §3.3. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.of(value.length), Buffer.from(value, 'latin1')])
}
