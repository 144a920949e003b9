import { describe, expect, it } from 'vitest'
import { afterPing, isAnswer, pingDelayMs, unknownHealth, type GatewayHealth } from './gateway-health.ts'

/** `+` for an answer, `-` for a miss. */
const after = (pings: string): GatewayHealth =>
  pings.split('').reduce((health, ping) => afterPing(health, ping === '+'), unknownHealth)

describe('a gateway', () => {
  it.each([
    ['', 'unknown'],
    ['+', 'up'],
    ['-', 'unknown'],
    ['--', 'down'],
    ['+-', 'up'],
    ['+-+-+-', 'up'],
    ['+--', 'down'],
    ['+--+', 'down'],
    ['+--+-+', 'down'],
    ['+--++', 'up'],
    ['+--++-', 'up'],
  ])('after %j is %s', (pings, condition) => {
    expect(after(pings).condition).toBe(condition)
  })

  it.each([
    ['+', 60],
    ['+-', 5],
    ['+--', 30],
    ['+--+', 5],
    ['+--++', 60],
  ])('after %j is asked again in %i s, a tenth sooner or later', (pings, seconds) => {
    expect(pingDelayMs(after(pings), 0.5)).toBeCloseTo(seconds * 1000)
    expect(pingDelayMs(after(pings), 0)).toBeCloseTo(seconds * 900)
    expect(pingDelayMs(after(pings), 1)).toBeCloseTo(seconds * 1100)
  })

  it('lives when it refuses OPTIONS, and not when it cannot serve', () => {
    const lives = [200, 403, 404, 405, 408, 483, 500, 501, 502, 503, 504, 603].filter((status) =>
      isAnswer({ isSilent: false, status }),
    )
    expect(lives).toEqual([200, 403, 404, 405, 483, 501, 603])
    expect(isAnswer({ isSilent: true, status: 408 })).toBe(false)
  })
})
