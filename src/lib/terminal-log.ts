// The log as a person reads it at a terminal: time, level, message, fields. It is made from the lines of the logger, so
// that redacted values stay redacted.

interface Line {
  readonly level: number
  readonly time: number
  readonly msg?: string
  readonly err?: { readonly message?: string; readonly stack?: string }
  readonly [field: string]: unknown
}

const levels: Readonly<Record<number, string>> = { 20: 'debug', 30: 'info', 40: 'WARN', 50: 'ERROR' }

export function createTerminalLog(out: { write(text: string): unknown }): { write(line: string): void } {
  return { write: (line) => void out.write(`${toReadable(JSON.parse(line) as Line)}\n`) }
}

function toReadable({ level, time, msg = '', err, ...fields }: Line): string {
  const shown = Object.entries(fields).map(([name, value]) => ` ${name}=${textOf(value)}`)
  const head = `${clockOf(time)} ${(levels[level] ?? String(level)).padEnd(5)} ${printable(msg)}${shown.join('')}`
  if (err === undefined) return head
  const stack = err.stack ?? err.message ?? ''
  return [head, ...stack.split('\n').map((text) => `    ${printable(text)}`)].join('\n')
}

/** Returns the local time of day, without the date. */
function clockOf(time: number): string {
  const date = new Date(time)
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()]
  const milliseconds = String(date.getMilliseconds()).padStart(3, '0')
  return `${parts.map((part) => String(part).padStart(2, '0')).join(':')}.${milliseconds}`
}

/** Returns a word as it is, and anything else as JSON. */
function textOf(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=\p{C}]+$/u.test(value)) return value
  return printable(JSON.stringify(value))
}

/** Escapes control characters, which can move the cursor or more: strangers choose some of the text. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
