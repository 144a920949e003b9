// docs/reference/verbs.md, from src/verbs/.
import type { VerbText } from '../../src/verbs/define/describe-verb.ts'
import { verbShapes, verbTexts } from '../../src/verbs/index.ts'
import { heading, propertyTable, shapeAnchor, type Schema } from '../../src/api/docs/schema-text.ts'
import { page } from './page.ts'

export function verbsPage(): string {
  return page('Verbs', '`src/verbs/`', [
    'An application answers its call hook with a JSON array of verbs, `{"verb": "say", ...}`; the older form',
    '`{"say": {...}}` is understood as well. Any verb may carry an `id`, which its action hook gets back as `verb_id`.',
    'An unknown verb or a wrong type refuses the whole array; an unknown property is ignored and noted in the journal.',
    'The answer needs `Content-Type: application/json`: under another type, or none, its verbs are not read.',
    'When the last verb has ended the call is hung up, or refused with 603 while it is not answered, or as',
    'the last `dial` was. A test runs each example.',
    ...verbTexts.flatMap(section),
    '',
    '## Shapes',
    ...verbShapes.flatMap(shape),
  ])
}

function section({ name, summary, runs, example, schema }: VerbText): string[] {
  const options =
    Object.keys(schema['properties'] ?? {}).length === 0 ? ['No properties.'] : propertyTable(schema)
  const shown = ['```json', example, '```']
  const anchor = `verb-${name.replace(':', '-')}`
  return ['', heading('##', name, anchor), '', summary, '', runs, '', ...shown, '', ...options]
}

function shape(schema: Schema): string[] {
  const { title = '', description = '' } = schema
  return ['', heading('###', title, shapeAnchor(title)), '', description, '', ...propertyTable(schema)]
}
