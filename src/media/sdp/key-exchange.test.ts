// The keys of one leg, offered to many places and answered by one.
import { describe, expect, it } from 'vitest'
import { KeyExchange, type LocalKeys, type OfferedKeys } from './key-exchange.ts'
import { parseSdp, type MediaSection } from './sdp.ts'
import { masterBytesOf, offeredSuites, type SuiteName } from '../srtp/suites.ts'
import { toInline } from './crypto-lines.ts'

const required: OfferedKeys = { sdes: 'required' }
const possible: OfferedKeys = { sdes: 'possible' }

function keyOf(suite: SuiteName, octet: number): string {
  return toInline({ suite, key: new Uint8Array(masterBytesOf(suite)).fill(octet) }, false)
}

function sectionOf(profile: string, ...crypto: readonly string[]): MediaSection {
  const lines = ['v=0', 'o=- 1 1 IN IP4 192.0.2.9', 's=-', 'c=IN IP4 192.0.2.9', 't=0 0']
  const media = [`m=audio 5004 ${profile} 0`, ...crypto.map((line) => `a=crypto:${line}`)]
  const [section] = parseSdp([...lines, ...media, ''].join('\r\n')).sections
  if (section === undefined) throw new Error('it has no line')
  return section
}

const inlinesOf = ({ crypto }: LocalKeys): string[] => crypto.map((line) => toInline(line, false))

describe('an offer to a place', () => {
  it('is made again with the same keys, and to another place with others', () => {
    const keys = new KeyExchange()
    const first = keys.offerTo('192.0.2.1', required)
    expect(keys.offerTo('192.0.2.1', required)).toBe(first)
    const others = inlinesOf(keys.offerTo('192.0.2.2', required))
    expect(inlinesOf(first).filter((inline) => others.includes(inline))).toEqual([])
    expect(new Set([...inlinesOf(first), ...others]).size).toBe(2 * offeredSuites.length)
  })

  it.each([
    [required, possible],
    [possible, required],
    [required, undefined],
    [undefined, possible],
  ])('has new keys where it is %o at first and %o then', (before, after) => {
    const keys = new KeyExchange()
    const first = keys.offerTo('192.0.2.1', before)
    const second = keys.offerTo('192.0.2.1', after)
    expect(second).not.toBe(first)
    expect(inlinesOf(second).some((inline) => inlinesOf(first).includes(inline))).toBe(false)
    expect(keys.offeredTo('192.0.2.1')).toBe(second)
  })

  it('is remembered for a bounded number of places', () => {
    const keys = new KeyExchange()
    for (let place = 0; place < 100; place += 1) keys.offerTo(`place ${place}`, required)
    expect(keys.offeredTo('place 63')).toBeDefined()
    expect(keys.offeredTo('place 64')).toBeUndefined()
  })

  it('is forgotten when the far end makes one itself', () => {
    const keys = new KeyExchange()
    keys.offerTo('192.0.2.1', required)
    keys.answer(sectionOf('RTP/AVP'))
    expect(keys.offeredTo('192.0.2.1')).toBeUndefined()
  })
})

describe('an answer to our offer', () => {
  const suite = 'AES_CM_128_HMAC_SHA1_80'

  it('gives both keys, of which ours is the one of the line that it has chosen', () => {
    const keys = new KeyExchange()
    const ours = keys.offerTo('192.0.2.1', required)
    const chosen = ours.crypto.find((line) => line.suite === 'AES_CM_128_HMAC_SHA1_32')
    const section = sectionOf(
      'RTP/SAVP',
      `${chosen?.tag} ${chosen?.suite} ${keyOf('AES_CM_128_HMAC_SHA1_32', 7)}`,
    )
    const protection = keys.accept(section, ours)
    expect(protection).toEqual({
      form: 'sdes',
      send: { suite: 'AES_CM_128_HMAC_SHA1_32', key: chosen?.key },
      receive: { suite: 'AES_CM_128_HMAC_SHA1_32', key: new Uint8Array(30).fill(7) },
    })
    if (typeof protection !== 'object') throw new Error('it has no keys')
    keys.agreed(protection, ours, false)
    // From now on there is only the line in use.
    expect(keys.offerAgain().crypto).toMatchObject([{ tag: chosen?.tag, suite: 'AES_CM_128_HMAC_SHA1_32' }])
  })

  it.each([
    ['no encryption', required, sectionOf('RTP/AVP'), 'without any encryption'],
    [
      'the suite of another line',
      required,
      sectionOf('RTP/SAVP', `2 ${suite} ${keyOf(suite, 1)}`),
      'no key for any',
    ],
    [
      'a tag that was not offered',
      required,
      sectionOf('RTP/SAVP', `9 ${suite} ${keyOf(suite, 1)}`),
      'no key for any',
    ],
    [
      'a suite that is not known',
      possible,
      sectionOf('RTP/AVP', `1 NULL_SUITE ${keyOf(suite, 1)}`),
      'was not offered',
    ],
    [
      'keys that were not asked for',
      undefined,
      sectionOf('RTP/AVP', `1 ${suite} ${keyOf(suite, 1)}`),
      'was not offered',
    ],
    [
      'encryption that was not asked for',
      undefined,
      sectionOf('RTP/SAVP', `1 ${suite} ${keyOf(suite, 1)}`),
      'no key',
    ],
  ])('is refused with %s', (_, wanted, section, sentence) => {
    const keys = new KeyExchange()
    expect(keys.accept(section, keys.offerTo('192.0.2.1', wanted))).toContain(sentence)
  })

  it('may leave encryption out where that was left to it', () => {
    const keys = new KeyExchange()
    const ours = keys.offerTo('192.0.2.1', possible)
    expect(keys.accept(sectionOf('RTP/AVP'), ours)).toBeUndefined()
    keys.agreed(undefined, ours, false)
    expect(keys.offerAgain()).toEqual({ profile: 'RTP/AVP', crypto: [] })
  })
})
