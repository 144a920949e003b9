// The description of a verb for readers: in docs/reference/verbs.md and at /docs/verbs.
import type { VerbNeeds } from '../../calls/verb.ts'
import type { Verb, VerbExample } from './define-verb.ts'

export interface VerbText {
  readonly name: string
  readonly summary: string
  /** The state of the call in which it runs. */
  readonly runs: string
  /** JSON: a list of verbs, as an application writes it. */
  readonly example: string
  /** The JSON Schema of its own properties. */
  readonly schema: Readonly<Record<string, unknown>>
}

const runs: Readonly<Record<VerbNeeds, string>> = {
  nothing: 'Runs in any state of the call.',
  audio: 'Answers a call that is not answered yet, or opens early media where `earlyMedia` asks for it.',
  answered: 'Skipped while the call is not answered.',
  unanswered: 'Skipped once the call is answered.',
}

export function describeVerb({ name, alias, summary, example, needs, schema }: Verb): VerbText {
  return {
    name,
    summary: alias === undefined ? summary : `${summary} \`${alias}\` is another name of it.`,
    runs: runs[needs],
    example: textOf(example),
    schema: schema as unknown as VerbText['schema'],
  }
}

const maxLineLength = 90

/** Writes a verb on one line if it is short enough. */
function textOf(example: VerbExample): string {
  const lines = example.map((use) => {
    const spread = JSON.stringify(use, null, 2)
    const short = spread.replaceAll(/\n\s*/g, ' ')
    return short.length <= maxLineLength ? `  ${short}` : `  ${spread.replaceAll('\n', '\n  ')}`
  })
  return `[\n${lines.join(',\n')}\n]`
}
