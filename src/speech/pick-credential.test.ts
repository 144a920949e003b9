import { describe, expect, it } from 'vitest'
import { pickCredential } from './pick-credential.ts'

const own = (label: string | null, created_at = 1) => ({ account_sid: 'a', label, created_at })
const shared = (label: string | null, created_at = 1) => ({ account_sid: null, label, created_at })

describe('pickCredential', () => {
  it.each([
    ['the account’s with the label', 'x', [shared('x'), own(null), own('x')], own('x')],
    ['the account’s without one before the provider’s', 'x', [shared('x'), own(null)], own(null)],
    ['the provider’s with the label', 'x', [shared(null), shared('x')], shared('x')],
    ['the provider’s without one', 'x', [shared(null), own('y')], shared(null)],
    [
      'the account’s unlabelled when no label is asked for',
      null,
      [own('y'), shared(null), own(null)],
      own(null),
    ],
    ['the oldest of equals', null, [own(null, 3), own(null, 2), own(null, 4)], own(null, 2)],
    ['none with another label', 'x', [own('y'), shared('z')], undefined],
    ['none of none', null, [], undefined],
    ['none with a label when none is asked for', null, [own('y')], undefined],
  ])('takes %s', (_what, label, candidates, expected) => {
    expect(pickCredential(candidates, label)).toEqual(expected)
  })
})
