// The protection of a line by its profile, its keys and its path.
import { expect, it } from 'vitest'
import type { FarSide } from '../browsers/messages.ts'
import { Negotiation } from './negotiation.ts'
import { profileNamed, protectionOf, type Protected } from './profiles.ts'

const handshake: FarSide = {
  fingerprint: { algorithm: 'sha-256', value: 'AB' },
  setup: 'actpass',
  ice: undefined,
}
const withIce: FarSide = { ...handshake, ice: { ufrag: 'abcd', pwd: 'p'.repeat(22), candidates: [] } }

it.each(['rtp/avp', 'udptl', 'TCP/RTP/AVP', 'toString'])('the profile %s is none', (protocol) => {
  expect(profileNamed(protocol)).toBeUndefined()
})

const names = [
  'RTP/AVP',
  'RTP/AVPF',
  'RTP/SAVP',
  'RTP/SAVPF',
  'UDP/TLS/RTP/SAVP',
  'UDP/TLS/RTP/SAVPF',
] as const

// A row for each kind of name: plain, secure, and with DTLS.
it.each<
  [string, { hasKey?: boolean; hasRtcpMux?: boolean; path?: FarSide }, [Protected, Protected, Protected]]
>([
  ['nothing', {}, ['none', 'sdes', 'dtls']],
  ['a key', { hasKey: true }, ['none', 'sdes', 'dtls']],
  ['a fingerprint', { path: handshake }, ['dtls', 'dtls', 'dtls']],
  ['a fingerprint and ICE', { path: withIce }, ['dtls', 'dtls', 'dtls']],
  ['a fingerprint without rtcp-mux', { path: handshake, hasRtcpMux: false }, ['none', 'dtls', 'dtls']],
  ['a key and a fingerprint', { hasKey: true, path: handshake }, ['none', 'sdes', 'dtls']],
  ['a key, a fingerprint and ICE', { hasKey: true, path: withIce }, ['dtls', 'dtls', 'dtls']],
])('a line with %s is protected by name as the table says', (_, means, expected) => {
  const whole = { hasKey: false, hasRtcpMux: true, path: undefined, ...means }
  const found = names.map((name) => protectionOf(name, whole))
  expect(found).toEqual(expected.flatMap((one) => [one, one]))
})

const sha256 = Array.from({ length: 32 }, () => 'AB').join(':')

function offerOf(profile: string, ...lines: readonly string[]): string {
  const head = ['v=0', 'o=- 1 1 IN IP4 198.51.100.9', 's=-', 'c=IN IP4 198.51.100.9', 't=0 0']
  const described = [`a=fingerprint:sha-256 ${sha256}`, 'a=setup:actpass', 'a=rtcp-mux']
  return [...head, `m=audio 5004 ${profile} 0`, ...described, ...lines, ''].join('\r\n')
}

function negotiation(): Negotiation {
  const local = { general: '192.0.2.1', towards: () => '192.0.2.1', serves: () => true }
  return new Negotiation({ sessionId: '1', port: 40_000, local })
}

const ice = ['a=ice-ufrag:abcd', `a=ice-pwd:${'p'.repeat(22)}`]

it.each(names.flatMap((name) => [[name, ice] as const, [name, []] as const]))(
  'a handshake offered under the name %s with the lines %j is answered by one under this name',
  (name, lines) => {
    const leg = negotiation()
    const far = leg.offeredPath(offerOf(name, ...lines))
    expect(far?.fingerprint.value).toBe(sha256)
    const own = { ufrag: 'ours', pwd: 'q'.repeat(22), fingerprint: { algorithm: 'sha-256', value: sha256 } }
    const path = { ...own, setup: 'active', port: 41_000, ice: lines.length > 0 ? 'alone' : 'none' } as const
    const { sdp } = leg.answer(offerOf(name, ...lines), path)
    expect(sdp).toMatch(new RegExp(`^m=audio \\d+ ${name} 0\r$`, 'm'))
    expect(sdp).toContain('a=setup:active')
    expect(sdp.includes('a=ice-ufrag')).toBe(lines.length > 0)
  },
)

it('a handshake over TCP is taken where ICE can move it to UDP, and refused with a sentence where not', () => {
  expect(negotiation().offeredPath(offerOf('TCP/DTLS/RTP/SAVPF', ...ice))?.ice?.ufrag).toBe('abcd')
  expect(() => negotiation().offeredPath(offerOf('TCP/DTLS/RTP/SAVP'))).toThrow(/over TCP; only ICE/)
})
