// One measured figure beside its target, and the table for a list of them.

export interface Figure {
  readonly what: string
  readonly target: string
  readonly figure: string
  /** Undefined for a figure without a target, measured for information. */
  readonly isMet?: boolean | undefined
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? NaN)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2
}

const verdict = ({ isMet }: Figure): string => (isMet === undefined ? '' : isMet ? 'met' : 'missed')

/** Returns a Markdown table that also reads well in a terminal. */
export function toTable(figures: readonly Figure[]): string {
  const rows = [
    ['measure', 'target', 'figure', ''],
    ...figures.map((row) => [row.what, row.target, row.figure, verdict(row)]),
  ]
  const widths = [0, 1, 2, 3].map((column) => Math.max(6, ...rows.map((row) => (row[column] ?? '').length)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const [head = [], ...body] = rows
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n')
}
