import { describe, expect, it } from 'vitest'
import { parseSdp, writeSdp, type LocalAudio, type LocalSection } from './sdp.ts'

function sdpOf(lines: readonly string[]): string {
  return ['v=0', 'o=- 1 1 IN IP4 192.0.2.9', 's=-', 'c=IN IP4 192.0.2.9', 't=0 0', ...lines, ''].join('\r\n')
}

const audio: LocalAudio = {
  formats: [
    { encoding: 'PCMU', payloadType: 0 },
    { encoding: 'PCMA', payloadType: 8 },
  ],
  events: [{ payloadType: 101, clockRate: 8000 }],
  ptime: 20,
  direction: 'sendrecv',
  hasRtcpMux: false,
  profile: 'RTP/AVP',
  crypto: [],
}

function write(sections: readonly LocalSection[], version = 1): string[] {
  const local = { address: '192.0.2.1', port: 40_000 }
  return writeSdp({ sessionId: '9', version, origin: '192.0.2.5', local, sections }).split('\r\n')
}

describe('an SDP that is read', () => {
  it('has its lines with what the session says for all of them', () => {
    const { sections } = parseSdp(
      [
        'v=0',
        'o=- 1 1 IN IP4 192.0.2.9',
        's=-',
        'c=IN IP4 192.0.2.9',
        't=0 0',
        'a=sendonly',
        'm=audio 5004 RTP/AVP 0',
        'm=audio 5006 RTP/AVP 8',
        'c=IN IP4 192.0.2.10/127',
        'a=recvonly',
        '',
      ].join('\r\n'),
    )
    expect(sections).toMatchObject([
      { port: 5004, addresses: ['192.0.2.9'], direction: 'sendonly' },
      { port: 5006, addresses: ['192.0.2.10'], direction: 'recvonly' },
    ])
  })

  it.each([
    ['0', { payloadType: 0, encoding: 'PCMU', rate: 8000 }],
    ['18', { payloadType: 18, encoding: 'G729', rate: 8000 }],
    ['55', { payloadType: 55, encoding: 'payload type 55', rate: 0 }],
  ])('has a format for payload type %s without a line that names it', (payload, format) => {
    expect(parseSdp(sdpOf([`m=audio 5004 RTP/AVP ${payload}`])).sections[0]?.formats).toEqual([format])
  })

  it('believes an rtpmap before the static table, and no payload type that there is not', () => {
    const { sections } = parseSdp(sdpOf(['m=audio 5004 RTP/AVP 0 128 999 x', 'a=rtpmap:0 opus/48000/2']))
    expect(sections[0]?.formats).toEqual([{ payloadType: 0, encoding: 'OPUS', rate: 48_000 }])
  })

  it('is read with lines that end in LF alone', () => {
    const text = sdpOf(['m=audio 5004 RTP/AVP 0']).replaceAll('\r\n', '\n')
    expect(parseSdp(text).sections).toMatchObject([{ port: 5004, addresses: ['192.0.2.9'] }])
  })

  it('is read with spaces at the end of its lines, as some gateways write them', () => {
    const lines = ['m=audio 5004 RTP/AVP 0 ', 'a=rtpmap:0 PCMU/8000 ', 'a=rtcp-mux ', 'a=sendonly ']
    expect(parseSdp(sdpOf(lines)).sections).toMatchObject([
      { direction: 'sendonly', hasRtcpMux: true, formats: [{ encoding: 'PCMU', rate: 8000 }] },
    ])
  })

  it.each([
    ['a=maxptime:40', 40],
    ['a=maxptime:0', undefined],
    ['a=maxptime:-5', undefined],
  ])('takes %s for %s', (line, maxptime) => {
    expect(parseSdp(sdpOf(['m=audio 5004 RTP/AVP 0', line])).sections[0]?.maxptime).toBe(maxptime)
  })

  it('names the lines that are alternatives of each other (RFC 4091)', () => {
    const lines = [
      'a=group:ANAT 1 2',
      'm=audio 5004 RTP/AVP 0',
      'a=mid:1',
      'm=audio 5006 RTP/AVP 0',
      'a=mid:2',
    ]
    expect(parseSdp(sdpOf(lines))).toMatchObject({
      alternatives: [['1', '2']],
      sections: [{ mid: '1' }, { mid: '2' }],
    })
  })

  it.each([
    ['is too long', 'x'.repeat(40_000)],
    ['has too many lines of media', sdpOf(Array.from({ length: 17 }, () => 'm=audio 5004 RTP/AVP 0'))],
  ])('is refused when it %s', (_what, text) => {
    expect(() => parseSdp(text)).toThrow(expect.objectContaining({ code: 'media_not_acceptable' }))
  })

  it('is read without its lines that are longer than any it needs, or that it does not read', () => {
    const lines = [
      'm=audio 5004 RTP/AVP 0',
      `a=rtpmap:96 ${'X'.repeat(2_000)}/8000`,
      'a=ice-ufrag:abc',
      'a=recvonly',
    ]
    expect(parseSdp(sdpOf(lines)).sections).toMatchObject([{ direction: 'recvonly' }])
  })
})

describe('an SDP that is written', () => {
  it('names the session, our address and each format', () => {
    expect(write([audio])).toEqual([
      'v=0',
      'o=- 9 1 IN IP4 192.0.2.5',
      's=-',
      'c=IN IP4 192.0.2.1',
      't=0 0',
      'm=audio 40000 RTP/AVP 0 8 101',
      'a=rtpmap:0 PCMU/8000',
      'a=rtpmap:8 PCMA/8000',
      'a=rtpmap:101 telephone-event/8000',
      'a=fmtp:101 0-15',
      'a=ptime:20',
      'a=maxptime:150',
      'a=sendrecv',
      '',
    ])
  })

  it('is read back as it was written', () => {
    const [refusedLine] = parseSdp(sdpOf(['m=video 5002 RTP/AVP 96', 'a=rtpmap:96 VP8/90000'])).sections
    if (refusedLine === undefined) throw new Error('no line')
    const text = write([
      { ...audio, direction: 'sendonly', hasRtcpMux: true },
      { refused: refusedLine },
    ]).join('\r\n')
    expect(parseSdp(text).sections).toMatchObject([
      { type: 'audio', port: 40_000, direction: 'sendonly', hasRtcpMux: true, addresses: ['192.0.2.1'] },
      { type: 'video', port: 0 },
    ])
  })

  it('raises nothing but the version it is given', () => {
    const [first, second] = [write([audio], 1), write([audio], 2)]
    expect(second.filter((line, index) => line !== first[index])).toEqual(['o=- 9 2 IN IP4 192.0.2.5'])
  })

  it('has no telephone events where the far end has none', () => {
    expect(write([{ ...audio, events: [] }]).join('\n')).not.toContain('telephone-event')
  })
})
