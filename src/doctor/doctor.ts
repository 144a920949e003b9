// The setup doctor: the shape of a check and its findings, and the parallel run of all checks. No check changes
// anything.
import { AppError } from '../lib/errors.ts'
import { sleep, type Clock } from '../lib/clock.ts'
import { StartError } from '../lib/start-error.ts'

/** `note`: nothing is wrong as far as can be determined, or nothing can be. */
export interface Finding {
  readonly state: 'ok' | 'bad' | 'note'
  /** A sentence without its full stop. It never holds a secret. */
  readonly what: string
  readonly cure?: string
}

export interface Check {
  readonly name: string
  look(): Promise<readonly Finding[]>
}

export interface Result {
  readonly name: string
  readonly findings: readonly Finding[]
}

export function ok(what: string): Finding {
  return { state: 'ok', what }
}

/** Returns a bad finding, which always has a cure. */
export function bad(what: string, cure: string): Finding {
  return { state: 'bad', what, cure }
}

export function note(what: string, cure?: string): Finding {
  return cure === undefined ? { state: 'note', what } : { state: 'note', what, cure }
}

/** Returns results in the order of the checks, whichever ends first. One that exceeds `limitMs` is a finding. */
export function examine(
  checks: readonly Check[],
  { clock, limitMs }: { readonly clock: Clock; readonly limitMs: number },
): Promise<readonly Result[]> {
  const late = (): readonly Finding[] => [
    bad(
      `No result within ${limitMs / 1000} seconds`,
      'A server that it depends on does not respond: try it again.',
    ),
  ]
  return Promise.all(
    checks.map(async (check) => ({
      name: check.name,
      findings: await Promise.race([
        check.look().catch((error: unknown) => [findingOf(error)]),
        sleep(limitMs, clock).then(late),
      ]),
    })),
  )
}

/** Returns a failure that prevents a start in the words of that start. */
export function findingOf(error: unknown): Finding {
  if (error instanceof AppError) return bad(error.message, error.cure)
  const sentence = error instanceof Error ? error.message : String(error)
  if (!(error instanceof StartError))
    return bad(
      `The check itself failed: ${sentence}`,
      'It is a fault of the doctor: report this line to those who make Switchhook.',
    )
  // These sentences end with a colon and the cure.
  const colon = sentence.lastIndexOf(': ')
  if (colon < 0) return bad(sentence, 'Correct what the sentence names, and run the doctor again.')
  return bad(sentence.slice(0, colon), capitalized(sentence.slice(colon + 2)))
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
