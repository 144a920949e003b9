// The keep-alive of phones on UDP: a Binding request of STUN (RFC 8489 §5), whose response contains its source (RFC
// 5626 §5.4).
import ipaddr from 'ipaddr.js'
import type { Remote } from './transports.ts'

const headerBytes = 20
const bindingRequest = 0x0001
const bindingResponse = 0x0101
const magicCookie = 0x2112a442
const xorMappedAddress = 0x0020

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// |0 0|    type (request: 1)      |   octets after the header     |
// |                  magic cookie, 0x2112A442                     |
// |           transaction id, 96 bits                             |

/** Detects a Binding request. No SIP message begins with a zero. */
export function isBindingRequest(datagram: Buffer): boolean {
  return (
    datagram.length >= headerBytes &&
    datagram.readUInt16BE(0) === bindingRequest &&
    datagram.readUInt16BE(2) === datagram.length - headerBytes &&
    datagram.readUInt32BE(4) === magicCookie
  )
}

export function toBindingResponse(request: Buffer, { address, port }: Remote): Buffer {
  const plain = ipaddr.parse(address).toByteArray()
  const response = Buffer.alloc(headerBytes + 8 + plain.length)
  // The cookie and transaction id, which mask the address, since some NATs rewrite bytes that look like one (RFC 8489
  // §14.2).
  request.copy(response, 4, 4, headerBytes)
  response.writeUInt16BE(bindingResponse, 0)
  response.writeUInt16BE(8 + plain.length, 2)
  response.writeUInt16BE(xorMappedAddress, headerBytes)
  response.writeUInt16BE(4 + plain.length, headerBytes + 2)
  response.writeUInt8(plain.length === 4 ? 1 : 2, headerBytes + 5)
  response.writeUInt16BE(port ^ (magicCookie >>> 16), headerBytes + 6)
  for (const [index, byte] of plain.entries())
    response.writeUInt8(byte ^ response.readUInt8(4 + index), headerBytes + 8 + index)
  return response
}
