// docs/reference/routing.md, from the rules in src/calls/routing/rules.ts.
import { ruleGroups } from '../../src/calls/routing/rules.ts'
import { table } from '../../src/api/docs/schema-text.ts'
import { page } from './page.ts'

export function routingPage(): string {
  return page('How calls are routed', '`src/calls/routing/rules.ts`', [
    'Each choice that the platform makes about a call is an event of type `decision` in the journal of the call: `rule` is',
    'one of the names below, `sentence` says what the rule found, `outcome` what was chosen. Within a group that chooses, the',
    'rules are asked from top to bottom, and the first that applies decides. Codes of refusals are explained in',
    '[errors.md](errors.md).',
    ...ruleGroups.flatMap(({ title, question, rules }) => [
      '',
      `## ${title}`,
      '',
      question,
      '',
      ...table(
        ['Rule', 'What it finds', 'What it decides'],
        Object.entries(rules).map(([name, { sentence, decides }]) => [
          `<a id="${name}"></a>\`${name}\``,
          sentence,
          decides,
        ]),
      ),
    ]),
  ])
}
