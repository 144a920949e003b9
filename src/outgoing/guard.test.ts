// A corpus of addresses that must never be reached, in every known notation: none may lead to a connection.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../lib/log.ts'
import type { ResolvedAddress } from '../network/names.ts'
import { createOutgoing } from './create-outgoing.ts'
import type { OutgoingRequest } from './outgoing.ts'

const forbidden = [
  '127.0.0.1',
  '127.0.0.53',
  '127.255.255.254',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '169.254.169.254',
  '169.254.170.2',
  '100.64.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
]

const wide = (text: string): string =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
const percent = (text: string): string =>
  text.replace(/./g, (letter) => `%${letter.codePointAt(0)?.toString(16)}`)

/** Returns hosts that name `address` in one notation or another. */
function notations(address: string): string[] {
  const octets = address.split('.').map(Number)
  const [a = 0, b = 0, c = 0, d = 0] = octets
  const number = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0
  const hex = number.toString(16).padStart(8, '0')
  const [high, low] = [hex.slice(0, 4), hex.slice(4)]
  return [
    address,
    `${address}.`,
    String(number),
    `0x${hex}`,
    `0X${hex.toUpperCase()}`,
    `0${number.toString(8)}`,
    octets.map((octet) => `0x${octet.toString(16)}`).join('.'),
    octets.map((octet) => `0${octet.toString(8)}`).join('.'),
    octets.map((octet) => `0000${octet.toString(8)}`).join('.'),
    `${a}.${(b << 16) | (c << 8) | d}`,
    `${a}.${b}.${(c << 8) | d}`,
    `0x${a.toString(16)}.${b}.0${c.toString(8)}.${d}`,
    wide(address),
    percent(address),
    address.replaceAll('.', '。'),
    address.replaceAll('.', '．'),
    `[::ffff:${address}]`,
    `[::ffff:${high}:${low}]`,
    `[0:0:0:0:0:ffff:${high}:${low}]`,
    `[::${address}]`,
    `[::ffff:0:${high}:${low}]`,
    `[64:ff9b::${high}:${low}]`,
    `[2002:${high}:${low}::1]`,
    `[fe80::1%25eth0]`,
    `user@${address}`,
    `user:password@${address}`,
    `example.com@${address}`,
    `example.com%40${address}`,
    `${address}%00.example.com`,
    `${address}%2eexample.com`,
  ]
}

const others = [
  'http://localhost',
  'http://LOCALHOST.',
  'http://localhost.localdomain.',
  'http://ip6-localhost',
  'http://[::1]',
  'http://[::]',
  'http://[0:0:0:0:0:0:0:1]',
  'http://[fd00:ec2::254]',
  'http://[fe80::1]',
  'http://[fec0::1]',
  'http://[ff02::1]',
  'http://rebound.test',
  'http://mapped.test',
  'https://rebound.test',
  'https://[::ffff:127.0.0.1]',
  'http:127.0.0.1',
  'http:/127.0.0.1',
  'http:\\\\127.0.0.1',
  'http://127.0.0.1\\@example.com',
  'http://example.com\t@127.0.0.1',
  ' http://127.0.0.1 ',
  'http://127.0.0.1#@example.com',
  'http://127.0.0.1?@example.com',
  'file:///etc/passwd',
  'gopher://127.0.0.1:6379/_FLUSHALL',
  'dict://127.0.0.1:11211/stat',
  'ftp://127.0.0.1/',
  'ldap://127.0.0.1/',
  'jar:http://127.0.0.1!/',
  'unix:/var/run/docker.sock',
  'data:text/plain,hello',
  '//127.0.0.1/',
  'http://',
  'http://:80',
  'http://[::1',
  'http://127.0.0.1:99999/',
]

const addressesOf: Readonly<Record<string, string>> = {
  'rebound.test': '127.0.0.1',
  'mapped.test': '::ffff:127.0.0.1',
  localhost: '127.0.0.1',
}

async function resolve(hostname: string): Promise<ResolvedAddress[]> {
  const address = addressesOf[hostname.replace(/\.$/, '')] ?? '::1'
  return [{ address, family: address.includes(':') ? 6 : 4 }]
}

const get = (url: string): OutgoingRequest => ({
  url,
  method: 'GET',
  subject: 'the hook',
  answerTimeoutMs: 30_000,
  totalTimeoutMs: 30_000,
  maxBodyBytes: 1000,
})

describe('the address guard under a corpus of forbidden URLs', () => {
  const server = createServer((_request, response) => response.end('reached'))
  const attempts: string[] = []
  const watch = (message: unknown): void => {
    const { socket } = message as { socket: Socket }
    socket.on('connectionAttempt', (address: string) => attempts.push(address))
  }
  let port = 0

  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
    subscribe('net.client.socket', watch)
  })

  afterAll(() => {
    unsubscribe('net.client.socket', watch)
    server.close()
  })

  const withPort = (url: string): string => (/^https?:\/\/[^/?#\\]+$/.test(url) ? `${url}:${port}/` : url)

  it('makes no connection', async () => {
    const outgoing = createOutgoing({ allow: [], log: silentLogger, resolve })
    const corpus = [...forbidden.flatMap(notations).map((host) => `http://${host}`), ...others].map(withPort)
    expect(corpus.length).toBeGreaterThan(300)
    for (const url of corpus) {
      const failure = await outgoing.request(get(url)).then(
        () => undefined,
        (error: unknown) => error,
      )
      expect(failure, url).toMatchObject({
        code: expect.stringMatching(/^hook_(bad_url|refused_address)$/) as string,
      })
    }
    expect(attempts).toEqual([])
    await outgoing.close()
  })

  it('connects to the one address it checked, whatever the name says next', async () => {
    let lookups = 0
    const outgoing = createOutgoing({
      allow: ['127.0.0.1/32'],
      log: silentLogger,
      resolve: async () => [{ address: lookups++ === 0 ? '127.0.0.1' : '127.0.0.2', family: 4 }],
    })
    attempts.length = 0
    await outgoing.request(get(`http://rebinding.test:${port}/`))
    expect(attempts).toEqual(['127.0.0.1'])
    expect(lookups).toBe(1)
    await outgoing.close()
  })

  it('leaves the forbidden addresses of a name with several out', async () => {
    const outgoing = createOutgoing({
      allow: ['127.0.0.1/32'],
      log: silentLogger,
      resolve: async () => [
        { address: '127.0.0.2', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
    })
    attempts.length = 0
    await outgoing.request(get(`http://several.test:${port}/`))
    expect(attempts).toEqual(['127.0.0.1'])
    await outgoing.close()
  })
})
