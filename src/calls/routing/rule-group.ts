// The description of a rule that decides calls.

interface Rule {
  /** The finding of the rule, in words for a customer. */
  readonly sentence: string
  /** The consequence. */
  readonly decides: string
}

export interface RuleGroup {
  readonly title: string
  /** The question that the group settles, and the time when it applies. */
  readonly question: string
  readonly rules: Readonly<Record<string, Rule>>
}
