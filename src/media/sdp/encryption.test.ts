// SRTP in offers and answers: the line that is chosen, the keys named to each far end, and refusals.
import { describe, expect, it } from 'vitest'
import type { Agreement, SdesProtection } from './agreement.ts'
import { Negotiation } from './negotiation.ts'

const named = 'AES_CM_128_HMAC_SHA1_80'
const short = 'AES_CM_128_HMAC_SHA1_32'
const draft = 'AES_CM_256_HMAC_SHA1_80'
const keyOf = (bytes: number): string => Buffer.alloc(bytes, 3).toString('base64')
const [k28, k44, k46] = [keyOf(28), keyOf(44), keyOf(46)]
const keys = ['d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj', 'WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz'] as const

function negotiation(): Negotiation {
  const ours = '192.0.2.1'
  const local = { general: ours, towards: () => ours, serves: () => true }
  const one = new Negotiation({ sessionId: '1', port: 40_000, local })
  one.face('198.51.100.9')
  return one
}

function sdpOf(...lines: readonly string[]): string {
  const start = ['v=0', 'o=- 1 1 IN IP4 198.51.100.9', 's=-', 'c=IN IP4 198.51.100.9', 't=0 0']
  return [...start, ...lines, ''].join('\r\n')
}

const crypto = (tag = 1, suite: string = named, key: string = keys[0]): string =>
  `a=crypto:${tag} ${suite} inline:${key}`
const encrypted = (...lines: readonly string[]): string => sdpOf('m=audio 5004 RTP/SAVP 0', ...lines)
const handshake = [
  `a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => 'AB').join(':')}`,
  'a=setup:actpass',
  'a=rtcp-mux',
]
const plain = sdpOf('m=audio 5004 RTP/AVP 0')
const cryptoIn = (sdp: string): string[] => sdp.match(/^a=crypto:.*$/gm) ?? []
const mediaIn = (sdp: string): string[] => sdp.match(/^m=.*$/gm) ?? []

function protectionOf({ agreement }: { readonly agreement: Agreement }): SdesProtection {
  if (agreement.protection.form !== 'sdes') throw new Error('the stream is plain')
  return agreement.protection
}

describe('an offer with keys', () => {
  it('is answered with a key of our own, under the tag and the suite of the line that was chosen', () => {
    const answered = negotiation().answer(encrypted(crypto(3)))
    const { send, receive } = protectionOf(answered)
    expect(mediaIn(answered.sdp)).toEqual(['m=audio 40000 RTP/SAVP 0'])
    expect(cryptoIn(answered.sdp)).toEqual([crypto(3, named, Buffer.from(send.key).toString('base64'))])
    expect(Buffer.from(receive.key).toString('base64')).toBe(keys[0])
    expect(Buffer.from(send.key)).not.toEqual(Buffer.from(receive.key))
    const other = negotiation().answer(encrypted(crypto(3)))
    expect(protectionOf(other).send.key).not.toEqual(send.key)
  })

  it.each([
    ['the long tag before the short one', [crypto(1, short), crypto(2)], 2, named],
    ['the short tag where there is nothing else', [crypto(1, short)], 1, short],
    ['the first of several that are as good', [crypto(5), crypto(6)], 5, named],
    ['the one without an MKI', [`${crypto(1)}|2^31|1:1`, crypto(2), crypto(3, short)], 2, named],
    ['the long tag with an MKI before the short one', [crypto(1, short), `${crypto(2)}|1:1`], 2, named],
    [
      'none that it does not speak',
      [crypto(1, 'F8_128_HMAC_SHA1_80'), `${crypto(2)} UNENCRYPTED_SRTCP`, crypto(3)],
      3,
      named,
    ],
    [
      'counter mode, which costs less, before AES-GCM',
      [crypto(1, 'AEAD_AES_256_GCM', k44), crypto(2)],
      2,
      named,
    ],
    [
      'AES-GCM before the short tag',
      [crypto(1, short), crypto(2, 'AEAD_AES_128_GCM', k28)],
      2,
      'AEAD_AES_128_GCM',
    ],
    ['AES-GCM alone', [crypto(1, 'AEAD_AES_256_GCM', k44)], 1, 'AEAD_AES_256_GCM'],
    ['the name of a draft, as it was offered', [crypto(4, draft, k46)], 4, draft],
    ['the name of a draft, in small letters too', [crypto(4, draft.toLowerCase(), k46)], 4, draft],
    ['the name of a draft before other suites', [crypto(1, draft, k46), crypto(2)], 1, draft],
    [
      'the short tag by the name of a draft',
      [crypto(1, `${draft.slice(0, -2)}32`, k46)],
      1,
      `${draft.slice(0, -2)}32`,
    ],
  ])('has chosen %s', (_, lines, tag, suite) => {
    const [line] = cryptoIn(negotiation().answer(encrypted(...lines)).sdp)
    expect(line).toMatch(new RegExp(`^a=crypto:${tag} ${suite} inline:`))
  })

  it.each([
    ['before a plain line', ['m=audio 5004 RTP/SAVP 0', crypto(), 'm=audio 5006 RTP/AVP 0']],
    ['behind a plain line', ['m=audio 5006 RTP/AVP 0', 'm=audio 5004 RTP/SAVP 0', crypto()]],
  ])('is accepted %s, which is refused', (_, lines) => {
    const answered = negotiation().answer(sdpOf(...lines))
    expect(protectionOf(answered).receive.suite).toBe(named)
    expect(answered.agreement.remote?.port).toBe(5004)
    expect(mediaIn(answered.sdp).toSorted()).toEqual(['m=audio 0 RTP/AVP 0', 'm=audio 40000 RTP/SAVP 0'])
  })

  it('leaves the choice to us in a plain line, as many phones intend it', () => {
    const answered = negotiation().answer(sdpOf('m=audio 5004 RTP/AVP 0', crypto()))
    expect(mediaIn(answered.sdp)).toEqual(['m=audio 40000 RTP/AVP 0'])
    expect(cryptoIn(answered.sdp)).toHaveLength(1)
    expect(protectionOf(answered).receive.suite).toBe(named)
    const without = negotiation().answer(sdpOf('m=audio 5004 RTP/AVP 0', crypto(1, 'F8_128_HMAC_SHA1_80')))
    expect(without.agreement.protection).toEqual({ form: 'plain' })
    expect(cryptoIn(without.sdp)).toEqual([])
  })

  it('is answered with the MKI that it has, for each direction, and keeps its key while the far end keeps its own', () => {
    const leg = negotiation()
    const answered = leg.answer(encrypted(`${crypto(1)}|2^31|1:4`))
    const { send, receive } = protectionOf(answered)
    expect([send, receive].map(({ mki }) => Buffer.from(mki ?? []).toString('hex'))).toEqual([
      '00000001',
      '00000001',
    ])
    expect(cryptoIn(answered.sdp)[0]).toMatch(/^a=crypto:1 \S+ inline:[\w+/]{40}\|1:4$/)
    expect(protectionOf(leg.answer(encrypted(`${crypto(1)}|2^31|1:4`)))).toEqual({
      form: 'sdes',
      send,
      receive,
    })
    expect(protectionOf(leg.answer(encrypted(`${crypto(1)}|2^31|2:4`))).send.key).not.toEqual(send.key)
    expect(protectionOf(leg.answer(encrypted(crypto(1)))).send.mki).toBeUndefined()
  })

  it.each([
    [draft, k46, 'AES_256_CM_HMAC_SHA1_80'],
    ['AES_CM_256_HMAC_SHA1_32', k46, 'AES_256_CM_HMAC_SHA1_32'],
    ['AEAD_AES_256_GCM', k44, 'AEAD_AES_256_GCM'],
  ])('under the name %s keeps the name and the key in a later offer of either side', (name, key, suite) => {
    const leg = negotiation()
    const first = leg.answer(encrypted(crypto(2, name, key)))
    expect(protectionOf(first).receive.suite).toBe(suite)
    expect(cryptoIn(leg.answer(encrypted(crypto(2, name, key))).sdp)).toEqual(cryptoIn(first.sdp))
    expect(cryptoIn(leg.offer())).toEqual(cryptoIn(first.sdp))
    expect(cryptoIn(first.sdp)[0]).toContain(`a=crypto:2 ${name} `)
  })

  it('may have feedback', () => {
    const answered = negotiation().answer(sdpOf('m=audio 5004 RTP/SAVPF 0', crypto()))
    expect(mediaIn(answered.sdp)).toEqual(['m=audio 40000 RTP/SAVPF 0'])
  })

  it('is padded as the far end pads', () => {
    const key = Buffer.alloc(46, 1).toString('base64')
    for (const [theirs, ending] of [
      [key, /==$/],
      [key.replaceAll('=', ''), /[^=]$/],
    ] as const) {
      const [line] = cryptoIn(
        negotiation().answer(encrypted(crypto(1, 'AES_256_CM_HMAC_SHA1_80', theirs))).sdp,
      )
      expect(line).toMatch(ending)
    }
  })

  it.each([
    ['no key', [], 'it has no a=crypto line', 'an a=crypto line of AES_CM_128_HMAC_SHA1_80 or a fingerprint'],
    [
      'none that is usable',
      [crypto(1, 'F8_128_HMAC_SHA1_80'), `${crypto(2)}|1:8`],
      `F8_128_HMAC_SHA1_80, ${named} with an MKI that is not served`,
      'Send an MKI of one to 4 octets',
    ],
    ['a short key', [crypto(1, named, 'AAAA')], 'with a key of 3 octets', 'Send 30 octets in base64'],
  ])('is refused where it has %s, by name and with its cure', (_, lines, sentence, cure) => {
    expect(() => negotiation().answer(encrypted(...lines))).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(sentence),
        cure: expect.stringContaining(cure),
      }),
    )
  })
})

describe('a later offer of the far end', () => {
  it('with the key in use changes none, on hold as well', () => {
    const leg = negotiation()
    const first = protectionOf(leg.answer(encrypted(crypto())))
    const held = leg.answer(encrypted('a=sendonly', crypto(7, named, keys[1]), crypto(8)))
    expect(protectionOf(held)).toEqual(first)
    expect(cryptoIn(held.sdp)[0]).toContain('a=crypto:8 ')
  })

  it('with a new key is answered with a new one', () => {
    const leg = negotiation()
    const first = protectionOf(leg.answer(encrypted(crypto())))
    const next = protectionOf(leg.answer(encrypted(crypto(1, named, keys[1]))))
    expect(Buffer.from(next.receive.key).toString('base64')).toBe(keys[1])
    expect(next.send.key).not.toEqual(first.send.key)
  })

  it('may be plain, and then encrypted again', () => {
    const leg = negotiation()
    const first = protectionOf(leg.answer(encrypted(crypto())))
    expect(leg.answer(plain).agreement.protection).toEqual({ form: 'plain' })
    expect(protectionOf(leg.answer(encrypted(crypto()))).send.key).not.toEqual(first.send.key)
  })
})

describe('our offer', () => {
  const required = { sdes: 'required' } as const
  const possible = { sdes: 'possible' } as const
  const accepted = (leg: Negotiation, ...lines: readonly string[]) => leg.acceptAnswer(sdpOf(...lines))

  it('of SRTP names a key for each suite, the usual one first, and none twice', () => {
    const leg = negotiation()
    const offers = [leg.offer({ protection: required }), negotiation().offer({ protection: required })]
    expect(offers[0]).toContain('m=audio 40000 RTP/SAVP ')
    expect(cryptoIn(offers[0] ?? '').map((line) => line.split(' ')[1])).toEqual([
      named,
      'AES_256_CM_HMAC_SHA1_80',
      short,
      'AEAD_AES_256_GCM',
      'AEAD_AES_128_GCM',
    ])
    const inlines = offers.flatMap(cryptoIn).map((line) => line.split(' ')[2])
    expect(new Set(inlines).size).toBe(10)
  })

  it.each([
    [true, true],
    [false, false],
  ])('has whole base64 where the gateway wants that: %s', (padsKeys, isPadded) => {
    const [, long = ''] = cryptoIn(negotiation().offer({ protection: { ...required, padsKeys } }))
    expect(long.endsWith('=')).toBe(isPadded)
  })

  it('is answered by a key for one of its lines, and repeated with the key in use later', () => {
    const leg = negotiation()
    const lines = cryptoIn(leg.offer({ protection: required }))
    const { send, receive } = protectionOf(
      accepted(leg, 'm=audio 5004 RTP/SAVP 0', crypto(3, short, keys[1])),
    )
    expect(lines[2]).toBe(crypto(3, short, Buffer.from(send.key).toString('base64')))
    expect(Buffer.from(receive.key).toString('base64')).toBe(keys[1])
    const again = leg.offer()
    expect(again).toContain('m=audio 40000 RTP/SAVP 0 ')
    expect(cryptoIn(again)).toEqual([lines[2]])
    // Its answer may have a new key.
    const later = protectionOf(accepted(leg, 'm=audio 5004 RTP/SAVP 0', crypto(3, short, keys[0])))
    expect(later.send).toEqual(send)
    expect(Buffer.from(later.receive.key).toString('base64')).toBe(keys[0])
  })

  it.each([
    [4, 'AEAD_AES_256_GCM', k44, 'AEAD_AES_256_GCM'],
    [5, 'AEAD_AES_128_GCM', k28, 'AEAD_AES_128_GCM'],
    [2, draft, k46, 'AES_256_CM_HMAC_SHA1_80'],
  ])('may be answered by line %i under the name %s', (tag, name, key, suite) => {
    const leg = negotiation()
    leg.offer({ protection: required })
    const { send, receive } = protectionOf(accepted(leg, 'm=audio 5004 RTP/SAVP 0', crypto(tag, name, key)))
    expect([send.suite, receive.suite]).toEqual([suite, suite])
    expect(send.key).toHaveLength(receive.key.length)
  })

  it('of keys keeps to keys where the answer has a fingerprint as well', () => {
    const leg = negotiation()
    leg.offer({ protection: required })
    const lines = [
      'm=audio 5004 RTP/SAVP 0',
      crypto(1),
      ...handshake,
      'a=ice-ufrag:abcd',
      `a=ice-pwd:${'p'.repeat(22)}`,
    ]
    const answered = accepted(leg, ...lines)
    expect(protectionOf(answered).receive.suite).toBe(named)
    expect([answered.path, answered.agreement.remote?.port]).toEqual([undefined, 5004])
    const other = negotiation()
    other.offer()
    expect(accepted(other, 'm=audio 5004 RTP/AVP 0', ...handshake).agreement.protection).toEqual({
      form: 'plain',
    })
  })

  it.each([
    ['no encryption', ['m=audio 5004 RTP/AVP 0'], 'answered without any encryption'],
    ['no key', ['m=audio 5004 RTP/SAVP 0'], 'without a key that can be used'],
    [
      'a key for a suite that was not offered under this tag',
      ['m=audio 5004 RTP/SAVP 0', crypto(1, short)],
      'no key for any',
    ],
    ['a tag that was not offered', ['m=audio 5004 RTP/SAVP 0', crypto(9)], 'no key for any'],
  ])('of SRTP is not fulfilled by an answer with %s', (_, lines, sentence) => {
    const leg = negotiation()
    leg.offer({ protection: required })
    expect(() => accepted(leg, ...lines)).toThrow(
      expect.objectContaining({ code: 'media_not_acceptable', message: expect.stringContaining(sentence) }),
    )
  })

  it('that leaves SRTP to the far end may be answered with it and without', () => {
    const with_ = negotiation()
    expect(with_.offer({ protection: possible })).toContain('m=audio 40000 RTP/AVP ')
    expect(protectionOf(accepted(with_, 'm=audio 5004 RTP/AVP 0', crypto(1))).receive.suite).toBe(named)
    const without = negotiation()
    without.offer({ protection: possible })
    expect(accepted(without, 'm=audio 5004 RTP/AVP 0').agreement.protection).toEqual({ form: 'plain' })
    expect(cryptoIn(without.offer())).toEqual([])
  })

  it('has keys of its own for each place, by which each is sent to', () => {
    const leg = negotiation()
    const offers = ['198.51.100.1', '198.51.100.2'].map((peer) => {
      leg.face(peer)
      return leg.offer({ protection: required })
    })
    expect(new Set(offers.flatMap(cryptoIn)).size).toBe(10)
    leg.face('198.51.100.1')
    const { send } = protectionOf(accepted(leg, 'm=audio 5004 RTP/SAVP 0', crypto(1)))
    expect(offers[0]).toContain(Buffer.from(send.key).toString('base64'))
  })

  it.each([
    ['first', [possible, undefined], 0],
    ['last', [undefined, possible], 1],
  ])(
    'to several behind one address is judged by what the one was sent that answers: %s',
    (_, offered, at) => {
      const leg = negotiation()
      for (const [branch, protection] of offered.entries()) {
        leg.face('198.51.100.1', branch)
        leg.offer({ protection })
      }
      leg.face('198.51.100.1', at)
      expect(protectionOf(accepted(leg, 'm=audio 5004 RTP/AVP 0', crypto())).receive.suite).toBe(named)
      const other = negotiation()
      for (const [branch, protection] of offered.entries()) {
        other.face('198.51.100.1', branch)
        other.offer({ protection })
      }
      other.face('198.51.100.1', 1 - at)
      expect(() => accepted(other, 'm=audio 5004 RTP/AVP 0', crypto())).toThrow('not offered')
    },
  )

  it('is not answered with a key where none was offered', () => {
    const leg = negotiation()
    leg.offer()
    expect(() => accepted(leg, 'm=audio 5004 RTP/AVP 0', crypto())).toThrow('not offered')
  })

  it('names no place of an encrypted far end to another one, which does not know its key', () => {
    const leg = negotiation()
    leg.answer(encrypted(crypto()))
    expect(leg.place).toBeUndefined()
    leg.answer(plain)
    expect(leg.place).toBeDefined()
  })
})
