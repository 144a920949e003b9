import { describe, expect, it } from 'vitest'
import { checkCallLimits } from './call-limits.ts'

const owner = { account_sid: 'a', service_provider_sid: 'p' }
const outcomes = (limits: object, account: number, service_provider: number) =>
  checkCallLimits(limits, { account, service_provider }, owner).map(
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
  ])(
    '%j with %i calls of the account and %i of the provider before: %j',
    (limits, account, provider, expected) => {
      expect(outcomes(limits, account, provider)).toEqual(expected)
    },
  )

  it('name whose limit it is, and the limit', () => {
    const [mine] = checkCallLimits({ account: 1 }, { account: 1, service_provider: 1 }, owner)
    expect(mine?.refusal?.headers).toEqual([
      { name: 'x-account-sid', value: 'a' },
      { name: 'x-call-limit', value: '1' },
    ])
    const [theirs] = checkCallLimits({ service_provider: 1 }, { account: 0, service_provider: 1 }, owner)
    expect(theirs?.refusal?.headers).toEqual([
      { name: 'x-service-provider-sid', value: 'p' },
      { name: 'x-call-limit', value: '1' },
    ])
  })
})
