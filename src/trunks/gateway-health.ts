// The health of a gateway, from its responses: two misses in a row take it out of service, two answers in a row bring
// it back.

export type GatewayCondition = 'unknown' | 'up' | 'down'

export interface GatewayHealth {
  readonly condition: GatewayCondition
  /** In a row. */
  readonly misses: number
  readonly answers: number
}

export const unknownHealth: GatewayHealth = { condition: 'unknown', misses: 0, answers: 0 }

const missesToLeave = 2
const answersToReturn = 2

export function afterPing(health: GatewayHealth, isAnswered: boolean): GatewayHealth {
  if (!isAnswered) {
    const misses = health.misses + 1
    return { condition: misses >= missesToLeave ? 'down' : health.condition, misses, answers: 0 }
  }
  const answers = health.answers + 1
  const isBack = health.condition !== 'down' || answers >= answersToReturn
  return { condition: isBack ? 'up' : 'down', misses: 0, answers }
}

const usualMs = 60_000
const downMs = 30_000
// A gateway whose condition is about to change is pinged again soon.
const soonMs = 5_000
const jitter = 0.1

/** Returns the time until the next ping. `random` is from 0 to 1. */
export function pingDelayMs({ condition, misses, answers }: GatewayHealth, random: number): number {
  const isTurning = condition === 'down' ? answers > 0 : misses > 0
  const delayMs = isTurning ? soonMs : condition === 'down' ? downMs : usualMs
  return delayMs * (1 - jitter + 2 * jitter * random)
}

// The SIP server behind the address cannot serve, or a proxy cannot reach it. Any other response, even a refusal, shows
// that the gateway is alive: many carriers respond to OPTIONS with 403, 404, 405 or 501.
const missed: ReadonlySet<number> = new Set([408, 500, 502, 503, 504])

export function isAnswer({
  isSilent,
  status,
}: {
  readonly isSilent: boolean
  readonly status: number
}): boolean {
  return !isSilent && !missed.has(status)
}
