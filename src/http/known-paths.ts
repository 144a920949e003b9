// The paths of the server and the methods that each accepts, for Allow in a 405 response (RFC 9110 §15.5.6).

interface KnownPath {
  readonly segments: readonly string[]
  readonly methods: Set<string>
}

export class KnownPaths {
  readonly #paths = new Map<string, KnownPath>()

  /** Adds a path as the router writes it: `/v1/Accounts/:AccountSid`. */
  add(methods: string | readonly string[], path: string): void {
    const known = this.#paths.get(path) ?? { segments: segmentsOf(path), methods: new Set<string>() }
    for (const method of [methods].flat()) known.methods.add(method)
    this.#paths.set(path, known)
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
