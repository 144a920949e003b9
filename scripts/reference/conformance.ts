// docs/reference/conformance.md, from test/conformance/sentences.ts.
import { sentences } from '../../test/conformance/sentences.ts'
import type { Sentence } from '../../test/conformance/sentences.ts'
import { page, table } from './page.ts'

export function conformancePage(): string {
  const sections = [...new Set(sentences.map(({ section }) => section))].sort(byPlace)
  const open = sentences.filter((sentence) => sentence.open !== undefined)
  const chosen = sentences.filter((sentence) => sentence.chosen !== undefined)
  return page('Conformance', '`test/conformance/sentences.ts`', [
    'Each sentence of the interface specification that can be tested, and the test that covers it. Where the',
    'specification leaves something out, the row says what was chosen. `npm test` runs the tests; one of them fails when',
    'a sentence names a test that is not there.',
    '',
    `${sentences.length} sentences: ${sentences.length - open.length} covered, ${chosen.length} of them by a choice of ours, ${open.length} open.`,
    ...(open.length === 0 ? [] : ['', '## Open', '', ...table(['Sentence', 'Why'], open.map(openRow))]),
    ...sections.flatMap((section) => [
      '',
      `## ${section}`,
      '',
      ...table(
        ['The specification says', 'Test'],
        sentences.filter((sentence) => sentence.section === section).map(row),
      ),
    ]),
  ])
}

const places = [
  'Notation',
  'Fields',
  'States',
  'Endpoints',
  'Authentication',
  'Events',
  'Errors',
  'Limits',
  'Versioning',
]

/** As the specification has them; what it does not show comes last. */
function byPlace(a: string, b: string): number {
  const placeOf = (section: string): number => {
    const place = places.findIndex((start) => section.startsWith(start))
    return place < 0 ? places.length : place
  }
  return placeOf(a) - placeOf(b)
}

function openRow({ section, says, open = '' }: Sentence): string[] {
  return [`${section}: ${says}`, open]
}

function row({ says, tests, chosen, open }: Sentence): string[] {
  const names = tests.map(({ file, title }) => `\`${file}\`: ${title}`)
  const told = [
    ...(open === undefined ? [] : [`**Open.** ${open}`]),
    ...(chosen === undefined ? [] : [`Chosen: ${chosen}`]),
    ...names,
  ]
  return [says, told.join('<br>')]
}
