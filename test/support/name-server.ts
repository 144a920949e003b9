// A name server on loopback that responds as a test says: with addresses, with texts, or not at all. RFC 1035.
import dgram from 'node:dgram'
import { once } from 'node:events'
import ipaddr from 'ipaddr.js'
import { encodeRecord } from '../../src/dns/message.ts'
import { Inbox } from './wait.ts'

export interface ScriptedNameServer {
  /** Its address in the form that settings and `setServers` accept. */
  readonly at: string
  /** The names that were queried. */
  readonly asked: Inbox<string>
  /** Sets the addresses of a name, all of one family. */
  addresses(name: string, addresses: readonly string[], ttlSeconds?: number): void
  texts(name: string, texts: readonly string[]): void
  services(name: string, services: readonly Service[]): void
  pointers(
    name: string,
    pointers: readonly { readonly service: string; readonly replacement: string }[],
  ): void
  /** Responds with a server failure to queries for the IPv4 addresses of a name, or no longer. */
  failIpv4(name: string, isFailing: boolean): void
  /** Leaves queries for names below this zone without a response. */
  silence(zone: string): void
  close(): Promise<void>
}

/** A SRV record: RFC 2782. */
interface Service {
  readonly target: string
  readonly port: number
  readonly priority: number
}

const typeA = 1
const typeAaaa = 28
const typeSrv = 33
const typeNaptr = 35
const typeTxt = 16
const serverFailure = 2
const nameError = 3

export async function startNameServer(): Promise<ScriptedNameServer> {
  const socket = dgram.createSocket('udp4')
  const asked = new Inbox<string>()
  const records = new Map<string, Buffer[]>()
  const names = new Set<string>()
  const silent: string[] = []
  const failing = new Set<string>()
  const put = (name: string, type: number, ttlSeconds: number, all: readonly Buffer[]): void => {
    names.add(name)
    records.set(
      `${type} ${name}`,
      all.map((data) => encodeRecord(name, type, 1, ttlSeconds, data)),
    )
  }
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query)
    asked.push(name)
    if (silent.some((zone) => name === zone || name.endsWith(`.${zone}`))) return
    const found = records.get(`${type} ${name}`) ?? []
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    // The flags: a response, recursion desired and available.
    const isFailing = type === typeA && failing.has(name)
    const code = isFailing ? serverFailure : names.has(name) ? 0 : nameError
    header.writeUInt16BE(0x8180 | code, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(found.length, 6)
    socket.send(Buffer.concat([header, query.subarray(12, end), ...found]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    at: `127.0.0.1:${socket.address().port}`,
    asked,
    addresses: (name, addresses, ttlSeconds = 60) =>
      put(
        name,
        addresses.some((address) => address.includes(':')) ? typeAaaa : typeA,
        ttlSeconds,
        addresses.map((address) => Buffer.from(ipaddr.parse(address).toByteArray())),
      ),
    texts: (name, texts) =>
      put(
        name,
        typeTxt,
        60,
        texts.map((text) => Buffer.concat([Buffer.of(text.length), Buffer.from(text)])),
      ),
    services: (name, services) =>
      put(
        name,
        typeSrv,
        60,
        services.map(({ target, port, priority }) =>
          Buffer.concat([numbers(priority, 0, port), wireName(target)]),
        ),
      ),
    pointers: (name, pointers) =>
      put(
        name,
        typeNaptr,
        60,
        pointers.map(({ service, replacement }, index) =>
          Buffer.concat([numbers(index, 0), ...['s', service, ''].map(text), wireName(replacement)]),
        ),
      ),
    failIpv4: (name, isFailing) => void (isFailing ? failing.add(name) : failing.delete(name)),
    silence: (zone) => void silent.push(zone),
    async close() {
      socket.close()
      await once(socket, 'close')
    },
  }
}

function numbers(...values: readonly number[]): Buffer {
  return Buffer.from(values.flatMap((value) => [value >> 8, value & 0xff]))
}

function text(value: string): Buffer {
  return Buffer.concat([Buffer.of(value.length), Buffer.from(value)])
}

function wireName(name: string): Buffer {
  return Buffer.concat([...name.split('.').map(text), Buffer.of(0)])
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase())
    at += 1 + length
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 }
}
