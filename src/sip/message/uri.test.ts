import { describe, expect, it } from 'vitest'
import { quickestMs } from '../../../test/support/cpu.ts'
import { AppError } from '../../lib/errors.ts'
import {
  areUrisEqual,
  escapeUser,
  parseUri,
  serializeUri,
  tryParseUri,
  unescapeUri,
  schemeOf,
  serializeHostPort,
  telephoneNumber,
} from './uri.ts'

describe('parseUri', () => {
  it('splits a SIP URI into its parts', () => {
    expect(
      parseUri('sips:alice:secret@Example.COM:5061;transport=TCP;lr?subject=a%20b&priority=urgent'),
    ).toEqual({
      scheme: 'sips',
      user: 'alice',
      password: 'secret',
      host: 'example.com',
      port: 5061,
      params: new Map([
        ['transport', 'TCP'],
        ['lr', undefined],
      ]),
      headers: new Map([
        ['subject', 'a%20b'],
        ['priority', 'urgent'],
      ]),
    })
  })

  it.each([
    ['sip:alice@mail.example@pbx.example:5070;transport=tcp', 'alice%40mail.example', 'pbx.example'],
    ['sip:alice@mail.example@pbx.example?subject=a', 'alice%40mail.example', 'pbx.example'],
    ['sip:a;x=1@mail.example@pbx.example', 'a;x=1%40mail.example', 'pbx.example'],
    ['sip:alice:pass@pbx.example', 'alice', 'pbx.example'],
    ['sip:alice@pbx.example;maddr=a@b', undefined, undefined],
  ])('takes the last @ before the host for the end of the user: %s', (text, user, host) => {
    const uri = tryParseUri(text)
    expect(uri).toEqual(user === undefined ? undefined : expect.objectContaining({ user, host }))
  })

  it.each([
    ['sip:a@b;', 'sip:a@b'],
    ['sip:a@b;;lr;', 'sip:a@b;lr'],
    ['tel:+1;;x=y', 'tel:+1;x=y'],
  ])('passes over empty parameters: %s is %s', (text, plain) => {
    expect(serializeUri(parseUri(text))).toBe(plain)
  })

  it('reads IPv6 hosts with and without a port', () => {
    expect(parseUri('sip:a@[2001:DB8::10]:5070')).toMatchObject({ host: '2001:db8::10', port: 5070 })
    expect(parseUri('sip:[::1]')).toMatchObject({ host: '::1' })
  })

  it('reads tel URIs with visual separators and parameters', () => {
    expect(parseUri('tel:+1-201-555-0123;ext=5')).toMatchObject({ number: '+1-201-555-0123' })
    expect(parseUri('tel:7042;phone-context=example.com')).toMatchObject({ number: '7042' })
  })

  it.each([
    'sip:a@b',
    'sip:b',
    'sips:a%40x@b:5061;transport=tls',
    'sip:user;par=u%40example.net@example.com',
    'sip:[2001:db8::9:1]:5070;lr',
    'sip:a@b?x=y&z=',
    'sip:%00@host5.example.com',
    'tel:+1-201-555-0123;ext=5',
    'sip:*72@pbx_1.example',
    'sip:#31#0123@b',
  ])('writes %s as it was read', (text) => {
    expect(serializeUri(parseUri(text))).toBe(text)
  })

  it.each([
    '',
    'a@b',
    'http://example.com',
    'sip:',
    'sip:@b',
    'sip:a@',
    'sip:a@b@',
    'sip:a b@c',
    'sip:a@b:port',
    'sip:a@b:70000',
    'sip:a@-b',
    'sip:a@b..c',
    'sip:a@[::1',
    'sip:a@[fe80::1%25eth0]',
    'sip:a@[1.2.3.4]',
    'sip:a%4@b',
    'sip:a@b;x;x',
    'sip:a@b;x=%zz',
    'sip:a@b?x',
    'sip:<a>@b',
    'tel:',
    'tel:+',
    'tel:xyz',
    `sip:a@${'b'.repeat(300)}`,
  ])('refuses %j', (text) => {
    expect(() => parseUri(text)).toThrow(AppError)
  })

  it.each(['1', '+1', 'A', '(', '+('])('refuses a tel URI with thousands of %s in linear time', (start) => {
    const uri = `tel:${start}${start.slice(-1).repeat(8000)}x`
    const refuse = (): void => expect(() => parseUri(uri)).toThrow(AppError)
    expect(quickestMs(refuse, 20)).toBeLessThan(20)
  })
})

describe('areUrisEqual', () => {
  // The examples of RFC 3261 §19.1.4.
  it.each([
    ['sip:%61lice@atlanta.com;transport=TCP', 'sip:alice@AtLanTa.CoM;Transport=tcp'],
    ['sip:carol@chicago.com', 'sip:carol@chicago.com;newparam=5'],
    ['sip:carol@chicago.com;security=on', 'sip:carol@chicago.com;newparam=5'],
    [
      'sip:biloxi.com;transport=tcp;method=REGISTER?to=sip:bob%40biloxi.com',
      'sip:biloxi.com;method=REGISTER;transport=tcp?to=sip:bob%40biloxi.com',
    ],
    [
      'sip:alice@atlanta.com?subject=project%20x&priority=urgent',
      'sip:alice@atlanta.com?priority=urgent&subject=project%20x',
    ],
    ['tel:+1-201-555-0123', 'tel:+12015550123'],
    ['tel:(0123)a', 'tel:0123A'],
    ['tel:12;ext=1;phone-context=B.example', 'tel:12;phone-context=b.example;ext=1'],
  ])('%s equals %s', (a, b) => {
    expect(areUrisEqual(parseUri(a), parseUri(b))).toBe(true)
    expect(areUrisEqual(parseUri(b), parseUri(a))).toBe(true)
  })

  it.each([
    ['SIP:ALICE@AtLanTa.CoM;Transport=udp', 'sip:alice@AtLanTa.CoM;Transport=UDP'],
    ['sip:bob@biloxi.com', 'sip:bob@biloxi.com:5060'],
    ['sip:bob@biloxi.com', 'sip:bob@biloxi.com;transport=udp'],
    ['sip:bob@biloxi.com', 'sip:bob@biloxi.com:6000;transport=tcp'],
    ['sip:carol@chicago.com', 'sip:carol@chicago.com?Subject=next%20meeting'],
    ['sip:bob@phone21.boxesbybob.com', 'sip:bob@192.0.2.4'],
    ['sip:carol@chicago.com;security=on', 'sip:carol@chicago.com;security=off'],
    ['sip:a%3Bb@c', 'sip:a;b@c'],
    ['sip:a@c', 'sips:a@c'],
    ['sip:a@c', 'tel:12'],
    ['tel:12', 'tel:12;ext=1'],
    ['tel:12;ext=1', 'tel:12;ext=2'],
    ['tel:12;ext=1', 'tel:12;isub=1'],
    ['tel:12', 'tel:13'],
    ['sip:a:x@c', 'sip:a:y@c'],
    ['sip:a@c?x=1', 'sip:a@c?x=2'],
    ['sip:a@c;maddr=x', 'sip:a@c'],
    ['sip:a@c;user=phone', 'sip:a@c;user=ip'],
  ])('%s differs from %s', (a, b) => {
    expect(areUrisEqual(parseUri(a), parseUri(b))).toBe(false)
    expect(areUrisEqual(parseUri(b), parseUri(a))).toBe(false)
  })
})

describe('escapes', () => {
  it('undoes an escape once, and leaves what is no UTF-8', () => {
    expect(unescapeUri('v%61lue%25%34%31')).toBe('value%41')
    expect(unescapeUri('%ff')).toBe('%ff')
  })

  it('escapes what a user part cannot carry', () => {
    expect(escapeUser('a b@c;d+1')).toBe('a%20b%40c;d+1')
    expect(parseUri(`sip:${escapeUser('grüße "x"')}@b`)).toBeDefined()
    expect(escapeUser('a\ud800b')).toBe('a%EF%BF%BDb')
  })
})

describe('the telephone number of a URI', () => {
  it.each([
    ['+44-20-7946-0018', undefined, '+442079460018'],
    ['(020) 7946'.replace(' ', ''), undefined, '0207946'],
    // RFC 3966 §5.1.5: a local number within a country is the global one without its country code.
    ['20-7946-0018', '+44', '+442079460018'],
    ['2079460018', '+4-4', '+442079460018'],
    ['2079460018', '+44207', '2079460018'],
    ['2079460018', 'example.com', '2079460018'],
    ['123', '+44', '123'],
    ['*100#', '+44', '*100#'],
    ['123456789012345', '+44', '123456789012345'],
    ['12345678901234', '+44', '+4412345678901234'],
  ])('%s within %s is %s', (number, context, expected) => {
    expect(telephoneNumber(number, context)).toBe(expected)
  })
})

describe('the parts of a URI that others are written with', () => {
  it.each([
    [{ host: 'a.example' }, 'a.example'],
    [{ host: 'a.example', port: 5060 }, 'a.example:5060'],
    [{ host: '2001:db8::1' }, '[2001:db8::1]'],
    [{ host: '2001:db8::1', port: 5060 }, '[2001:db8::1]:5060'],
  ])('%o is %s', (place, expected) => {
    expect(serializeHostPort(place)).toBe(expected)
  })

  it.each([
    ['SIP:a@b', 'sip'],
    ['urn:service:sos', 'urn'],
    ['a+b-c.1:x', 'a+b-c.1'],
    ['1sip:a', undefined],
    ['alice', undefined],
    [':a', undefined],
  ])('the scheme of %s is %s', (text, expected) => {
    expect(schemeOf(text)).toBe(expected)
  })
})
