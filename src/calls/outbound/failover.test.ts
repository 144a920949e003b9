import { describe, expect, it } from 'vitest'
import { mayTryNext } from './failover.ts'

describe('a call that one place refused', () => {
  it.each([408, 404, 480, 500, 502, 503])('with %i is tried at the next', (status) => {
    expect(mayTryNext({ status, hadEarlyMedia: false })).toBe(true)
  })

  it.each([486, 487, 600, 603, 604])('with %i is over: the called party has spoken', (status) => {
    expect(mayTryNext({ status, hadEarlyMedia: false })).toBe(false)
  })

  it.each([404, 503])('with %i after early media is over: the caller has heard the far end', (status) => {
    expect(mayTryNext({ status, hadEarlyMedia: true })).toBe(false)
  })
})
