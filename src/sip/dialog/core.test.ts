import { describe, expect, it } from 'vitest'
import { cleanReply, withHeaders } from './core.ts'

describe('cleanReply', () => {
  it('lets no value write a second line, a field of the stack or a name that is none', () => {
    const reply = cleanReply({
      status: 480,
      reason: 'Gone\r\nX: y',
      headers: [
        { name: 'X-Reason', value: 'one\r\nVia: two\u0000' },
        { name: 'Via', value: 'SIP/2.0/UDP evil' },
        { name: 'Call-ID', value: 'x' },
        { name: 'content-length', value: '9' },
        { name: 'a: b', value: 'c' },
        { name: 'contact', value: '<sip:a@b>' },
      ],
    })
    expect(reply).toEqual({
      status: 480,
      reason: 'Gone  X: y',
      headers: [
        { name: 'x-reason', value: 'one  Via: two' },
        { name: 'contact', value: '<sip:a@b>' },
      ],
    })
  })
})

describe('withHeaders', () => {
  it('adds only what a reply does not say itself', () => {
    const own = { status: 200, headers: [{ name: 'contact', value: 'own' }] }
    const added = [
      { name: 'contact', value: 'ours' },
      { name: 'server', value: 's' },
    ]
    expect(withHeaders(own, added).headers).toEqual([
      { name: 'server', value: 's' },
      { name: 'contact', value: 'own' },
    ])
  })
})
