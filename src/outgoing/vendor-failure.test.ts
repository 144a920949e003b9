import { describe, expect, it } from 'vitest'
import { AppError, catalogue, type ErrorCode } from '../lib/errors.ts'
import { toReason, toVendorError, vendorRefusal, type VendorRefusal } from './vendor-failure.ts'

const refusal = (contentType: string, body: string, more: Partial<VendorRefusal> = {}): string =>
  vendorRefusal('bucket_failed', {
    vendor: 'acme',
    status: 400,
    contentType,
    body: Buffer.from(body),
    secrets: [],
    ...more,
  }).message

describe('the sentence about a vendor’s refusal', () => {
  it.each([
    [
      'JSON',
      'application/json; charset=utf-8',
      '{"error":{"code":400,"message":"No such voice"}}',
      'No such voice',
    ],
    ['JSON, flat', 'application/problem+json', '{"detail":"Try again"}', 'Try again'],
    [
      'XML',
      'application/xml',
      '<?xml version="1.0"?><Error><Code>X</Code><Message>A &lt;b&gt; &amp;lt; &quot;c&quot;</Message></Error>',
      'A <b> &lt; "c"',
    ],
    ['text', 'text/plain', ' several\r\n lines \u0000 of it', 'several lines of it'],
  ])('has the reason out of %s', (_form, contentType, body, reason) => {
    expect(refusal(contentType, body)).toBe(`acme responded with status 400: ${reason}`)
  })

  it.each([
    ['broken JSON', 'application/json', '{"message":'],
    ['JSON that is no document of theirs', 'application/json', '[1]'],
    ['XML without a message', 'text/xml', '<Error/>'],
    ['a page', 'text/html', '<h1>Bad gateway</h1>'],
    ['nothing', '', ''],
  ])('is about the status alone when the body is %s', (_form, contentType, body) => {
    expect(refusal(contentType, body)).toBe('acme responded with status 400')
  })

  it.each([
    [
      401,
      'acme refused the credential (status 401: no)',
      'Check the key of the credential, and what the vendor lets it do.',
    ],
    [
      403,
      'acme refused the credential (status 403: no)',
      'Check the key of the credential, and what the vendor lets it do.',
    ],
    [
      429,
      'acme refuses more requests for now (status 429: no)',
      'Raise the quota at the vendor, or ask for less at once.',
    ],
  ])('says what status %i is about, and its cure', (status, message, cure) => {
    const body = Buffer.from('no')
    const failure = vendorRefusal('bucket_failed', {
      vendor: 'acme',
      status,
      contentType: 'text/plain',
      body,
      secrets: [],
    })
    expect(failure).toMatchObject({ code: 'bucket_failed', message, cure })
  })

  it('hides every secret, wherever it stands and however long the text is', () => {
    const body = `${' '.repeat(5000)}the key s3cret-1 of s3cret-2 and s3cret-1`
    const shown = refusal('text/plain', body, { secrets: ['s3cret-1', 's3cret-2', 'a'] })
    expect(shown).toBe('acme responded with status 400: the key [hidden] of [hidden] and [hidden]')
  })
})

describe('a reason', () => {
  it('hides a secret of several lines', () => {
    expect(toReason('the key -----BEGIN\r\nabc\r\n is bad', ['-----BEGIN\nabc\n'])).toBe(
      'the key [hidden] is bad',
    )
  })

  it('is one short line', () => {
    expect(toReason('x'.repeat(1000), [])).toHaveLength(200)
    expect(toReason('a\r\nb\u202ec', [])).toBe('a b c')
  })
})

const hookCodes = (Object.keys(catalogue) as ErrorCode[]).filter((code) => code.startsWith('hook_'))

describe('a failed request to a vendor', () => {
  it('is reported as a failure of the vendor, with a cure that fits', () => {
    const cause = new AppError('hook_refused_address', 'acme is at a private address')
    const failure = toVendorError('bucket_failed', cause)
    expect(failure).toMatchObject({ code: 'bucket_failed', message: 'acme is at a private address', cause })
    expect(failure.cure).toContain('SWITCHHOOK_WEBHOOK_ALLOW')
  })

  it.each(hookCodes)('has no cure about a hook, after %s', (code) => {
    for (const own of ['speech_failed', 'bucket_failed'] as const)
      expect(toVendorError(own, new AppError(code, 'it failed')).cure).not.toMatch(/\bhook\b|verbs/)
  })

  it('stays what it is when it is something else', () => {
    const overloaded = new AppError('overloaded', 'too much')
    expect(toVendorError('speech_failed', overloaded)).toBe(overloaded)
    const reason = new Error('aborted')
    expect(toVendorError('speech_failed', reason)).toBe(reason)
  })
})
