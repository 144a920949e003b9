// The door for the rules that route calls, and for the numbers and carriers that they look up.
export { ruleGroups, rules } from './routing/rules.ts'
export { createNumberPattern } from './routing/number-pattern.ts'
export { MatchBudget } from './routing/match-budget.ts'
export { GatewayIndex } from './routing/gateway-index.ts'
export { mayServe } from './routing/calling-carrier.ts'
export { nextHopOf } from './outbound/phone-attempt.ts'
