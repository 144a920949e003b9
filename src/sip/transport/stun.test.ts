import { describe, expect, it } from 'vitest'
import { isBindingRequest, toBindingResponse } from './stun.ts'

// RFC 5769 §2.1 without its attributes, and the two addresses of §2.2 and §2.3.
const id = 'b7e7a701bc34d686fa87dfae'
const request = Buffer.from(`000100002112a442${id}`, 'hex')

describe('a keep-alive by STUN', () => {
  it.each([
    ['192.0.2.1', `0101000c2112a442${id}002000080001a147e112a643`],
    [
      '2001:db8:1234:5678:11:2233:4455:6677',
      `010100182112a442${id}002000140002a1470113a9faa5d3f179bc25f4b5bed2b9d9`,
    ],
  ])('from %s is answered with this place', (address, expected) => {
    const response = toBindingResponse(request, { transport: 'udp', address, port: 32_853 })
    expect(response.toString('hex')).toBe(expected)
  })

  it.each([
    ['a request', request, true],
    ['one with attributes', Buffer.from(`000100082112a442${id}8022000474657374`, 'hex'), true],
    ['a response', Buffer.from(`010100002112a442${id}`, 'hex'), false],
    ['one that is cut', request.subarray(0, 19), false],
    ['one with another length', Buffer.concat([request, Buffer.alloc(4)]), false],
    ['one of an older kind', Buffer.from(`0001000000000000${id}`, 'hex'), false],
    ['a SIP message', Buffer.from('OPTIONS sip:a@b.example SIP/2.0'), false],
  ])('differs from other datagrams: %s', (_what, datagram, isOne) => {
    expect(isBindingRequest(datagram)).toBe(isOne)
  })
})
