// The names of profiles, and the protection of lines whose keys are of another kind than the name says.
import { expect, it } from 'vitest'
import { profileNamed, protectionOf } from './profiles.ts'
import { parseSdp } from './sdp.ts'

it.each([
  ['RTP/AVP', 'none'],
  ['RTP/AVPF', 'none'],
  ['RTP/SAVP', 'sdes'],
  ['RTP/SAVPF', 'sdes'],
  ['UDP/TLS/RTP/SAVPF', 'dtls'],
  ['rtp/avp', undefined],
  ['udptl', undefined],
  ['toString', undefined],
])('the name of the profile %s stands for: %s', (protocol, protection) => {
  const profile = profileNamed(protocol)
  expect(profile && protectionOf(profile)).toBe(protection)
})

const handshake = [`a=fingerprint:sha-256 ${'AB:'.repeat(31)}AB`, 'a=setup:actpass', 'a=rtcp-mux']
const ice = ['a=ice-ufrag:8hhY', 'a=ice-pwd:asd88fgpdd777uzjYhagZg']
const crypto = ['a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz']

it.each([
  ['a handshake', handshake, { plain: 'dtls', sdes: 'dtls', dtls: 'dtls' }],
  ['a handshake with ICE', [...handshake, ...ice], { plain: 'dtls', sdes: 'dtls', dtls: 'dtls' }],
  ['keys in SDP', crypto, { plain: 'none', sdes: 'sdes', dtls: 'sdes' }],
  ['both', [...handshake, ...crypto], { plain: 'none', sdes: 'sdes', dtls: 'dtls' }],
  ['both with ICE', [...handshake, ...ice, ...crypto], { plain: 'dtls', sdes: 'dtls', dtls: 'dtls' }],
  ['neither', [], { plain: 'none', sdes: 'sdes', dtls: 'dtls' }],
  ['a handshake without rtcp-mux', handshake.slice(0, 2), { plain: 'none', sdes: 'dtls', dtls: 'dtls' }],
  [
    'a handshake without its role',
    [handshake[0], 'a=rtcp-mux'],
    { plain: 'none', sdes: 'sdes', dtls: 'dtls' },
  ],
])(
  'a line with %s is protected by it under every profile that can mean it',
  (_what, lines, { plain, sdes, dtls }) => {
    for (const [protocol, protection] of [
      ['RTP/AVP', plain],
      ['RTP/AVPF', plain],
      ['RTP/SAVP', sdes],
      ['RTP/SAVPF', sdes],
      ['UDP/TLS/RTP/SAVP', dtls],
      ['UDP/TLS/RTP/SAVPF', dtls],
    ]) {
      const start = ['v=0', 'o=- 1 1 IN IP4 198.51.100.9', 's=-', 'c=IN IP4 198.51.100.9', 't=0 0']
      const [section] = parseSdp([...start, `m=audio 5004 ${protocol} 0`, ...lines, ''].join('\r\n')).sections
      expect([protocol, section?.protection, section?.path !== undefined]).toEqual([
        protocol,
        protection,
        protection === 'dtls' && lines.includes('a=setup:actpass'),
      ])
    }
  },
)
