import { describe, expect, it } from 'vitest'
import { parseTargetUri } from './target-uri.ts'

describe('a SIP URI that a client names', () => {
  it.each([
    ['sip:bob@example.com', 'example.com'],
    ['SIP:bob@EXAMPLE.com:5080;transport=tcp', 'example.com'],
    ['sip:192.0.2.1', '192.0.2.1'],
    ['sips:bob@example.com', 'example.com'],
  ])('%s is taken', (text, host) => {
    expect(parseTargetUri(text, 'to.sipUri').host).toBe(host)
  })

  it.each([
    ['tel:+4420', 'bad_request', 'to.proxy must be a SIP URI'],
    ['bob@example.com', 'bad_request', 'to.proxy must be a SIP URI'],
    ['', 'bad_request', 'to.proxy must be a SIP URI'],
  ])('%s is refused with %s, by the name of its field', (text, code, message) => {
    expect(() => parseTargetUri(text, 'to.proxy')).toThrow(expect.objectContaining({ code, message }))
  })
})
