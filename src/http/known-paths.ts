// The paths of the server and the methods that each accepts, for the response where no route matches: Allow of a 405
// (RFC 9110 §15.5.6), and the refusal of a parameter that was left empty.
import type { AppError } from '../lib/errors.ts'

interface KnownPath {
  readonly segments: readonly string[]
  readonly methods: Set<string>
}

/** A path with parameters that may not be empty. */
interface Parametric {
  readonly method: string
  readonly segments: readonly string[]
  readonly refuse: (parameter: string) => AppError
}

export class KnownPaths {
  readonly #paths = new Map<string, KnownPath>()
  readonly #parametric: Parametric[] = []

  /** Adds a path as the router writes it: `/v1/Accounts/:AccountSid`. */
  add(methods: string | readonly string[], path: string): void {
    const known = this.#paths.get(path) ?? { segments: segmentsOf(path), methods: new Set<string>() }
    for (const method of [methods].flat()) known.methods.add(method)
    this.#paths.set(path, known)
  }

  /** Adds the refusal of an empty parameter in a path with braces: `/v1/Accounts/{AccountSid}`. */
  addParametric(method: string, path: string, refuse: (parameter: string) => AppError): void {
    this.#parametric.push({ method, segments: path.split('/').slice(1), refuse })
  }

  /** Returns the refusal of a path that lacks nothing but the value of a parameter: `DELETE /v1/Accounts/`. */
  emptyAt(method: string, url: string): AppError | undefined {
    const sent = url
      .replace(/[?#].*$/, '')
      .split('/')
      .slice(1)
    if (!sent.includes('')) return undefined
    for (const { method: own, segments, refuse } of this.#parametric) {
      if (own !== method || segments.length !== sent.length) continue
      const isThere = segments.every((segment, at) =>
        segment.startsWith('{') ? true : segment.toLowerCase() === sent[at]?.toLowerCase(),
      )
      const empty = segments.find((_, at) => sent[at] === '')
      if (isThere && empty?.endsWith('Sid}') === true) return refuse(empty.slice(1, -1))
    }
    return undefined
  }

  /** Returns the methods of a path, or none. Called only if no route matched, so that other requests pay nothing. */
  methodsAt(url: string): readonly string[] {
    const sent = segmentsOf(url.replace(/[?#].*$/, ''))
    const found = new Set<string>()
    for (const { segments, methods } of this.#paths.values())
      if (isSame(segments, sent)) for (const method of methods) found.add(method)
    // Every path accepts the preflight.
    return found.size === 0 ? [] : [...found, 'OPTIONS']
  }
}

/** Splits the path. Like the router, it ignores doubled slashes and letter case. */
function segmentsOf(path: string): readonly string[] {
  return path
    .toLowerCase()
    .split('/')
    .filter((segment) => segment !== '')
}

function isSame(pattern: readonly string[], sent: readonly string[]): boolean {
  return (
    pattern.length === sent.length &&
    pattern.every((segment, at) => segment.startsWith(':') || segment === sent[at])
  )
}
