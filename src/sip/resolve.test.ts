import { describe, expect, it } from 'vitest'
import { resolveUri } from './resolve.ts'

describe('resolveUri', () => {
  it.each([
    ['sip:bob@192.0.2.4', { transport: 'udp', address: '192.0.2.4', port: 5060 }],
    ['sip:192.0.2.4:5080;transport=TCP;lr', { transport: 'tcp', address: '192.0.2.4', port: 5080 }],
    ['sip:bob@[2001:db8::1]:5070', { transport: 'udp', address: '2001:db8::1', port: 5070 }],
  ])('sends %s where it says', async (uri, remote) => {
    expect(await resolveUri(uri)).toEqual(remote)
  })

  it('looks names up', async () => {
    const { address, port } = await resolveUri('sip:bob@localhost:5090')
    expect(['127.0.0.1', '::1']).toContain(address)
    expect(port).toBe(5090)
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
