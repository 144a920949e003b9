// The paths that the server has, and the methods that each of them takes: what a 405 says in Allow (RFC 9110 §15.5.6).

interface KnownPath {
  readonly segments: readonly string[]
  readonly methods: Set<string>
}

export class KnownPaths {
  readonly #paths = new Map<string, KnownPath>()

  /** `path` as the router writes it: `/v1/Accounts/:AccountSid`. */
  add(methods: string | readonly string[], path: string): void {
    const known = this.#paths.get(path) ?? { segments: segmentsOf(path), methods: new Set<string>() }
    for (const method of [methods].flat()) known.methods.add(method)
    this.#paths.set(path, known)
  }

  /** None where there is no such path. Read only for what no route has taken, so that a request that is served pays nothing. */
  methodsAt(url: string): readonly string[] {
    const sent = segmentsOf(url.replace(/[?#].*$/, ''))
    const found = new Set<string>()
    for (const { segments, methods } of this.#paths.values())
      if (isSame(segments, sent)) for (const method of methods) found.add(method)
    // Every path takes the preflight.
    return found.size === 0 ? [] : [...found, 'OPTIONS']
  }
}

/** Doubled slashes and letter case count as little as they do to the router. */
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
