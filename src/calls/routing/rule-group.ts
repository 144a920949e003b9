// What a rule that decides calls says of itself.

interface Rule {
  /** What the rule found, in words for a customer. */
  readonly sentence: string
  /** What follows from it. */
  readonly decides: string
}

export interface RuleGroup {
  readonly title: string
  /** The question that the group settles, and when it is asked. */
  readonly question: string
  readonly rules: Readonly<Record<string, Rule>>
}
