import { describe, expect, it } from 'vitest'
import { AppError } from '../lib/errors.ts'
import { isWorthRetrying, parseHookUrl } from './hook-url.ts'

describe('parseHookUrl', () => {
  it.each([
    ['https://other.example.com/hook?a=b', 'https://other.example.com/hook?a=b'],
    ['https://app.example.com/a#rc=2&rp=5xx', 'https://app.example.com/a'],
  ])('reads %s as %s', (text, url) => expect(parseHookUrl(text).url).toBe(url))

  it.each([['menu'], ['/menu'], ['ftp://example.com/'], ['https://user:pw@example.com/'], ['']])(
    'refuses %j',
    (text) => expect(() => parseHookUrl(text)).toThrow(expect.objectContaining({ code: 'hook_bad_url' })),
  )

  it.each([
    ['', 0, ['ct']],
    ['#rc=2', 2, ['ct']],
    ['#rc=99&rp=all', 5, ['all']],
    ['#rc=-1&rp=rt', 0, ['rt']],
    ['#rc=x', 0, ['ct']],
    ['#rc=1.5', 0, ['ct']],
    ['#rc=3&rp=ct,5XX, 4xx', 3, ['ct', '4xx', '5xx']],
    ['#section', 0, ['ct']],
  ])('reads the fragment %j', (fragment, retries, on) => {
    const { retry } = parseHookUrl(`https://example.com/${fragment}`)
    expect(retry.retries).toBe(retries)
    expect([...retry.on]).toEqual(on)
  })
})

describe('isWorthRetrying', () => {
  const policy = (words: string) => parseHookUrl(`https://example.com/#rc=1&rp=${words}`).retry
  const status = (code: number) => new AppError('hook_bad_status', 'x', { detail: { status: code } })

  it.each([
    ['ct', new AppError('hook_unreachable', 'x'), true],
    ['ct', new AppError('hook_timeout', 'x'), false],
    ['rt', new AppError('hook_timeout', 'x'), true],
    ['4xx', status(404), true],
    ['4xx', status(500), false],
    ['5xx', status(503), true],
    ['all', status(404), true],
    ['all', status(302), false],
    ['all', new AppError('hook_refused_address', 'x'), false],
    ['all', new AppError('hook_invalid_payload', 'x'), false],
  ])('with %s', (words, error, expected) => expect(isWorthRetrying(error, policy(words))).toBe(expected))
})
