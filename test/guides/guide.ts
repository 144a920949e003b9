// A guide of docs/guides as steps: its commands, the files that the reader writes, and the answers that it shows.

export type Step =
  /** A fenced block of `sh`; the `json` or `text` block that follows it is its answer. */
  | { readonly kind: 'run'; readonly line: number; readonly script: string; readonly answer?: Answer }
  /** A block whose info string names a file after its language: `js server.mjs`. */
  | { readonly kind: 'file'; readonly line: number; readonly name: string; readonly content: string }
  /** `<!-- test: name -->`: a person's action, done by the test; `not run` skips the command that follows. */
  | { readonly kind: 'action'; readonly line: number; readonly name: string }

export interface Answer {
  readonly language: 'json' | 'text'
  readonly text: string
  /** Its first line and the one after its last, counted from 1. */
  readonly lines: readonly [number, number]
}

const fence = /^( *)```(\S*)(?: +(\S+))?$/
const action = /^<!-- test: (.+) -->$/

/** Parses a guide. Throws on a block of any other kind, so that no block is left untested by oversight. */
export function parseGuide(markdown: string): Step[] {
  const steps: Step[] = []
  const lines = markdown.split('\n')
  for (let index = 0; index < lines.length; index += 1) {
    const named = action.exec(lines[index] ?? '')?.[1]
    if (named !== undefined) steps.push({ kind: 'action', line: index + 1, name: named })
    const opening = fence.exec(lines[index] ?? '')
    if (opening === null) continue
    const [, indent = '', language = '', name] = opening
    const end = lines.indexOf(`${indent}\`\`\``, index + 1)
    if (end === -1) throw new Error(`line ${index + 1}: the block has no end`)
    const content = lines
      .slice(index + 1, end)
      .map((line) => line.slice(indent.length))
      .join('\n')
    take(steps, { line: index + 1, language, name, content, end: end + 1 })
    index = end
  }
  return steps
}

interface Block {
  readonly line: number
  readonly language: string
  readonly name: string | undefined
  readonly content: string
  readonly end: number
}

function take(steps: Step[], { line, language, name, content, end }: Block): void {
  const last = steps.at(-1)
  if (last?.kind === 'action' && last.name === 'not run' && language === 'sh') steps.pop()
  else if (name !== undefined) steps.push({ kind: 'file', line, name, content: `${content}\n` })
  else if (language === 'sh') steps.push({ kind: 'run', line, script: content })
  else if ((language === 'json' || language === 'text') && last?.kind === 'run' && last.answer === undefined)
    steps[steps.length - 1] = { ...last, answer: { language, text: content, lines: [line + 1, end] } }
  else
    throw new Error(`line ${line}: a block of ${language} that is neither a command, its answer nor a file`)
}
