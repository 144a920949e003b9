import { describe, expect, it } from 'vitest'
import { checkCallLimits } from './call-limits.ts'

const owner = { account_sid: 'a', service_provider_sid: 'p' }
const pool = { size: 100, percent: 80 }
const before = (account: number, service_provider: number) => ({
  before: { account, service_provider, held: account, all: service_provider },
  pool,
})
const outcomes = (limits: object, account: number, service_provider: number) =>
  checkCallLimits(limits, before(account, service_provider), owner).map(
    ({ outcome, refusal }) => refusal?.code ?? outcome,
  )

describe('call limits', () => {
  it.each([
    [{}, 9, 9, []],
    [{ account: 0, service_provider: 0 }, 9, 9, []],
    [{ account: 2 }, 0, 0, ['call 1 of 2']],
    [{ account: 2 }, 1, 5, ['call 2 of 2']],
    [{ account: 2 }, 2, 2, ['account_call_limit']],
    [{ service_provider: 3 }, 2, 3, ['service_provider_call_limit']],
    [{ account: 5, service_provider: 3 }, 1, 2, ['call 2 of 5', 'call 3 of 3']],
    [{ account: 5, service_provider: 3 }, 1, 3, ['call 2 of 5', 'service_provider_call_limit']],
    [{ account: 1, service_provider: 3 }, 1, 3, ['account_call_limit']],
    [{}, 79, 79, []],
    [{}, 80, 80, ['account_share']],
    [{ account: 0 }, 80, 80, ['account_share']],
    [{}, 0, 99, []],
    [{}, 0, 100, []],
    [{ service_provider: 99 }, 80, 80, ['call 81 of 99', 'account_share']],
    [{ account: 95 }, 80, 80, ['call 81 of 95']],
  ])(
    '%j with %i calls of the account and %i of the provider before: %j',
    (limits, account, provider, expected) => {
      expect(outcomes(limits, account, provider)).toEqual(expected)
    },
  )

  it('name whose limit it is, and the limit', () => {
    const [mine] = checkCallLimits({ account: 1 }, before(1, 1), owner)
    expect(mine?.refusal?.headers).toEqual([
      { name: 'x-account-sid', value: 'a' },
      { name: 'x-call-limit', value: '1' },
    ])
    const [theirs] = checkCallLimits({ service_provider: 1 }, before(0, 1), owner)
    expect(theirs?.refusal?.headers).toEqual([
      { name: 'x-service-provider-sid', value: 'p' },
      { name: 'x-call-limit', value: '1' },
    ])
  })
})
