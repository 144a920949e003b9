// Paths over ICE and DTLS in SDP, well-formed and malformed.
import { describe, expect, it } from 'vitest'
import type { FarSide } from '../browsers/messages.ts'
import { parseSdp, writeSdp } from './sdp.ts'

const sha256 = Array.from({ length: 32 }, () => 'AB').join(':')

const good = {
  ufrag: 'a=ice-ufrag:abcd',
  pwd: `a=ice-pwd:${'p'.repeat(22)}`,
  fingerprint: `a=fingerprint:sha-256 ${sha256}`,
  setup: 'a=setup:actpass',
}

/** Returns the path parsed from an offer; `session` has the lines above all media lines. */
function pathOf(lines: readonly string[], session: readonly string[] = []): FarSide | undefined {
  const head = ['v=0', 'o=- 1 1 IN IP4 192.0.2.9', 's=-', 't=0 0', ...session]
  const media = ['m=audio 9 UDP/TLS/RTP/SAVPF 0', 'c=IN IP4 0.0.0.0', 'a=rtcp-mux', ...lines]
  return parseSdp([...head, ...media, ''].join('\r\n')).sections[0]?.path
}

const withLines = (changed: Partial<typeof good>): string[] => Object.values({ ...good, ...changed })
const candidate = (rest: string): string => `a=candidate:1 ${rest}`

describe('a path', () => {
  it('is read whole from its line', () => {
    expect(pathOf(withLines({}))).toEqual({
      fingerprint: { algorithm: 'sha-256', value: sha256 },
      setup: 'actpass',
      ice: { ufrag: 'abcd', pwd: 'p'.repeat(22), candidates: [] },
    })
  })

  it('is read from the session, and the line goes before it', () => {
    const session = withLines({ ufrag: 'a=ice-ufrag:sess' })
    expect(pathOf([], session)?.ice?.ufrag).toBe('sess')
    expect(pathOf(['a=ice-ufrag:line', 'a=setup:active'], session)).toMatchObject({
      ice: { ufrag: 'line' },
      setup: 'active',
    })
  })

  it.each([
    ['sha-512', `a=fingerprint:SHA-512 ${Array.from({ length: 64 }, () => 'cd').join(':')}`],
    ['small letters', `a=fingerprint:sha-256 ${sha256.toLowerCase()}`],
  ])('may have its fingerprint in %s', (_, fingerprint) => {
    expect(pathOf(withLines({ fingerprint }))?.fingerprint.value).toMatch(/^(?:[A-D]{2}:?)+$/)
  })

  it.each([
    ['no name', { ufrag: '' }],
    ['a name that is too short', { ufrag: 'a=ice-ufrag:abc' }],
    ['a name of other letters', { ufrag: 'a=ice-ufrag:ab"cd' }],
    ['a name that is too long', { ufrag: `a=ice-ufrag:${'a'.repeat(257)}` }],
    ['no password', { pwd: '' }],
    ['a password that is too short', { pwd: `a=ice-pwd:${'p'.repeat(21)}` }],
    ['a hash that can be forged', { fingerprint: `a=fingerprint:sha-1 ${sha256}` }],
    ['a hash that is cut short', { fingerprint: 'a=fingerprint:sha-256 AB:CD' }],
    ['no fingerprint', { fingerprint: '' }],
    ['no role in the handshake', { setup: '' }],
    ['a role that keeps the handshake back', { setup: 'a=setup:holdconn' }],
  ])('is missing with %s', (_, changed) => {
    expect(pathOf(withLines(changed))).toBeUndefined()
  })
})

it.each([
  ['o=- 4611731400430051336 2 IN IP4 127.0.0.1', ['a=extmap-allow-mixed'], true],
  ['o=mozilla...THIS_IS_SDPARTA-140.0 4611 0 IN IP4 0.0.0.0', ['a=extmap-allow-mixed'], undefined],
  ['o=- 4611731400430051336 2 IN IP4 127.0.0.1', [], undefined],
  ['o=- 1 1 IN IP4 192.0.2.9', ['a=extmap-allow-mixed'], undefined],
])('of a far end that says %s and %j renews its handshake: %s', (origin, lines, renews) => {
  const media = ['m=audio 9 UDP/TLS/RTP/SAVPF 0', 'c=IN IP4 0.0.0.0', 'a=rtcp-mux', ...withLines({})]
  const [section] = parseSdp(['v=0', origin, 's=-', 't=0 0', ...lines, ...media, ''].join('\r\n')).sections
  expect(section?.path?.renewsHandshake).toBe(renews)
})

it('may be one without ICE, with neither its name nor its password', () => {
  expect(pathOf(withLines({ ufrag: '', pwd: '' }))).toMatchObject({ setup: 'actpass', ice: undefined })
})

describe('the places of a far end', () => {
  it('are those of IP over UDP for RTP, the best first', () => {
    const lines = [
      candidate('1 UDP 100 192.0.2.1 5000 typ host'),
      candidate('1 udp 300 2001:db8::1 5001 typ host'),
      candidate('2 UDP 900 192.0.2.1 5002 typ host'),
      candidate('1 TCP 900 192.0.2.1 9 typ host tcptype active'),
      candidate('1 UDP 900 5fd2.local 5003 typ host'),
      candidate('1 UDP 900 192.0.2.1 0 typ host'),
      candidate('1 UDP 900 192.0.2.1 70000 typ host'),
      candidate('1 UDP 200 203.0.113.1 5004 typ srflx raddr 192.0.2.1 rport 5000'),
    ]
    expect(pathOf(withLines({}).concat(lines))?.ice?.candidates).toEqual([
      { address: '2001:db8::1', port: 5001 },
      { address: '203.0.113.1', port: 5004 },
      { address: '192.0.2.1', port: 5000 },
    ])
  })

  it('are sixteen at most, whatever it names', () => {
    const lines = Array.from({ length: 200 }, (_, at) =>
      candidate(`1 UDP ${at + 1} 192.0.2.1 ${5000 + at} typ host`),
    )
    const candidates = pathOf(withLines({}).concat(lines))?.ice?.candidates ?? []
    expect(candidates).toHaveLength(16)
    expect(candidates[0]?.port).toBe(5199)
  })
})

it('ours is read back as it was written, with one place', () => {
  const own = { ufrag: 'wxyz', pwd: 'q'.repeat(24), fingerprint: { algorithm: 'sha-256', value: sha256 } }
  const sdp = writeSdp({
    sessionId: '9',
    version: 1,
    origin: '192.0.2.5',
    local: { address: '192.0.2.5', port: 45_000 },
    sections: [
      {
        formats: [{ encoding: 'PCMU', payloadType: 0 }],
        events: [],
        ptime: 20,
        direction: 'sendrecv',
        hasRtcpMux: true,
        profile: 'UDP/TLS/RTP/SAVPF',
        crypto: [],
        mid: '0',
        path: { ...own, setup: 'passive', port: 45_000, ice: 'alone' },
      },
    ],
  })
  const [section] = parseSdp(sdp).sections
  const { ufrag, pwd, fingerprint } = own
  const ice = { ufrag, pwd, candidates: [{ address: '192.0.2.5', port: 45_000 }] }
  expect(section?.path).toEqual({ fingerprint, setup: 'passive', ice })
  expect(sdp).toContain('a=group:BUNDLE 0\r\n')
  expect(sdp).toContain('a=end-of-candidates\r\n')
})
