import { isIP } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { LocalAddress } from '../../network/local-address.ts'
import {
  chooseSection,
  codecsOf,
  directionTowards,
  spokenIn,
  packetMsFor,
  eventsOf,
  remoteOf,
  rtcpOf,
  toReceivable,
} from './far-end-section.ts'
import { parseSdp, type MediaSection } from './sdp.ts'

/** Returns a platform that is reached over IPv4 only, or over both versions. */
function localOf(...versions: readonly number[]): LocalAddress {
  return {
    general: '192.0.2.1',
    towards: () => '192.0.2.1',
    serves: (address) => versions.includes(isIP(address)),
  }
}

const both = localOf(4, 6)

function sdpOf(lines: readonly string[], session: readonly string[] = ['c=IN IP4 198.51.100.9']): string {
  return ['v=0', 'o=- 1 1 IN IP4 198.51.100.9', 's=-', ...session, 't=0 0', ...lines, ''].join('\r\n')
}

function sectionOf(...lines: readonly string[]): MediaSection {
  const [section] = parseSdp(sdpOf(['m=audio 5004 RTP/AVP 0 8', ...lines])).sections
  if (section === undefined) throw new Error('no section')
  return section
}

const choose = (lines: readonly string[], local = both, session?: readonly string[]) =>
  chooseSection(parseSdp(sdpOf(lines, session)), local)

describe('the line that is taken', () => {
  it.each([
    ['the first audio line', ['m=audio 5004 RTP/AVP 0', 'm=audio 5006 RTP/AVP 0'], 5004],
    ['not a video line', ['m=video 5002 RTP/AVP 96', 'm=audio 5004 RTP/AVP 0'], 5004],
    ['not one that is switched off', ['m=audio 0 RTP/AVP 0', 'm=audio 5004 RTP/AVP 0'], 5004],
    ['not an encrypted one without keys', ['m=audio 5002 RTP/SAVP 0', 'm=audio 5004 RTP/AVP 0'], 5004],
    ['one with feedback', ['m=audio 5004 RTP/AVPF 0'], 5004],
    ['not one without our codecs', ['m=audio 5002 RTP/AVP 18', 'm=audio 5004 RTP/AVP 8'], 5004],
  ])('is %s', (_what, lines, port) => {
    expect(choose(lines).section.port).toBe(port)
  })

  it.each([
    ['no audio at all', ['m=video 5002 RTP/AVP 96'], 'the SDP offers no audio stream'],
    ['all switched off', ['m=audio 0 RTP/AVP 0'], 'the SDP offers no audio stream'],
    ['a port that there is not', ['m=audio 70000 RTP/AVP 0'], 'the audio port of the SDP is out of range'],
    ['encryption without keys', ['m=audio 5004 RTP/SAVP 0'], 'RTP/SAVP without a key'],
    ['a codec that is not served', ['m=audio 5004 RTP/AVP 3'], 'its codecs are: GSM/8000'],
    [
      'the objection to the first of several',
      ['m=audio 5002 RTP/AVP 3', 'm=audio 5004 RTP/AVP 18'],
      'GSM/8000',
    ],
  ])('is missing, and the refusal names %s', (_what, lines, sentence) => {
    expect(() => choose(lines)).toThrow(sentence)
  })

  it.each([
    ['no address', ['c=IN IP4 phone.example'], 'names no IP address'],
    ['an address of a version that is not served', ['c=IN IP6 2001:db8::9'], 'offers IPv6 media'],
    ['a group', ['c=IN IP4 239.1.2.3'], 'not a unicast address'],
  ])('is refused for %s', (_what, session, sentence) => {
    expect(() => choose(['m=audio 5004 RTP/AVP 0'], localOf(4), session)).toThrow(sentence)
  })

  it('has the first of its addresses that is served', () => {
    const lines = ['m=audio 5004 RTP/AVP 0', 'c=IN IP6 2001:db8::9', 'c=IN IP4 198.51.100.7']
    expect(choose(lines, localOf(4)).address).toBe('198.51.100.7')
    expect(choose(lines, both).address).toBe('2001:db8::9')
  })
})

describe('where the far end wants its media', () => {
  it.each([
    ['c=IN IP4 198.51.100.9', { address: '198.51.100.9', port: 5004 }],
    ['c=IN IP4 0.0.0.0', undefined],
    ['c=IN IP6 ::', undefined],
  ])('with %s is %j', (session, expected) => {
    expect(remoteOf(choose(['m=audio 5004 RTP/AVP 0'], both, [session]))).toEqual(expected)
  })

  it.each([
    ['', { address: '198.51.100.9', port: 5005 }],
    ['a=rtcp:6001', { address: '198.51.100.9', port: 6001 }],
    ['a=rtcp:6001 IN IP4 198.51.100.77', { address: '198.51.100.77', port: 6001 }],
    ['a=rtcp:6001 IN IP6 2001:db8::7', { address: '198.51.100.9', port: 6001 }],
    ['a=rtcp:6001 IN IP4 239.1.2.3', { address: '198.51.100.9', port: 6001 }],
    ['a=rtcp:0', { address: '198.51.100.9', port: 5005 }],
  ])('and its reports, with "%s", is %j', (line, expected) => {
    const section = sectionOf(...(line === '' ? [] : [line]))
    expect(rtcpOf(section, { address: '198.51.100.9', port: 5004 })).toEqual(expected)
  })

  it.each([[], ['a=rtcp:0'], ['a=rtcp:70000']])(
    'and its reports is never past the last port, with %j',
    (...lines) => {
      expect(rtcpOf(sectionOf(...lines), { address: '198.51.100.9', port: 65_535 })?.port).toBe(65_535)
    },
  )

  it('and its reports is nowhere while it holds without an address', () => {
    expect(rtcpOf(sectionOf('a=rtcp:6001'), undefined)).toBeUndefined()
  })
})

describe('our direction', () => {
  const somewhere = { address: '198.51.100.9', port: 5004 }
  it.each([
    ['sendrecv', 'sendrecv', 'recvonly'],
    ['sendonly', 'recvonly', 'recvonly'],
    ['recvonly', 'sendonly', 'inactive'],
    ['inactive', 'inactive', 'inactive'],
  ] as const)('to %s is %s, and %s where there is no address to send to', (theirs, ours, withoutAddress) => {
    const section = sectionOf(`a=${theirs}`)
    expect(directionTowards(section, somewhere)).toBe(ours)
    expect(directionTowards(section, undefined)).toBe(withoutAddress)
  })
})

describe('the formats of a line', () => {
  it('are laws in the order of preference, in the numbers of the far end', () => {
    const [section] = parseSdp(sdpOf(['m=audio 5004 RTP/AVP 8 97 0', 'a=rtpmap:97 PCMU/8000'])).sections
    expect(section === undefined ? [] : spokenIn(section)).toEqual([
      { encoding: 'PCMA', payloadType: 8 },
      { encoding: 'PCMU', payloadType: 97 },
      { encoding: 'PCMU', payloadType: 0 },
    ])
  })

  it('include no law with another clock rate, and events in each clock rate of a codec', () => {
    const lines = [
      'a=rtpmap:98 PCMA/16000',
      'a=rtpmap:100 telephone-event/16000',
      'a=rtpmap:101 telephone-event/8000',
    ]
    const [section] = parseSdp(sdpOf(['m=audio 5004 RTP/AVP 98 100 101', ...lines])).sections
    expect(section === undefined ? undefined : spokenIn(section)).toEqual([])
    expect(section === undefined ? undefined : eventsOf(section, 'PCMA')).toEqual([
      { payloadType: 101, clockRate: 8000 },
    ])
  })

  const formatsOf = (payloads: string, ...maps: readonly string[]) => {
    const lines = [`m=audio 5004 RTP/AVP ${payloads}`, ...maps.map((map) => `a=rtpmap:${map}`)]
    const [section] = parseSdp(sdpOf(lines)).sections
    if (section === undefined) throw new Error('it has no line')
    const codecs = spokenIn(section)
    return { codecs, events: eventsOf(section, codecs[0]?.encoding ?? 'PCMU') }
  }

  it.each([
    ['the foreign rate first', ['101 telephone-event/16000', '101 telephone-event/8000'], 8000],
    ['the foreign rate last', ['101 telephone-event/8000', '101 telephone-event/16000'], 8000],
    ['the rate of another codec first', ['101 telephone-event/48000', '101 telephone-event/8000'], 8000],
    ['a codec that is not served', ['101 G729/8000', '101 telephone-event/8000'], 8000],
    ['no rate of the codec', ['101 telephone-event/48000', '101 telephone-event/16000'], 48_000],
  ])(
    'include events of the rate of the codec where one number is mapped several times: %s',
    (_, maps, clockRate) => {
      expect(formatsOf('8 101 101 18 0', ...maps).events).toEqual([{ payloadType: 101, clockRate }])
    },
  )

  it('have the rate of Opus for one number where Opus comes first', () => {
    const maps = ['96 opus/48000/2', '101 telephone-event/8000', '101 telephone-event/48000']
    expect(formatsOf('96 0 101', ...maps).events).toEqual([{ payloadType: 101, clockRate: 48_000 }])
  })

  it('are one codec for each number, the first that is supported', () => {
    const maps = [
      '97 G722/16000',
      '97 PCMU/8000',
      '97 PCMA/8000',
      '98 opus/48000/2',
      '98 telephone-event/8000',
    ]
    expect(formatsOf('97 98 97', ...maps)).toEqual({
      codecs: [
        { encoding: 'PCMU', payloadType: 97 },
        { encoding: 'OPUS', payloadType: 98 },
      ],
      events: [],
    })
  })

  it.each([
    ['9', 'G722', ['9 G722/16000']],
    ['9', 'G722', ['9 g722/8000/1']],
    ['9', 'G722', []],
    ['0', 'PCMU', ['0 PCMU/16000']],
    ['8', 'PCMA', ['8 PCMA/48000', '8 PCMA/8000']],
  ])(
    'have for the static number %s the codec %s, whatever clock rate is claimed: %j',
    (number, encoding, maps) => {
      expect(formatsOf(number, ...maps).codecs).toEqual([{ encoding, payloadType: Number(number) }])
    },
  )

  it('are named without events and comfort noise, no more than ten, and each no longer than a name is', () => {
    expect(codecsOf(sectionOf())).toBe('PCMU/8000, PCMA/8000')
    const many = Array.from({ length: 12 }, (_, index) => 96 + index)
    const maps = many.map((number) => `a=rtpmap:${number} ${'X'.repeat(40)}${number}/8000`)
    const [section] = parseSdp(sdpOf([`m=audio 5004 RTP/AVP 13 ${many.join(' ')}`, ...maps])).sections
    const named = section === undefined ? '' : codecsOf(section)
    expect(named.split(', ')).toHaveLength(10)
    expect(named).toMatch(/^X{24}\/8000, .* and more$/)
    const [nothing] = parseSdp(sdpOf(['m=audio 5004 RTP/AVP 13'])).sections
    expect(nothing === undefined ? '' : codecsOf(nothing)).toBe('none')
  })

  it.each([
    [undefined, 20],
    [150, 20],
    [20, 20],
    [19, 10],
    [10, 10],
    [9, 5],
    [1, 5],
  ])('are packed for a far end that takes %s ms at most in packets of %i ms', (maxptime, packetMs) => {
    const section = sectionOf(...(maxptime === undefined ? [] : [`a=maxptime:${maxptime}`]))
    expect(packetMsFor(section, 'PCMU')).toBe(packetMs)
    expect(packetMsFor(section, 'OPUS')).toBe(20)
  })

  it('may be sent with events and comfort noise, which needs no name', () => {
    const codecs = [{ encoding: 'PCMU', payloadType: 0 }] as const
    const lines = ['a=rtpmap:101 telephone-event/8000', 'a=rtpmap:102 CN/8000']
    const [section] = parseSdp(sdpOf(['m=audio 5004 RTP/AVP 0 101 102', ...lines])).sections
    expect(
      section === undefined
        ? undefined
        : toReceivable(section, { codecs, events: [{ payloadType: 96, clockRate: 8000 }], beside: 'PCMU' }),
    ).toEqual({
      codecs,
      events: [
        { payloadType: 96, clockRate: 8000 },
        { payloadType: 101, clockRate: 8000 },
      ],
      noises: [13, 102],
    })
  })
})
