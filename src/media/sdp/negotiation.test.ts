import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { quickestMs } from '../../../test/support/cpu.ts'
import type { LocalAddress } from '../../network/local-address.ts'
import { Negotiation } from './negotiation.ts'

const four = '192.0.2.1'
const six = '2001:db8::1'

/** Returns a platform with an address of each IP version served. */
function localOf(...addresses: readonly string[]): LocalAddress {
  const sameVersion = (remote: string) => addresses.find((one) => isIP(one) === isIP(remote))
  return {
    general: addresses[0] ?? '',
    towards: (remote) => sameVersion(remote) ?? '',
    serves: (remote) => sameVersion(remote) !== undefined,
  }
}

function negotiationOf(local = localOf(four), sessionId = '1'): Negotiation {
  return new Negotiation({ sessionId, port: 40_000, local })
}

function fixture(name: string): string {
  return readFileSync(join(import.meta.dirname, 'fixtures', name), 'utf8').replaceAll('\n', '\r\n')
}

interface OfferParts {
  readonly connection?: string
  readonly media?: string
  readonly lines?: readonly string[]
}

function offer(parts: OfferParts = {}): string {
  const { connection = 'IN IP4 198.51.100.9', media = 'audio 5004 RTP/AVP 0 8 101', lines = [] } = parts
  const start = ['v=0', 'o=- 1 1 IN IP4 198.51.100.9', 's=-', `c=${connection}`, 't=0 0', `m=${media}`]
  return [...start, 'a=rtpmap:101 telephone-event/8000', ...lines, ''].join('\r\n')
}

function answer(text: string): ReturnType<Negotiation['answer']> {
  return negotiationOf().answer(text)
}

const lines = (sdp: string): string[] => sdp.split('\r\n').filter((line) => line !== '')

it.each([
  ['PCMA', '8 0 9 96 101 97'],
  ['OPUS', '96 0 8 9 101 97'],
  ['another', '0 8 9 96 101 97'],
  [undefined, '0 8 9 96 101 97'],
])('begins its first offer with the encoding that it prefers: %s', (prefers, formats) => {
  const negotiation = new Negotiation({ sessionId: '1', port: 40_000, local: localOf(four), prefers })
  expect(negotiation.offer()).toContain(`m=audio 40000 RTP/AVP ${formats}\r\n`)
})

describe('an answer', () => {
  it('names our address and port, one codec, telephone events, 20 ms and the direction', () => {
    expect(lines(answer(offer()).sdp)).toEqual([
      'v=0',
      'o=- 1 1 IN IP4 192.0.2.1',
      's=-',
      'c=IN IP4 192.0.2.1',
      't=0 0',
      'm=audio 40000 RTP/AVP 0 101',
      'a=rtpmap:0 PCMU/8000',
      'a=rtpmap:101 telephone-event/8000',
      'a=fmtp:101 0-15',
      'a=ptime:20',
      'a=maxptime:150',
      'a=sendrecv',
    ])
  })

  it.each([
    ['audio 5004 RTP/AVP 8 0', 'PCMA', 8],
    ['audio 5004 RTP/AVP 18 0 9 8', 'PCMU', 0],
    ['audio 5004 RTP/AVP 18 9 0 8', 'G722', 9],
    ['audio 5004 RTP/AVP 96 8', 'PCMA', 8],
    ['audio 5004/1 RTP/AVP 8', 'PCMA', 8],
    ['audio 5004 RTP/AVPF 0', 'PCMU', 0],
  ])('to "%s" takes %s', (media, law, payloadType) => {
    const { agreement } = answer(offer({ media }))
    expect(agreement).toMatchObject({ encoding: law, send: { audio: payloadType } })
    expect(agreement.receive.codecs[0]).toEqual({ encoding: law, payloadType })
  })

  it('follows dynamic payload types of codec and events, in any letter case', () => {
    const { agreement, sdp } = answer(
      offer({
        media: 'audio 5004 RTP/AVP 97 110 112',
        lines: [
          'a=rtpmap:97 pcma/8000/1',
          'a=rtpmap:110 telephone-event/48000',
          'a=rtpmap:112 Telephone-Event/8000',
        ],
      }),
    )
    expect(agreement).toMatchObject({ encoding: 'PCMA', send: { audio: 97, event: { payloadType: 112 } } })
    expect(sdp).toContain('m=audio 40000 RTP/AVP 97 112')
  })

  it('offers no telephone events to a phone that has none', () => {
    const { agreement, sdp } = answer(offer({ media: 'audio 5004 RTP/AVP 0' }))
    expect(agreement.send.event).toBeUndefined()
    expect(sdp).not.toContain('telephone-event')
  })

  it('keeps the lines in their order and refuses the others with port 0', () => {
    const video = [
      'm=video 6000 RTP/AVP 96',
      'a=rtpmap:96 VP8/90000',
      'm=audio 7000 RTP/AVP 0',
      'm=image 0 udptl t38',
    ]
    const { sdp, agreement } = answer(offer({ lines: video }))
    expect(lines(sdp).filter((line) => line.startsWith('m='))).toEqual([
      'm=audio 40000 RTP/AVP 0 101',
      'm=video 0 RTP/AVP 96',
      'm=audio 0 RTP/AVP 0',
      'm=image 0 udptl t38',
    ])
    expect(agreement.remote?.port).toBe(5004)
  })

  it('accepts the plain line of an offer that also has an encrypted one', () => {
    const both = offer({ media: 'audio 5000 RTP/SAVP 0', lines: ['m=audio 5004 RTP/AVP 0'] })
    expect(answer(both).agreement.remote?.port).toBe(5004)
  })

  it.each([
    ['sendrecv', 'sendrecv', false],
    ['sendonly', 'recvonly', true],
    ['recvonly', 'sendonly', false],
    ['inactive', 'inactive', true],
  ])('to %s is %s', (direction, expected, isHeld) => {
    const answered = answer(offer({ lines: [`a=${direction}`] }))
    expect(answered.sdp).toContain(`a=${expected}\r\n`)
    expect(answered.isHeld).toBe(isHeld)
    expect(answered.agreement.maySend).toBe(!isHeld)
    expect(answered.agreement.mayReceive).toBe(expected === 'sendrecv' || expected === 'recvonly')
  })

  it('takes a direction of the session for its lines', () => {
    expect(answer(offer().replace('t=0 0', 't=0 0\r\na=sendonly')).isHeld).toBe(true)
  })

  it('understands the old hold: an unspecified address', () => {
    const held = answer(offer({ connection: 'IN IP4 0.0.0.0' }))
    expect(held).toMatchObject({ isHeld: true, agreement: { remote: undefined, maySend: false } })
    expect(held.sdp).toContain('a=recvonly')
  })

  it('takes rtcp-mux when it is offered, and the RTCP port that is named', () => {
    const mux = answer(offer({ lines: ['a=rtcp-mux'] }))
    expect(mux.sdp).toContain('a=rtcp-mux')
    expect(mux.agreement.remoteRtcp).toEqual({ address: '198.51.100.9', port: 5004 })
    expect(answer(offer()).agreement.remoteRtcp).toEqual({ address: '198.51.100.9', port: 5005 })
    expect(answer(offer({ lines: ['a=rtcp:9001'] })).agreement.remoteRtcp?.port).toBe(9001)
    expect(answer(offer({ lines: ['a=rtcp:9001 IN IP4 198.51.100.77'] })).agreement.remoteRtcp).toEqual({
      address: '198.51.100.77',
      port: 9001,
    })
  })

  it('names the codecs that were offered instead when none is ours', () => {
    const opus = offer({
      media: 'audio 5004 RTP/AVP 96 18 3 98 101',
      lines: ['a=rtpmap:96 opus/16000', `a=rtpmap:98 ${'x'.repeat(99)}/16000`],
    })
    expect(() => answer(opus)).toThrow(/codecs are: OPUS\/16000, G729\/8000, GSM\/8000, X{24}\/16000$/)
    const many = offer({
      media: `audio 5004 RTP/AVP ${Array.from({ length: 60 }, (_, n) => n + 30).join(' ')}`,
    })
    expect(() => answer(many)).toThrow(/payload type 39 and more$/)
  })

  it.each([
    [[], 20],
    [['a=ptime:30'], 20],
    [['a=ptime:40', 'a=maxptime:60'], 20],
    [['a=maxptime:20'], 20],
    [['a=ptime:10', 'a=maxptime:10'], 10],
    [['a=maxptime:5'], 5],
    [['a=maxptime:0'], 20],
  ] as const)('to %j has packets of %i ms, and takes longer ones', (more, packetMs) => {
    const { agreement, sdp } = answer(offer({ lines: more }))
    expect(agreement.send.packetMs).toBe(packetMs)
    expect(sdp).toContain(`a=ptime:${packetMs}\r\na=maxptime:150\r\n`)
  })

  it('takes telephone events in the clock of the codec, whichever stands first', () => {
    const wide = offer({
      media: 'audio 5004 RTP/AVP 0 110 101',
      lines: ['a=rtpmap:110 telephone-event/48000'],
    })
    const { agreement, sdp } = answer(wide)
    expect(agreement.send.event?.payloadType).toBe(101)
    expect(sdp).toContain('m=audio 40000 RTP/AVP 0 101')
    const only = offer({ media: 'audio 5004 RTP/AVP 0 110', lines: ['a=rtpmap:110 telephone-event/48000'] })
    expect(answer(only).agreement).toMatchObject({ send: { event: undefined } })
  })

  it('hears comfort noise under its own number and the static one', () => {
    const { agreement } = answer(offer({ media: 'audio 5004 RTP/AVP 0 99', lines: ['a=rtpmap:99 CN/8000'] }))
    expect(agreement.receive.noises).toEqual([13, 99])
  })
})

describe('the address of the SDP', () => {
  it('faces the peer of the signalling, and where that has another IP version the media', () => {
    const local: LocalAddress = { ...localOf(four, six), towards: (remote) => `towards ${remote}` }
    const negotiation = negotiationOf(local)
    negotiation.face('203.0.113.1')
    expect(negotiation.answer(offer()).sdp).toContain('c=IN IP4 towards 203.0.113.1\r\n')
    expect(negotiation.address).toBe('towards 203.0.113.1')
    expect(negotiation.answer(offer({ connection: 'IN IP6 2001:db8::9' })).sdp).toContain(
      'c=IN IP4 towards 2001:db8::9'.replace('IP4', 'IP6'),
    )
  })

  it('of an offer faces each place that is tried', () => {
    const negotiation = negotiationOf({ ...localOf(four), towards: (remote) => `9.${remote}` })
    negotiation.face('203.0.113.1')
    expect(negotiation.offer()).toContain('o=- 1 1 IN IP4 9.203.0.113.1\r\n')
    negotiation.face('203.0.113.2')
    const second = negotiation.offer()
    expect(second).toContain('c=IN IP4 9.203.0.113.2\r\n')
    expect(second).toMatch(/^o=- 1 \d IN IP4 9\.203\.0\.113\.2\r$/m)
  })

  it('keeps the origin when a re-offer brings another IP version', () => {
    const negotiation = negotiationOf(localOf(four, six))
    negotiation.answer(offer())
    const { sdp, agreement } = negotiation.answer(offer({ connection: 'IN IP6 2001:db8::9' }))
    expect(lines(sdp).slice(1, 4)).toEqual([`o=- 1 2 IN IP4 ${four}`, 's=-', `c=IN IP6 ${six}`])
    expect(agreement.remote).toEqual({ address: '2001:db8::9', port: 5004 })
  })
})

describe('an offer of both IP versions', () => {
  const twoLines = offer({
    media: 'audio 5004 RTP/AVP 0',
    lines: ['c=IN IP6 2001:db8::9', 'a=mid:1', 'm=audio 5006 RTP/AVP 0', 'c=IN IP4 198.51.100.9', 'a=mid:2'],
  })
  const grouped = (order: string) => twoLines.replace('t=0 0', `t=0 0\r\na=group:ANAT ${order}`)

  it.each([
    ['IPv4', [four], '1 2', 5006],
    ['IPv6', [six], '2 1', 5004],
    ['both, and prefers the first', [four, six], '1 2', 5004],
    ['both, and prefers the second', [four, six], '2 1', 5006],
  ])('is taken with the one line that serves %s', (_name, addresses, order, port) => {
    const { sdp, agreement } = negotiationOf(localOf(...addresses)).answer(grouped(order))
    expect(agreement.remote?.port).toBe(port)
    const mid = port === 5004 ? 1 : 2
    expect(sdp).toContain(`a=group:ANAT ${mid}\r\n`)
    expect(sdp.match(/^a=mid:.*$/gm)).toEqual([`a=mid:${mid}`])
    const ports = lines(sdp).filter((line) => line.startsWith('m='))
    expect(ports.map((line) => line.split(' ')[1])).toEqual(port === 5004 ? ['40000', '0'] : ['0', '40000'])
    expect(sdp).toContain(port === 5004 ? `c=IN IP6 ${six}` : `c=IN IP4 ${four}`)
  })

  it('without a group is taken with the first line that is served', () => {
    const { agreement, sdp } = negotiationOf().answer(twoLines)
    expect(agreement.remote).toEqual({ address: '198.51.100.9', port: 5006 })
    expect(sdp).not.toContain('group')
  })

  it.each([
    ['of the session', offer().replace('t=0 0', 'c=IN IP6 2001:db8::9\r\nt=0 0')],
    ['of the line', offer({ lines: ['c=IN IP6 2001:db8::9', 'c=IN IP4 198.51.100.9'] })],
  ])('in several connection lines %s is taken with the version that is served', (_name, text) => {
    expect(negotiationOf(localOf(four)).answer(text).agreement.remote?.address).toBe('198.51.100.9')
    expect(negotiationOf(localOf(six)).answer(text).agreement.remote?.address).toBe('2001:db8::9')
  })
})

describe('an offer is refused with media_not_acceptable', () => {
  it.each<[string, string]>([
    ['an empty body', ''],
    ['no SDP', 'hello'],
    ['encryption without keys', offer({ media: 'audio 5004 RTP/SAVP 0' })],
    ['only DTLS', offer({ media: 'audio 5004 UDP/TLS/RTP/SAVPF 0' })],
    ['none of our codecs', offer({ media: 'audio 5004 RTP/AVP 18 3' })],
    ['G.711 at another rate', offer({ media: 'audio 5004 RTP/AVP 97', lines: ['a=rtpmap:97 PCMU/16000'] })],
    ['no audio', offer({ media: 'video 5004 RTP/AVP 96' })],
    ['audio with port 0', offer({ media: 'audio 0 RTP/AVP 0' })],
    ['a port out of range', offer({ media: 'audio 70000 RTP/AVP 0' })],
    ['no connection', offer().replace(/^c=.*\r\n/m, '')],
    ['a name for an address', offer({ connection: 'IN IP4 phone.example' })],
    ['another IP version', offer({ connection: 'IN IP6 2001:db8::9' })],
    ['a multicast address', offer({ connection: 'IN IP4 224.2.1.1' })],
    ['the broadcast address', offer({ connection: 'IN IP4 255.255.255.255' })],
    ['too many lines', offer({ lines: Array<string>(40).fill('m=audio 5 RTP/AVP 0') })],
    [
      'no connection of a line of several',
      offer({ media: 'audio 5004 RTP/SAVP 0', lines: ['m=audio 6 RTP/AVP 18'] }),
    ],
    ['too much', offer({ lines: [`a=x:${'x'.repeat(40_000)}`] })],
    ['a broken media line', offer({ media: '!!!' })],
  ])('%s', (_name, text) => {
    expect(() => answer(text)).toThrow(expect.objectContaining({ code: 'media_not_acceptable' }))
  })

  it('and what was agreed before stays', () => {
    const negotiation = negotiationOf()
    const before = negotiation.answer(offer()).sdp
    expect(() => negotiation.answer(offer({ media: 'audio 5004 RTP/SAVP 0' }))).toThrow()
    expect(negotiation.answer(offer()).sdp).toBe(before)
  })

  it('within milliseconds when it is built to be slow', () => {
    const attribute = `a=imageattr:* send ${'[x]['.repeat(200)}`
    const slow = offer({ lines: Array<string>(30).fill(attribute) })
    expect(quickestMs(() => void answer(slow), 100)).toBeLessThan(100)
  })
})

describe('a re-offer', () => {
  it('raises the version only when the answer changes', () => {
    const negotiation = negotiationOf(localOf(four), '7')
    const version = (text: string): string | undefined =>
      /^o=- 7 (\d+)/m.exec(negotiation.answer(text).sdp)?.[1]
    expect(version(offer())).toBe('1')
    expect(version(offer())).toBe('1')
    expect(version(offer({ lines: ['a=sendonly'] }))).toBe('2')
    expect(version(offer({ lines: ['a=inactive'] }))).toBe('3')
    expect(version(offer())).toBe('4')
  })

  it('that names the codec in use, even last, continues with it, and otherwise with its first codec', () => {
    const negotiation = negotiationOf()
    const codecAfter = (formats: string): string =>
      negotiation.answer(offer({ media: `audio 5004 RTP/AVP ${formats}` })).agreement.encoding
    expect(['8 0', '9 0 8', '9 0', '0 9'].map(codecAfter)).toEqual(['PCMA', 'PCMA', 'G722', 'G722'])
  })
})

describe('our offer', () => {
  it('has all codecs and telephone events, and the answer decides', () => {
    const negotiation = negotiationOf()
    const text = negotiation.offer()
    expect(text).toContain('m=audio 40000 RTP/AVP 0 8 9 96 101 97')
    const { agreement, isHeld } = negotiation.acceptAnswer(
      offer({ media: 'audio 6000 RTP/AVP 8 96', lines: ['a=rtpmap:96 telephone-event/8000'] }),
    )
    expect(isHeld).toBe(false)
    expect(agreement).toMatchObject({
      encoding: 'PCMA',
      remote: { address: '198.51.100.9', port: 6000 },
      // We send what the far end chose and receive what we offered.
      send: { audio: 8, event: { payloadType: 96 } },
      receive: {
        codecs: [
          { encoding: 'PCMA', payloadType: 8 },
          { encoding: 'PCMA', payloadType: 8 },
        ],
        events: [
          { payloadType: 101, clockRate: 8000 },
          { payloadType: 97, clockRate: 48_000 },
          { payloadType: 96, clockRate: 8000 },
        ],
      },
    })
  })

  it('hears every codec that the answer kept, in our numbers and its own', () => {
    const negotiation = negotiationOf()
    negotiation.offer()
    const text = offer({ media: 'audio 6000 RTP/AVP 97 0', lines: ['a=rtpmap:97 PCMA/8000'] })
    const { encoding, send, receive } = negotiation.acceptAnswer(text).agreement
    expect([encoding, send.audio]).toEqual(['PCMA', 97])
    expect(receive.codecs.map(({ payloadType }) => payloadType)).toEqual([0, 8, 97, 0])
    expect(negotiation.offer()).toContain('m=audio 40000 RTP/AVP 8 0 101')
  })

  it('repeats what is in use and its lines when the session runs', () => {
    const negotiation = negotiationOf()
    negotiation.answer(offer({ media: 'video 5 RTP/AVP 96', lines: ['m=audio 5004 RTP/AVP 8'] }))
    const again = negotiation.offer()
    expect(lines(again).filter((line) => line.startsWith('m='))).toEqual([
      'm=video 0 RTP/AVP 96',
      'm=audio 40000 RTP/AVP 8',
    ])
    expect(again).toContain('o=- 1 1 ')
    const answered = offer({ media: 'video 0 RTP/AVP 96', lines: ['m=audio 5004 RTP/AVP 8'] })
    expect(negotiation.acceptAnswer(answered).agreement.encoding).toBe('PCMA')
  })

  describe('within the call, refused by the far end (RFC 3261 §14.1)', () => {
    const place = {
      ...{ address: '198.51.100.77', port: 7000, rtcp: { address: '198.51.100.77', port: 7001 } },
      codecs: [{ encoding: 'PCMU', payloadType: 0 }],
      ...{ event: undefined, packetMs: 20, hasRtcpMux: false },
    } as const

    it('that named the place of another far end: neither a refresh nor an offer of it agrees on that', () => {
      const negotiation = negotiationOf()
      negotiation.answer(offer())
      expect(negotiation.offerPast(place)).toContain('m=audio 7000 ')
      negotiation.withdraw()
      expect(negotiation.acceptAnswer(offer()).isPast).toBe(false)
      const { sdp, isPast } = negotiation.answer(offer())
      expect([isPast, sdp.includes('m=audio 40000 '), sdp.includes(place.address)]).toEqual([
        false,
        true,
        false,
      ])
    })

    it('that named one codec: the answer to a refresh may have the other ones of before, however often it was repeated', () => {
      const negotiation = negotiationOf()
      negotiation.offer()
      negotiation.acceptAnswer(offer())
      for (const only of ['PCMA', 'PCMA'] as const) negotiation.offer({ only })
      negotiation.withdraw()
      expect(negotiation.acceptAnswer(offer()).agreement.encoding).toBe('PCMU')
    })
  })

  it.each<[string, string]>([
    ['a refusal', offer({ media: 'audio 0 RTP/AVP 0' })],
    ['another codec', offer({ media: 'audio 5004 RTP/AVP 18' })],
    ['no line', 'v=0\r\no=- 1 1 IN IP4 1.2.3.4\r\ns=-\r\nt=0 0\r\n'],
  ])('is not answered by %s', (_name, text) => {
    const negotiation = negotiationOf()
    negotiation.offer()
    expect(() => negotiation.acceptAnswer(text)).toThrow(
      expect.objectContaining({ code: 'media_not_acceptable' }),
    )
  })

  it('must come before its answer', () => {
    expect(() => negotiationOf().acceptAnswer(offer())).toThrow()
  })
})

describe('real phones', () => {
  it.each([
    ['baresip.sdp', 'PCMU', 101, { address: '127.0.0.1', port: 18_000 }, 18_001],
    ['linphone.sdp', 'OPUS', 98, { address: '192.168.1.20', port: 7078 }, 40_321],
    ['sipp.sdp', 'PCMU', undefined, { address: '127.0.0.1', port: 6000 }, 6001],
    ['carrier.sdp', 'PCMA', 96, { address: '203.0.113.40', port: 17_432 }, 17_433],
  ])('%s is answered with %s', (name, law, event, remote, rtcpPort) => {
    const { agreement, isHeld } = answer(fixture(name))
    expect(isHeld).toBe(false)
    expect(agreement).toMatchObject({
      encoding: law,
      remote,
      send: { event: event && { payloadType: event } },
      remoteRtcp: { port: rtcpPort },
    })
  })

  it('browser.sdp is answered with one codec, our side of its path and the group that it is in', () => {
    const negotiation = negotiationOf()
    const far = negotiation.offeredPath(fixture('browser.sdp'))
    expect(far).toMatchObject({
      ice: { ufrag: '8hhY' },
      setup: 'actpass',
      fingerprint: { algorithm: 'sha-256' },
    })
    const { sdp, isHeld, path } = negotiation.answer(fixture('browser.sdp'), ours)
    expect([isHeld, path, negotiation.place]).toEqual([false, far, undefined])
    for (const line of ['m=audio 45000 UDP/TLS/RTP/SAVPF 111 126', 'a=group:BUNDLE 0', 'a=rtcp-mux'])
      expect(lines(sdp)).toContain(line)
    expect(lines(sdp)).toContain(`a=candidate:1 1 UDP 2130706431 ${four} 45000 typ host`)
    expect(lines(sdp)).toContain('a=fingerprint:sha-256 AB:CD')
    expect(sdp).toMatch(/a=setup:passive\r\na=mid:0\r\n/)
  })
})

const ours = {
  ice: 'alone',
  ufrag: 'Ours',
  pwd: 'o'.repeat(24),
  fingerprint: { algorithm: 'sha-256', value: 'AB:CD' },
  port: 45_000,
  setup: 'passive',
} as const

describe('a browser', () => {
  const candidates = [
    'a=candidate:1 1 udp 100 198.51.100.9 5000 typ host',
    'a=candidate:2 1 udp 900 2001:db8::9 5002 typ host',
    'a=candidate:3 1 udp 999 4f3a.local 5004 typ host',
    'a=candidate:4 1 tcp 999 198.51.100.9 9 typ host',
    'a=candidate:5 2 udp 999 198.51.100.9 5001 typ host',
  ]
  const withLines = (change: (sdp: string) => string): string => change(fixture('browser.sdp'))

  it('is tried at its addresses, best first, and never at a name, over TCP, or at a port of RTCP', () => {
    const offered = withLines((sdp) => sdp + candidates.join('\r\n') + '\r\n')
    expect(negotiationOf().offeredPath(offered)?.ice?.candidates).toEqual([
      { address: '2001:db8::9', port: 5002 },
      { address: '198.51.100.9', port: 5000 },
    ])
  })

  it.each([
    ['no fingerprint', (sdp: string) => sdp.replace(/a=fingerprint.*\r\n/, '')],
    ['one of SHA-1', (sdp: string) => sdp.replace('fingerprint:sha-256', 'fingerprint:sha-1')],
    ['a password that is too short', (sdp: string) => sdp.replace(/ice-pwd:.*/, 'ice-pwd:short')],
    ['no rtcp-mux', (sdp: string) => sdp.replace('a=rtcp-mux\r\n', '')],
  ])('is refused with %s', (_what, change) => {
    expect(() => negotiationOf().offeredPath(withLines(change))).toThrow(/with DTLS/)
  })

  it('is offered the path that it answers, and again within the call, in either role', () => {
    const negotiation = negotiationOf()
    expect(
      negotiation.offer({ protection: { dtls: 'browser' }, path: { ...ours, setup: 'actpass' } }),
    ).toContain('a=setup:actpass')
    const answered = withLines((sdp) => sdp.replace('actpass', 'active'))
    expect(negotiation.acceptAnswer(answered).path?.setup).toBe('active')
    const again = negotiation.offer()
    for (const line of ['UDP/TLS/RTP/SAVPF', 'a=setup:actpass', 'a=ice-ufrag:Ours', 'a=mid:0'])
      expect(again).toContain(line)
  })

  it('that was called together with a phone of the same address gets its own path', () => {
    const negotiation = negotiationOf()
    negotiation.face('198.51.100.1', 1)
    negotiation.offer({ protection: { dtls: 'browser' }, path: { ...ours, setup: 'actpass' } })
    negotiation.face('198.51.100.1', 2)
    negotiation.offer()
    negotiation.face('198.51.100.1', 1)
    const answered = withLines((sdp) => sdp.replace('actpass', 'active'))
    expect(negotiation.acceptAnswer(answered).path).toBeDefined()
    // A browser accepts no re-offer without it.
    expect(negotiation.offer()).toContain('a=rtcp-mux')
  })

  it.each([
    ['ice', 'beside', ['m=audio 40000 ', ' 45000 typ host', ' 40000 typ host']],
    ['no-ice', 'none', ['m=audio 40000 ']],
  ] as const)(
    'that is no browser is offered %s at the port of the session, and may answer without it',
    (dtls, ice, parts) => {
      const negotiation = negotiationOf()
      const offered = negotiation.offer({ protection: { dtls }, path: { ...ours, ice, setup: 'actpass' } })
      for (const part of [...parts, 'UDP/TLS/RTP/SAVP ', 'a=fingerprint:', 'a=setup:actpass', 'a=rtcp-mux'])
        expect(offered).toContain(part)
      expect(offered.split('a=candidate:')).toHaveLength(parts.length)
      expect(offered.includes('a=ice-ufrag')).toBe(dtls === 'ice')
      const answered = withLines((sdp) =>
        sdp
          .replace('actpass', 'active')
          .replace('SAVPF', 'SAVP')
          .replaceAll(/a=ice-.*\r\n/g, '')
          .replace('audio 9', 'audio 7000')
          .replace('c=IN IP4 0.0.0.0', 'c=IN IP4 198.51.100.9'),
      )
      const { agreement, path } = negotiation.acceptAnswer(answered)
      expect(agreement.remote).toEqual({ address: '198.51.100.9', port: 7000 })
      expect(path).toMatchObject({ setup: 'active', ice: undefined })
      const again = negotiation.offer()
      expect(again).toContain('m=audio 40000 UDP/TLS/RTP/SAVP ')
      expect(again).not.toContain('a=candidate')
    },
  )

  it('may not answer an offer of plain RTP', () => {
    const negotiation = negotiationOf()
    negotiation.offer()
    expect(() => negotiation.acceptAnswer(fixture('browser.sdp'))).toThrow(/another profile/)
  })
})

describe('an offer within the call that ends its stream with port 0 (RFC 3264 §8.2)', () => {
  const ended = offer({ media: 'audio 0 RTP/AVP 0' })

  it('is answered by port 0, the call is on hold, and a later offer brings the stream back', () => {
    const leg = negotiationOf()
    const first = leg.answer(offer({ media: 'audio 5004 RTP/AVP 0' }))
    const held = leg.answer(ended)
    expect(held.sdp).toMatch(/^m=audio 0 RTP\/AVP 0\r$/m)
    expect(held).toMatchObject({ isHeld: true, agreement: { maySend: false, mayReceive: false } })
    expect(held.agreement.remote).toBeUndefined()
    expect(leg.place).toBeUndefined()
    const back = leg.answer(offer({ media: 'audio 5006 RTP/AVP 0' }))
    expect(back.agreement).toEqual({
      ...first.agreement,
      remote: { ...first.agreement.remote, port: 5006 },
      remoteRtcp: { ...first.agreement.remoteRtcp, port: 5007 },
    })
    expect(back.isHeld).toBe(false)
  })

  it('stays ended in our own offers, whose answers change nothing', () => {
    const leg = negotiationOf()
    leg.answer(offer({ media: 'audio 5004 RTP/AVP 0' }))
    const { sdp } = leg.answer(ended)
    expect(leg.offer()).toBe(sdp)
    expect(leg.acceptAnswer(ended)).toMatchObject({ isHeld: true, agreement: { maySend: false } })
  })

  it('is refused as the first one of a call', () => {
    expect(() => negotiationOf().answer(ended)).toThrow(expect.objectContaining({ warning: 304 }))
  })
})
