import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { quickestMs } from '../../../test/support/cpu.ts'
import { Negotiation } from './negotiation.ts'

const local = { address: '192.0.2.1', port: 40_000 }

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
  return new Negotiation('1', local).answer(text)
}

const lines = (sdp: string): string[] => sdp.split('\r\n').filter((line) => line !== '')

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
      'a=sendrecv',
    ])
  })

  it.each([
    ['audio 5004 RTP/AVP 8 0', 'PCMA', 8],
    ['audio 5004 RTP/AVP 18 9 0 8', 'PCMU', 0],
    ['audio 5004 RTP/AVP 96 8', 'PCMA', 8],
    ['audio 5004/1 RTP/AVP 8', 'PCMA', 8],
    ['audio 5004 RTP/AVPF 0', 'PCMU', 0],
  ])('to "%s" takes %s', (media, law, payloadType) => {
    const { agreement } = answer(offer({ media }))
    expect(agreement).toMatchObject({ law, send: { audio: payloadType }, receive: { audio: payloadType } })
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
    expect(agreement).toMatchObject({ law: 'PCMA', send: { audio: 97, event: 112 } })
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

  it('takes the plain line of an offer that has an encrypted one too', () => {
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

  it('speaks IPv6 when we are reached over it', () => {
    const six = new Negotiation('1', { address: '2001:db8::1', port: 40_000 })
    const { sdp, agreement } = six.answer(offer({ connection: 'IN IP6 2001:db8::9' }))
    expect(sdp).toContain('c=IN IP6 2001:db8::1')
    expect(agreement.remote).toEqual({ address: '2001:db8::9', port: 5004 })
  })
})

describe('an offer is refused with media_not_acceptable', () => {
  it.each<[string, string]>([
    ['an empty body', ''],
    ['no SDP', 'hello'],
    ['only encryption', offer({ media: 'audio 5004 RTP/SAVP 0' })],
    ['only DTLS', offer({ media: 'audio 5004 UDP/TLS/RTP/SAVPF 0' })],
    ['no codec of ours', offer({ media: 'audio 5004 RTP/AVP 18 9' })],
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
    ['too much', offer({ lines: [`a=x:${'x'.repeat(40_000)}`] })],
    ['a broken media line', offer({ media: '!!!' })],
  ])('%s', (_name, text) => {
    expect(() => answer(text)).toThrow(expect.objectContaining({ code: 'media_not_acceptable' }))
  })

  it('and what was agreed before stays', () => {
    const negotiation = new Negotiation('1', local)
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
    const negotiation = new Negotiation('7', local)
    const version = (text: string): string | undefined =>
      /^o=- 7 (\d+)/m.exec(negotiation.answer(text).sdp)?.[1]
    expect(version(offer())).toBe('1')
    expect(version(offer())).toBe('1')
    expect(version(offer({ lines: ['a=sendonly'] }))).toBe('2')
    expect(version(offer({ lines: ['a=inactive'] }))).toBe('3')
    expect(version(offer())).toBe('4')
  })
})

describe('our offer', () => {
  it('has both laws and telephone events, and the answer decides', () => {
    const negotiation = new Negotiation('1', local)
    const text = negotiation.offer()
    expect(text).toContain('m=audio 40000 RTP/AVP 0 8 101')
    const { agreement, isHeld } = negotiation.acceptAnswer(
      offer({ media: 'audio 6000 RTP/AVP 8 96', lines: ['a=rtpmap:96 telephone-event/8000'] }),
    )
    expect(isHeld).toBe(false)
    expect(agreement).toMatchObject({
      law: 'PCMA',
      remote: { address: '198.51.100.9', port: 6000 },
      // We send what the far end chose and receive what we offered.
      send: { audio: 8, event: 96 },
      receive: { audio: 8, event: 101 },
    })
  })

  it('repeats what is in use and its lines when the session runs', () => {
    const negotiation = new Negotiation('1', local)
    negotiation.answer(offer({ media: 'video 5 RTP/AVP 96', lines: ['m=audio 5004 RTP/AVP 8'] }))
    const again = negotiation.offer()
    expect(lines(again).filter((line) => line.startsWith('m='))).toEqual([
      'm=video 0 RTP/AVP 96',
      'm=audio 40000 RTP/AVP 8',
    ])
    expect(again).toContain('o=- 1 1 ')
    const answered = offer({ media: 'video 0 RTP/AVP 96', lines: ['m=audio 5004 RTP/AVP 8'] })
    expect(negotiation.acceptAnswer(answered).agreement.law).toBe('PCMA')
  })

  it.each<[string, string]>([
    ['a refusal', offer({ media: 'audio 0 RTP/AVP 0' })],
    ['another codec', offer({ media: 'audio 5004 RTP/AVP 18' })],
    ['no line', 'v=0\r\no=- 1 1 IN IP4 1.2.3.4\r\ns=-\r\nt=0 0\r\n'],
  ])('is not met by %s', (_name, text) => {
    const negotiation = new Negotiation('1', local)
    negotiation.offer()
    expect(() => negotiation.acceptAnswer(text)).toThrow(
      expect.objectContaining({ code: 'media_not_acceptable' }),
    )
  })

  it('must come before its answer', () => {
    expect(() => new Negotiation('1', local).acceptAnswer(offer())).toThrow()
  })
})

describe('real phones', () => {
  it.each([
    ['baresip.sdp', 'PCMU', 101, { address: '127.0.0.1', port: 18_000 }, 18_001],
    ['linphone.sdp', 'PCMU', 101, { address: '192.168.1.20', port: 7078 }, 40_321],
    ['sipp.sdp', 'PCMU', undefined, { address: '127.0.0.1', port: 6000 }, 6001],
    ['carrier.sdp', 'PCMA', 96, { address: '203.0.113.40', port: 17_432 }, 17_433],
  ])('%s is answered with %s', (name, law, event, remote, rtcpPort) => {
    const { agreement, isHeld } = answer(fixture(name))
    expect(isHeld).toBe(false)
    expect(agreement).toMatchObject({ law, remote, send: { event }, remoteRtcp: { port: rtcpPort } })
  })

  it('browser.sdp is refused, as it wants encryption', () => {
    expect(() => answer(fixture('browser.sdp'))).toThrow(/another profile/)
  })
})
