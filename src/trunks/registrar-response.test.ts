import { describe, expect, it } from 'vitest'
import { sipResponse } from '../../test/support/scripted-engine/scripted-messages.ts'
import { grantedSeconds, minExpires, retryAfterSeconds, serviceRoutes } from './registrar-response.ts'

const contact = '<sip:me@192.0.2.1:5060>'

function response(...fields: readonly (readonly [string, string])[]) {
  return sipResponse(200, { headers: fields.map(([name, value]) => ({ name, value })) })
}

describe('what a registrar says', () => {
  it('grants what stands at this Contact, among those of other phones of the user', () => {
    const both = '<sip:me@198.51.100.1>;expires=50, "x" <sip:me@192.0.2.1;ob>;q=1;expires=600'
    expect(grantedSeconds(response(['contact', both], ['expires', '70']), contact, 3600)).toBe(600)
  })

  it.each([
    ['<sips:me@192.0.2.1:5061>', '<sips:me@192.0.2.1>'],
    ['<sip:me@192.0.2.1:5061;transport=tls>', '<sip:me@192.0.2.1;transport=TLS>'],
  ])('finds %s as %s, which leaves out the port of TLS', (own, echoed) => {
    const others = '<sip:me@192.0.2.1:5060>;expires=50'
    expect(grantedSeconds(response(['contact', `${others}, ${echoed};expires=600`]), own, 3600)).toBe(600)
  })

  it.each([
    ['of the one Contact, whose address a proxy has rewritten', '<sip:me@203.0.113.5:1024>;expires=60', 60],
    ['of no other phone', '<sip:me@203.0.113.5>;expires=60, <sip:me@203.0.113.6>;expires=90', 3600],
    ['of no other user', '<sip:you@203.0.113.5>;expires=60', 3600],
  ])('grants the time %s', (_what, listed, seconds) => {
    expect(grantedSeconds(response(['contact', listed]), contact, 3600)).toBe(seconds)
  })

  it.each([
    ['Expires where the Contact has none', response(['contact', contact], ['expires', '70']), 70],
    ['what was asked for where it says nothing', response(), 3600],
    ['what was asked for where it says no number', response(['expires', 'soon']), 3600],
    ['a day at most', response(['expires', '4294967295']), 86_400],
  ])('grants %s', (_what, said, seconds) => {
    expect(grantedSeconds(said, contact, 3600)).toBe(seconds)
  })

  it('names the least that it takes, unless that is more than a day', () => {
    expect(minExpires(response(['min-expires', '7200']))).toBe(7200)
    expect(minExpires(response(['min-expires', '999999']))).toBeUndefined()
    expect(minExpires(response())).toBeUndefined()
  })

  it('says when to come again, with a comment or without', () => {
    expect(retryAfterSeconds(response(['retry-after', '120 (at noon);duration=3']))).toBe(120)
    expect(retryAfterSeconds(response(['retry-after', 'later']))).toBeUndefined()
  })

  it('names the way of calls in order, without what is no route', () => {
    const said = response(
      ['service-route', '<sip:a.example;lr>, <sip:b.example;lr>, <sips:c.example;lr>'],
      ['service-route', '<tel:1>'],
      ['service-route', `<sip:${'x'.repeat(600)};lr>`],
    )
    expect(serviceRoutes(said)).toEqual(['<sip:a.example;lr>', '<sip:b.example;lr>', '<sips:c.example;lr>'])
  })
})
