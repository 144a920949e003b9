// docs/reference/verbs.md, from src/verbs/.
import type { VerbNeeds } from '../../src/calls/verb.ts'
import type { Verb } from '../../src/verbs/define/define-verb.ts'
import { verbs } from '../../src/verbs/index.ts'
import { page, propertyTable } from './page.ts'
import type { Schema } from './page.ts'

const needs: Readonly<Record<VerbNeeds, string>> = {
  nothing: 'Runs in any state of the call.',
  audio: 'Answers a call that is not answered yet, or opens early media where `earlyMedia` asks for it.',
  answered: 'Skipped while the call is not answered.',
  unanswered: 'Skipped once the call is answered.',
}

export function verbsPage(): string {
  return page('Verbs', '`src/verbs/`', [
    'An application answers its call hook with a JSON array of verbs, `{"verb": "say", ...}`; the older form',
    '`{"say": {...}}` is understood as well. Any verb may carry an `id`, which its action hook gets back as `verb_id`.',
    'An unknown verb or a wrong type refuses the whole array; an unknown property is ignored and noted in the journal.',
    'When the last verb has ended the call is hung up, or refused with 603 while it is not answered.',
    ...verbs.flatMap(section),
  ])
}

function section(verb: Verb): string[] {
  const schema = verb.schema as Schema
  const options =
    Object.keys(schema.properties ?? {}).length === 0 ? ['No properties.'] : propertyTable(schema)
  return ['', `## ${verb.name}`, '', verb.summary, '', needs[verb.needs], '', ...options]
}
