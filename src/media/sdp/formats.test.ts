import { describe, expect, it } from 'vitest'
import { firstCodecOf } from './first-codec.ts'
import { eventFor, wishesOf } from './formats.ts'
import { Negotiation, type NegotiationOptions } from './negotiation.ts'

const local: NegotiationOptions['local'] = {
  general: '192.0.2.1',
  towards: () => '192.0.2.1',
  serves: () => true,
}
const negotiationOf = (options: Partial<NegotiationOptions> = {}): Negotiation =>
  new Negotiation({ sessionId: '1', port: 40_000, local, ...options })

/** Returns an audio line as a browser writes it. */
function wide(...lines: readonly string[]): string {
  const start = ['v=0', 'o=- 1 1 IN IP4 198.51.100.9', 's=-', 'c=IN IP4 198.51.100.9', 't=0 0']
  const maps = ['a=rtpmap:111 opus/48000/2', 'a=rtpmap:110 telephone-event/48000']
  const media = 'm=audio 5004 RTP/AVP 111 9 0 110 126'
  return [...start, media, ...maps, 'a=rtpmap:126 telephone-event/8000', ...lines, ''].join('\r\n')
}

describe('an offer with Opus first', () => {
  it('is answered with Opus in its number, its parameters and the events of its clock', () => {
    const { sdp, agreement } = negotiationOf().answer(wide('a=fmtp:111 minptime=10;useinbandfec=1'))
    expect(sdp).toContain('m=audio 40000 RTP/AVP 111 110\r\n')
    expect(sdp).toContain('a=rtpmap:111 opus/48000/2\r\n')
    expect(sdp).toContain(
      'a=fmtp:111 useinbandfec=1;usedtx=0;maxplaybackrate=16000;sprop-maxcapturerate=16000\r\n',
    )
    expect(sdp).toContain('a=rtpmap:110 telephone-event/48000\r\n')
    expect(agreement).toMatchObject({
      encoding: 'OPUS',
      send: {
        audio: 111,
        event: { payloadType: 110, clockRate: 48_000 },
        packetMs: 20,
        wishes: { fec: true },
      },
    })
  })

  it('may be sent G.722 and both kinds of events too, since far ends switch', () => {
    const { receive } = negotiationOf().answer(wide()).agreement
    expect(receive.codecs.map(({ encoding }) => encoding)).toEqual(['OPUS', 'G722', 'PCMU'])
    expect(receive.events.map(({ clockRate }) => clockRate)).toEqual([48_000, 8000])
  })
})

describe('our offer', () => {
  it('begins with the codec that answers the offer of the other side', () => {
    expect(firstCodecOf(wide())).toBe('OPUS')
    expect(firstCodecOf(wide().replace('111 9 0', '18 9 0'))).toBe('G722')
    expect(firstCodecOf(wide().replace('m=audio 5004', 'm=audio 0'))).toBeUndefined()
    expect(firstCodecOf('no SDP')).toBeUndefined()
  })

  it('to a carrier has the codecs of telephone networks only, and one kind of events', () => {
    const sdp = negotiationOf({ offers: ['PCMU', 'PCMA'], prefers: 'OPUS' }).offer()
    expect(sdp).toContain('m=audio 40000 RTP/AVP 0 8 101\r\n')
    expect(sdp).not.toMatch(/opus|48000/)
  })

  it('goes on with Opus and its events once that was agreed on', () => {
    const negotiation = negotiationOf()
    negotiation.answer(wide())
    expect(negotiation.offer()).toContain('m=audio 40000 RTP/AVP 111 110\r\n')
  })

  it('is taken with G.722, whose events have the clock of a telephone', () => {
    const negotiation = negotiationOf()
    negotiation.offer()
    const answer = wide().replace('111 9 0 110 126', '9 126')
    expect(negotiation.acceptAnswer(answer).agreement).toMatchObject({
      encoding: 'G722',
      send: { audio: 9, event: { payloadType: 126, clockRate: 8000 }, wishes: undefined },
    })
  })
})

describe('events', () => {
  const both = [8000, 48_000].map((clockRate) => ({ payloadType: 101, clockRate }))

  it.each([
    ['OPUS', both, 48_000],
    ['OPUS', both.slice(0, 1), 8000],
    ['PCMU', both, 8000],
    ['G722', both, 8000],
    // Browsers do not recognize the end of a key whose events have another clock rate than the codec.
    ['PCMU', both.slice(1), undefined],
  ] as const)('of %s are those of its clock, or of a telephone: %#', (encoding, events, clockRate) => {
    expect(eventFor(encoding, events)?.clockRate).toBe(clockRate)
  })
})

it.each([
  [undefined, { fec: false, maxBitrate: 48_000, isConstant: false }],
  ['useinbandfec=1; maxaveragebitrate=16000; CBR=1', { fec: true, maxBitrate: 16_000, isConstant: true }],
  ['useinbandfec=0;maxaveragebitrate=-5', { fec: false, maxBitrate: 48_000, isConstant: false }],
  ['maxaveragebitrate=99999999;x;=;cbr', { fec: false, maxBitrate: 48_000, isConstant: false }],
])('the fmtp line of Opus "%s" asks for %o', (parameters, wishes) => {
  expect(wishesOf('OPUS', parameters)).toEqual(wishes)
  expect(wishesOf('G722', parameters)).toBeUndefined()
})
