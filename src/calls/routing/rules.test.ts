import { describe, expect, it } from 'vitest'
import { catalogue } from '../../lib/errors.ts'
import { toDecision } from '../journal/decision.ts'
import { ruleGroups, rules } from './rules.ts'

const all = Object.entries(rules)

describe('the rules that decide calls', () => {
  it('have names of their own, in lower case, that an address can carry', () => {
    const names = ruleGroups.flatMap((group) => Object.keys(group.rules))
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => !/^[a-z]+(-[a-z]+)*$/.test(name))).toEqual([])
    expect(names).toEqual(Object.keys(rules))
  })

  it('say in whole sentences what they find and what they decide', () => {
    const texts = all.flatMap(([, { sentence, decides }]) => [sentence, decides])
    expect(texts.filter((text) => !/^[A-Z].*\.$/s.test(text))).toEqual([])
    expect(texts.filter((text) => /\brow \d|§|\.md\b/.test(text))).toEqual([])
  })

  it('refuse with codes that the reference of errors explains', () => {
    const codes = all.flatMap(([, { decides }]) =>
      [...decides.matchAll(/(?:refused|fails) with `(\w+)`/g)].map(([, code]) => code ?? ''),
    )
    expect(codes.length).toBeGreaterThan(10)
    expect(codes.filter((code) => !Object.hasOwn(catalogue, code))).toEqual([])
  })
})

describe('a decision in the journal', () => {
  it('carries the name of its rule, what the rule found, and what was chosen', () => {
    expect(toDecision({ rule: 'carrier-number', outcome: 'account a, carrier c' })).toEqual({
      type: 'decision',
      rule: 'carrier-number',
      sentence: rules['carrier-number'].sentence,
      outcome: 'account a, carrier c',
    })
  })

  it('carries the code of a refusal', () => {
    const refused = { rule: 'limit-account', outcome: 'refused', code: 'account_call_limit' } as const
    expect(toDecision(refused)).toMatchObject(refused)
  })
})
