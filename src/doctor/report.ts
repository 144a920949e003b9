// The printed report of the doctor: a line for each finding, with the cure below it.
import type { Finding, Result } from './doctor.ts'

const marks: Readonly<Record<Finding['state'], { readonly text: string; readonly colour: number }>> = {
  ok: { text: 'ok  ', colour: 32 },
  bad: { text: 'BAD ', colour: 31 },
  note: { text: 'note', colour: 33 },
}

export function reportOf(
  results: readonly Result[],
  { isColoured }: { readonly isColoured: boolean },
): string {
  const width = Math.max(...results.map(({ name }) => name.length))
  const line = (name: string, { state, what, cure }: Finding): string => {
    const { text, colour } = marks[state]
    const mark = isColoured ? `\u001B[${colour}m${text}\u001B[0m` : text
    const first = `  ${mark}  ${name.padEnd(width)}  ${printable(what)}`
    return cure === undefined ? first : `${first}\n${' '.repeat(width + 10)}-> ${printable(cure)}`
  }
  const lines = results.flatMap(({ name, findings }) => findings.map((finding) => line(name, finding)))
  return `${lines.join('\n')}\n\n${summaryOf(results)}\n`
}

export function countBad(results: readonly Result[]): number {
  return results.flatMap(({ findings }) => findings).filter(({ state }) => state === 'bad').length
}

function summaryOf(results: readonly Result[]): string {
  const count = countBad(results)
  if (count === 0) return 'Nothing is wrong, as far as this machine can see.'
  return count === 1 ? 'One line is BAD.' : `${count} lines are BAD.`
}

/** Replaces control characters: names and reasons also come from other systems. */
function printable(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ')
}
