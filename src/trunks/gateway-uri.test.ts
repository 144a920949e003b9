// The form of a gateway in URIs and sentences, and the place that requests to it go to.
import { describe, expect, it } from 'vitest'
import { AppError } from '../lib/errors.ts'
import type { Resolved } from '../sip/sip.ts'
import { hopOf, isSips, placeOf, reach, uriOf } from './gateway-uri.ts'
import type { TrunkGateway } from './trunks.ts'

const gatewayAt = (of: Partial<TrunkGateway>): TrunkGateway => ({
  sip_gateway_sid: 'g',
  host: 'sip.example.com',
  port: null,
  protocol: 'udp',
  use_sips_scheme: false,
  isWatched: false,
  ...of,
})

describe('a gateway', () => {
  it.each<[Partial<TrunkGateway>, string, string, string]>([
    // RFC 3263 §4.2: without a port, SRV records of the name decide. A stored port is used as it is.
    [{}, 'sip.example.com', 'sip:sip.example.com;transport=udp', 'sip:sip.example.com;transport=udp'],
    [
      { port: 5060 },
      'sip.example.com',
      'sip:sip.example.com;transport=udp',
      'sip:sip.example.com:5060;transport=udp',
    ],
    [
      { port: 5080 },
      'sip.example.com:5080',
      'sip:sip.example.com:5080;transport=udp',
      'sip:sip.example.com:5080;transport=udp',
    ],
    [
      { host: '192.0.2.1', port: 5060 },
      '192.0.2.1',
      'sip:192.0.2.1;transport=udp',
      'sip:192.0.2.1;transport=udp',
    ],
    [
      { host: '2001:db8::1', port: 5070, protocol: 'tcp' },
      '[2001:db8::1]:5070',
      'sip:[2001:db8::1]:5070;transport=tcp',
      'sip:[2001:db8::1]:5070;transport=tcp',
    ],
    [
      { port: 5061, protocol: 'tls' },
      'sip.example.com',
      'sip:sip.example.com;transport=tls',
      'sip:sip.example.com:5061;transport=tls',
    ],
    [
      { port: 5061, protocol: 'tls', use_sips_scheme: true },
      'sip.example.com',
      'sips:sip.example.com',
      'sips:sip.example.com:5061',
    ],
    [
      { port: 5060, protocol: 'tls', use_sips_scheme: true },
      'sip.example.com:5060',
      'sips:sip.example.com:5060',
      'sips:sip.example.com:5060',
    ],
  ])('with %o is at %s, has the URI %s, and is reached by %s', (of, place, uri, hop) => {
    const gateway = gatewayAt(of)
    expect([placeOf(gateway), uriOf(gateway), hopOf(gateway)]).toEqual([place, uri, hop])
  })

  it('is asked with sips: over a secure transport alone, whatever its row says', () => {
    expect(
      (['udp', 'tcp', 'tls'] as const).map((protocol) =>
        isSips(gatewayAt({ protocol, use_sips_scheme: true })),
      ),
    ).toEqual([false, false, true])
  })
})

describe('where a URI leads', () => {
  const plain: Resolved = { transport: 'udp', address: '192.0.2.1', port: 5060 }
  const secure: Resolved = { transport: 'tls', address: '192.0.2.1', port: 5061, name: 'sip.example.com' }

  it.each([
    ['in clear is known without a connection', plain, 0],
    ['over TLS is known once that is open', secure, 1],
  ])('%s', async (_, resolved, opened) => {
    let opens = 0
    const open = async (): Promise<void> => void (opens += 1)
    expect(await reach('sip:x', { resolve: async () => resolved, open })).toEqual(resolved)
    expect(opens).toBe(opened)
  })

  it('is nowhere where the certificate is not believed', async () => {
    const open = (): Promise<void> =>
      Promise.reject(new AppError('bad_request', 'the certificate has expired'))
    await expect(reach('sips:x', { resolve: async () => secure, open })).rejects.toThrow('has expired')
  })
})
