// Regular expressions of strangers, matched in a time that grows with the text and the pattern and with nothing else:
// every way through the pattern is followed at once, one character after the other (Thompson, CACM 11(6), 1968).
import { parsePattern } from './parse-pattern.ts'
import type { Node } from './parse-pattern.ts'
import type { Accepts } from './pattern-classes.ts'

export interface Pattern {
  /** Whether it matches anywhere in the text, as a regular expression without flags does. */
  matches(text: string): boolean
}

type Step =
  | { readonly kind: 'take'; readonly accepts: Accepts }
  | { readonly kind: 'start' | 'end' | 'match' }
  /** Goes on at each of these. */
  | { readonly kind: 'fork'; readonly to: number[] }

// A text of 32 characters then costs 0.1 ms at the very worst.
const mostSteps = 128

/** Undefined when the text is no regular expression, refers back, looks around, or takes too many steps. */
export function compilePattern(text: string): Pattern | undefined {
  const node = parsePattern(text)
  if (node === undefined) return undefined
  const steps: Step[] = []
  if (!emit(node, steps)) return undefined
  steps.push({ kind: 'match' })
  return { matches: (candidate) => run(steps, candidate) }
}

/** False when there is no room for all of its steps. */
function emit(node: Node, steps: Step[]): boolean {
  if (steps.length >= mostSteps) return false
  switch (node.kind) {
    case 'take':
    case 'start':
    case 'end':
      steps.push(node)
      return true
    case 'sequence':
      return node.parts.every((part) => emit(part, steps))
    case 'choice':
      return emitChoice(node.options, steps)
    case 'repeat':
      return emitRepeat(node, steps)
  }
}

function emitChoice(options: readonly Node[], steps: Step[]): boolean {
  const fork: number[] = []
  const ends: number[][] = []
  steps.push({ kind: 'fork', to: fork })
  for (const option of options) {
    fork.push(steps.length)
    if (!emit(option, steps)) return false
    const end: number[] = []
    ends.push(end)
    steps.push({ kind: 'fork', to: end })
  }
  for (const end of ends) end.push(steps.length)
  return true
}

function emitRepeat({ part, min, max }: Node & { kind: 'repeat' }, steps: Step[]): boolean {
  for (let count = 0; count < min; count++) {
    const before = steps.length
    if (!emit(part, steps)) return false
    // A part without steps is as good once as a billion times.
    if (steps.length === before) break
  }
  if (max === Infinity) {
    const loop = steps.length
    const fork = [loop + 1]
    steps.push({ kind: 'fork', to: fork })
    if (!emit(part, steps)) return false
    steps.push({ kind: 'fork', to: [loop] })
    fork.push(steps.length)
    return true
  }
  const exits: number[][] = []
  for (let count = min; count < max; count++) {
    const fork = [steps.length + 1]
    exits.push(fork)
    steps.push({ kind: 'fork', to: fork })
    if (!emit(part, steps)) return false
  }
  for (const exit of exits) exit.push(steps.length)
  return true
}

function run(steps: readonly Step[], text: string): boolean {
  /** Where in the text a step was last reached. */
  const reachedAt = new Int32Array(steps.length).fill(-1)
  let waiting: number[] = []
  for (let at = 0; at <= text.length; at++) {
    // A match may begin anywhere.
    waiting.push(0)
    const next: number[] = []
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      const step = steps[index]
      if (step === undefined || reachedAt[index] === at) continue
      reachedAt[index] = at
      if (step.kind === 'match') return true
      if (step.kind === 'fork') waiting.push(...step.to)
      else if (step.kind === 'take') {
        if (at < text.length && step.accepts(text.charAt(at))) next.push(index + 1)
      } else if (at === (step.kind === 'start' ? 0 : text.length)) waiting.push(index + 1)
    }
    waiting = next
  }
  return false
}
