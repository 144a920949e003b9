import { describe, expect, it } from 'vitest'
import type { ResolvedAddress } from '../../network/names.ts'
import { createUriResolver } from './resolve.ts'

const names: Readonly<Record<string, readonly ResolvedAddress[]>> = {
  'sip.example.com': [
    { address: '192.0.2.7', family: 4 },
    { address: '2001:db8::7', family: 6 },
  ],
  'six.example.com': [{ address: '2001:db8::8', family: 6 }],
  'mapped.example.com': [{ address: '::ffff:192.0.2.4', family: 6 }],
}
const lookup = async (host: string): Promise<readonly ResolvedAddress[]> => {
  const found = names[host]
  if (found === undefined) throw new Error('absent')
  return found
}
const resolveUri = createUriResolver({ lookup, bind: '0.0.0.0' })
const resolveSecure = createUriResolver({ lookup, bind: '0.0.0.0', serves: () => true })
const resolveFromSix = createUriResolver({ lookup, bind: '::' })

describe('resolveUri', () => {
  it('says that no name server could be asked, where that is the reason, and not that the host has no address', async () => {
    const gone = Object.assign(new Error('gone'), { code: 'EAI_AGAIN' })
    const resolve = createUriResolver({ lookup: () => Promise.reject(gone), bind: '0.0.0.0' })
    await expect(resolve('sip:bob@sip.example.com')).rejects.toMatchObject({
      code: 'sip_unreachable',
      message: 'no name server could say where the host of the URI is',
      cure: expect.stringContaining('SWITCHHOOK_NAME_SERVERS'),
    })
  })

  it.each([
    ['sip:bob@192.0.2.4', { transport: 'udp', address: '192.0.2.4', port: 5060 }],
    ['sip:192.0.2.4:5080;transport=TCP;lr', { transport: 'tcp', address: '192.0.2.4', port: 5080 }],
    ['sip:bob@[2001:db8::1]:5070', { transport: 'udp', address: '2001:db8::1', port: 5070 }],
    ['sip:[2001:DB8:0:0::1]', { transport: 'udp', address: '2001:db8::1', port: 5060 }],
    ['sip:[::ffff:192.0.2.4]', { transport: 'udp', address: '192.0.2.4', port: 5060 }],
    ['sip:[0::ffff:c000:204];transport=tcp', { transport: 'tcp', address: '192.0.2.4', port: 5060 }],
  ])('sends %s where it says', async (uri, remote) => {
    expect(await resolveUri(uri)).toEqual(remote)
  })

  it.each([
    ['sips:bob@192.0.2.4', { address: '192.0.2.4', port: 5061, name: '192.0.2.4' }],
    ['sips:bob@SIP.example.com:5070', { address: '192.0.2.7', port: 5070, name: 'sip.example.com' }],
    ['sips:bob@sip.example.com;transport=tcp', { address: '192.0.2.7', port: 5061, name: 'sip.example.com' }],
    ['sip:bob@sip.example.com;transport=TLS', { address: '192.0.2.7', port: 5061, name: 'sip.example.com' }],
  ])('%s goes by TLS, to who proves to be the host of the URI', async (uri, remote) => {
    expect(await resolveSecure(uri)).toEqual({ transport: 'tls', ...remote })
  })

  it.each([
    ['sips:bob@192.0.2.4;transport=udp', 'the URI asks for another transport'],
    ['sip:bob@192.0.2.4;transport=ws', 'only its far end can open'],
    ['sips:bob@192.0.2.4;transport=ws', 'only its far end can open'],
  ])('cannot reach %s: %s', async (uri, words) => {
    await expect(resolveSecure(uri)).rejects.toThrow(words)
  })

  it('says what is missing where TLS has no port', async () => {
    const refused = resolveUri('sips:bob@192.0.2.4')
    await expect(refused).rejects.toThrow('SWITCHHOOK_SIPS_PORT is not set')
    await expect(refused).rejects.toMatchObject({ cure: expect.stringMatching(/^Set SWITCHHOOK_SIPS_PORT/) })
  })

  it('looks names up', async () => {
    expect(await resolveUri('sip:bob@sip.example.com:5090')).toMatchObject({
      address: '192.0.2.7',
      port: 5090,
    })
  })

  it('takes the IPv4 address in a mapped one, by which carriers and phones are known', async () => {
    expect(await resolveFromSix('sip:mapped.example.com')).toMatchObject({ address: '192.0.2.4' })
  })

  it('takes an address of the family it sends from', async () => {
    expect(await resolveFromSix('sip:bob@sip.example.com')).toMatchObject({ address: '2001:db8::7' })
    await expect(resolveUri('sip:bob@six.example.com')).rejects.toMatchObject({ code: 'sip_unreachable' })
  })

  it.each([
    'sips:bob@192.0.2.4',
    'tel:+441234',
    'sip:bob@192.0.2.4;transport=tls',
    'sip:',
    'sip:x@no.invalid',
  ])('cannot reach %s', async (uri) => {
    await expect(resolveUri(uri)).rejects.toMatchObject({ code: 'sip_unreachable' })
  })
})
