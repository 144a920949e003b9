import { describe, expect, it } from 'vitest'
import { mayTryNext } from './failover.ts'

describe('a call that one place refused', () => {
  it.each([302, 408, 480, 500, 502, 503, 504, 580])('with %i is tried at the next', (status) => {
    expect(mayTryNext({ status, hadEarlyMedia: false })).toBe(true)
  })

  it.each([403, 404, 484, 486, 487, 488, 501, 505, 600, 603, 604, 607])('with %i is over', (status) => {
    expect(mayTryNext({ status, hadEarlyMedia: false })).toBe(false)
  })

  it.each([480, 503])('with %i after early media is over: the caller has heard the far end', (status) => {
    expect(mayTryNext({ status, hadEarlyMedia: true })).toBe(false)
  })
})
