// The comparison of a command's output with the answer that a guide shows, except for ids, times and omitted parts.

/** Returns the difference, or undefined if there is none. */
export function differenceOf(language: 'json' | 'text', shown: string, printed: string): string | undefined {
  return language === 'json' ? jsonDifference(shown, printed) : textDifference(shown, printed)
}

const patterns: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>'],
  [/\b[0-9a-f]{16,}(@[\w.-]+)?\b/g, '<id>'],
  [/\bwh_secret_[\w-]+/g, '<id>'],
  [/\b\w{3}, \d\d \w{3} \d{4} [\d:]+ GMT\b/g, '<time>'],
  [/\b\d{4}-\d\d-\d\dT[\d:.]+Z\b/g, '<time>'],
  [/\b\d+(\.\d+)? (ms|s)\b/g, '<time>'],
  [/"(duration|\w+_ms|at)":\d+/g, '"$1":<time>'],
  [/\bt=\d{10}\b/g, 't=<time>'],
  [/\b1[6-9]\d{11}\b/g, '<time>'],
]

/** Replaces the values that change from run to run by fixed words. */
export function withoutIds(text: string): string {
  return patterns.reduce((changed, [pattern, word]) => changed.replaceAll(pattern, word), text)
}

/** Compares lines: a line `...` stands for any lines, `...` at the end of a line for the rest of it. */
function textDifference(shown: string, printed: string): string | undefined {
  const tidy = (text: string): string[] =>
    withoutIds(text)
      .split('\n')
      .map((line) => line.replaceAll(/\s+/g, ' ').trim())
      .filter((line) => line !== '')
  const actual = tidy(printed)
  let at = 0
  let maySkip = false
  for (const line of tidy(shown)) {
    if (line === '...') {
      maySkip = true
      continue
    }
    const isIt = (candidate: string): boolean =>
      line.endsWith('...') ? candidate.startsWith(line.slice(0, -3)) : candidate === line
    const found = actual.findIndex((candidate, index) => index >= at && isIt(candidate))
    if (found === -1 || (!maySkip && found > at))
      return `the line "${line}" is not there; printed was:\n${printed}`
    at = found + 1
    maySkip = false
  }
  return maySkip || at === actual.length ? undefined : `more was printed than is shown:\n${printed}`
}

/** Compares JSON: `...` in an object or array means that it has more members than are shown. */
function jsonDifference(shown: string, printed: string): string | undefined {
  const isPart = /(^|[,[{])\s*\.\.\.,?\s*($|[\]}])/m.test(shown)
  const text = shown
    .replaceAll(/(^|[,[{])(\s*)\.\.\.,?(?=\s*($|[\]}]))/gm, '$1$2')
    .replaceAll(/,(\s*[}\]])/g, '$1')
  let actual: unknown
  try {
    actual = JSON.parse(printed)
  } catch {
    return `no JSON was printed:\n${printed}`
  }
  const place = mismatch(JSON.parse(text), actual, isPart, '')
  return place === undefined ? undefined : `${place}; printed was:\n${JSON.stringify(actual, null, 2)}`
}

const timeNames = /^(duration|duration_ms|jitter_ms|.*_at|at|seq)$/

function mismatch(shown: unknown, actual: unknown, isPart: boolean, path: string): string | undefined {
  const here = path === '' ? 'the whole' : path
  if (typeof shown === 'object' && shown !== null) {
    if (typeof actual !== 'object' || actual === null || Array.isArray(shown) !== Array.isArray(actual))
      return `${here} is of another kind`
    const extra = Object.keys(actual).filter((name) => !Object.hasOwn(shown, name))
    if (!isPart && extra.length > 0) return `${here} also has ${extra.join(', ')}`
    for (const [name, value] of Object.entries(shown)) {
      if (!Object.hasOwn(actual, name)) return `${here} has no ${name}`
      const found = mismatch(value, (actual as Record<string, unknown>)[name], isPart, `${path}.${name}`)
      if (found !== undefined) return found
    }
    return undefined
  }
  const isTime = timeNames.test(path.slice(path.lastIndexOf('.') + 1)) && typeof shown === 'number'
  if (isTime && typeof actual === 'number') return undefined
  const same = withoutIds(String(shown)) === withoutIds(String(actual)) && typeof shown === typeof actual
  return same ? undefined : `${here} is ${JSON.stringify(actual)}, shown is ${JSON.stringify(shown)}`
}
