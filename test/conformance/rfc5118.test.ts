// The IPv6 cases of RFC 5118 §4. The messages are built here around the line that each section is about; they are not
// the archived bytes.
import { describe, expect, it } from 'vitest'
import { parseMessage } from '../../src/sip/message/parse-message.ts'
import type { SipRequest } from '../../src/sip/message/message.ts'
import { parseUri, serializeUri } from '../../src/sip/message/uri.ts'
import { validateRequest } from '../../src/sip/message/validate.ts'
import { topVia } from '../../src/sip/message/via.ts'

const capabilities = {
  allow: ['INVITE', 'BYE', 'OPTIONS', 'REGISTER'],
  supported: [],
  accept: ['application/sdp'],
}

interface Case {
  readonly section: string
  readonly what: string
  readonly start: string
  readonly via?: string
  readonly contact?: string
  readonly sdp?: string
  readonly owed?: number
}

const cases: readonly Case[] = [
  { section: '4.1', what: 'a valid IPv6 reference', start: 'REGISTER sip:[2001:db8::10]' },
  { section: '4.2', what: 'an IPv6 address without brackets', start: 'REGISTER sip:2001:db8::10', owed: 400 },
  { section: '4.3', what: 'a port that is part of the address', start: 'REGISTER sip:[2001:db8::10:5070]' },
  { section: '4.4', what: 'a port after the brackets', start: 'REGISTER sip:[2001:db8::10]:5070' },
  {
    section: '4.5',
    what: 'brackets in received',
    start: 'BYE sip:user@host.example.net',
    via: 'SIP/2.0/UDP [2001:db8::9:1];received=[2001:db8::9:255];branch=z9hG4bKas3-111',
  },
  {
    section: '4.5',
    what: 'no brackets in received',
    start: 'OPTIONS sip:user@[2001:db8::10]',
    via: 'SIP/2.0/UDP [2001:db8::9:1];received=2001:db8::9:255;branch=z9hG4bKas3',
  },
  {
    section: '4.6',
    what: 'IPv6 addresses in SDP',
    start: 'INVITE sip:user@[2001:db8::10]',
    sdp: 'v=0\r\no=a 1 1 IN IP6 2001:db8::20\r\ns=-\r\nc=IN IP6 2001:db8::20\r\nt=0 0\r\nm=audio 42 RTP/AVP 0\r\n',
  },
  {
    section: '4.7',
    what: 'IPv4 and IPv6 in the headers of one message',
    start: 'BYE sip:user@host.example.com',
    via: 'SIP/2.0/UDP [2001:db8::9:1]:6050;branch=z9hG4bKas3-111, SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKjhja',
    contact: '<sip:user@[2001:db8::9:1]>, <sip:user@192.0.2.1>',
  },
  {
    section: '4.9',
    what: 'IPv4-mapped IPv6 addresses',
    start: 'INVITE sip:user@example.com',
    via: 'SIP/2.0/UDP [::ffff:192.0.2.10]:19823;branch=z9hG4bKbh19',
    contact: '<sip:user@[::ffff:192.0.2.10]:19823>',
  },
  {
    section: '4.10',
    what: 'the three colons of a grammar error',
    start: 'OPTIONS sip:user@[2001:db8:::192.0.2.1]',
  },
]

function messageOf({ start, via, contact, sdp = '' }: Case): SipRequest {
  const method = start.split(' ', 1)[0]
  const lines = [
    `${start} SIP/2.0`,
    `Via: ${via ?? 'SIP/2.0/UDP [2001:db8::9:1];branch=z9hG4bKas3-111'}`,
    'From: <sip:user@[2001:db8::9:1]>;tag=81x2',
    'To: <sip:user@example.com>',
    `Call-ID: SSG9559905523997077@hlau_4100`,
    `CSeq: 98176 ${method}`,
    'Max-Forwards: 70',
    `Contact: ${contact ?? '<sip:caller@[2001:db8::1]>'}`,
    ...(sdp === '' ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${sdp.length}`,
    '',
    sdp,
  ]
  const message = parseMessage(Buffer.from(lines.join('\r\n')))
  if (message.kind !== 'request') throw new Error('not a request')
  return message
}

describe('RFC 5118', () => {
  it.each(cases)('§$section $what', (given) => {
    const request = messageOf(given)
    expect(validateRequest(request, capabilities)?.status).toBe(given.owed)
    expect(topVia(request).host).toContain(':')
  })

  it('§4.3 and §4.4: the port is the number after the brackets', () => {
    expect(parseUri('sip:[2001:db8::10:5070]')).toMatchObject({ host: '2001:db8::10:5070' })
    expect(parseUri('sip:[2001:db8::10]:5070')).toMatchObject({ host: '2001:db8::10', port: 5070 })
  })

  it('§4.10: a forwarded address has two colons', () => {
    expect(serializeUri(parseUri('sip:user@[2001:db8:::192.0.2.1]'))).toBe('sip:user@[2001:db8::192.0.2.1]')
  })
})
