// A decision of the platform in the journal: the finding of a rule, and the name by which the reference lists the rule.
import { rules, type RuleName } from '../routing/rules.ts'
import type { DecisionFact } from './journal.ts'

export interface Decision {
  readonly rule: RuleName
  /** The choice. */
  readonly outcome: string
  /** The code of the refusal, if the rule refuses. */
  readonly code?: string
}

export function toDecision({ rule, outcome, code }: Decision): DecisionFact {
  const { sentence } = rules[rule]
  return { type: 'decision', rule, sentence, outcome, ...(code === undefined ? {} : { code }) }
}
