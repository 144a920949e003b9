import { describe, expect, it } from 'vitest'
import { sipRequest, sipResponse } from '../../../test/support/scripted-engine/scripted-messages.ts'
import type { SipMessage } from '../../sip/message/message.ts'
import { readRemote, remoteText, toSipFact, toText } from './sip-text.ts'

const remote = { transport: 'tcp', address: '192.0.2.9', port: 5061 } as const
const factOf = (message: SipMessage, raw: string | Buffer = 'raw') =>
  toSipFact({ direction: 'sent', message, raw: Buffer.from(raw), remote })

describe('a message in the journal', () => {
  it('has its direction, its place, and what a ladder shows of it', () => {
    expect(factOf(sipRequest('BYE'))).toEqual({
      type: 'sip',
      direction: 'sent',
      summary: 'BYE',
      remote: 'tcp:192.0.2.9:5061',
      raw: 'raw',
    })
    expect(factOf(sipResponse(486)).summary).toBe('486 Busy Here')
  })

  it.each([
    [8192, 8192],
    [8193, 8192 + '[truncated]'.length],
  ])('of %i characters is kept with %i', (length, kept) => {
    expect(factOf(sipRequest('INVITE'), 'x'.repeat(length)).raw).toHaveLength(kept)
  })

  it.each(['authorization', 'proxy-authorization'])('has no %s, over however many lines', (name) => {
    const message = sipRequest('INVITE', { headers: [{ name, value: 'Digest' }] })
    const raw = `INVITE sip:a@b SIP/2.0\r\n${name}: Digest response="secret",\r\n nonce="secret"\r\nCSeq: 1 INVITE\r\n\r\n`
    expect(toText(message, Buffer.from(raw))).toBe(
      `INVITE sip:a@b SIP/2.0\r\n${name}: [redacted]\r\nCSeq: 1 INVITE\r\n\r\n`,
    )
  })

  it('has no keys of media, and is as long as it was', () => {
    const key = 'd0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj'
    const raw = `INVITE sip:a@b SIP/2.0\r\n\r\nv=0\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}|2^20|1:4;INLINE:${key}==|2:4\r\n`
    const shown = toText(sipRequest('INVITE'), Buffer.from(raw))
    expect(shown).not.toContain('d0Rm')
    expect(shown).toHaveLength(raw.length)
    expect(shown).toContain('a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:****')
  })

  it('without credentials is as it was, also where a body speaks of them', () => {
    const raw = 'MESSAGE sip:a@b SIP/2.0\r\n\r\nAuthorization: is a header\r\n'
    expect(toText(sipRequest('MESSAGE'), Buffer.from(raw))).toBe(raw)
  })
})

describe('a place in the journal', () => {
  it.each([
    ['udp', '192.0.2.9', false, '192.0.2.9:5061'],
    ['tcp', '192.0.2.9', true, '192.0.2.9:5061'],
    ['tls', '192.0.2.9', true, '192.0.2.9:5061'],
    ['wss', '192.0.2.9', true, '192.0.2.9:5061'],
    ['udp', '2001:db8::1', false, '2001:db8::1:5061'],
  ] as const)('by %s at %s is read as it was written', (transport, address, isStream, place) => {
    expect(readRemote(remoteText({ transport, address, port: 5061 }))).toEqual({ isStream, place })
  })

  it('by a transport that is not known counts as a datagram', () => {
    expect(readRemote('carrier-pigeon:192.0.2.9:5060')).toEqual({ isStream: false, place: '192.0.2.9:5060' })
  })
})
