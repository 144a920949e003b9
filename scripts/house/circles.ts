// Finds circles of imports, those of types included: the files of a circle can only be understood together.
import type { Source } from './sources.ts'

/** One sentence for each knot. */
export function circleFaults(sources: readonly Source[]): readonly string[] {
  return knotsOf(sources).map((knot) => `a circle of imports, types included: ${knot.join(', ')}`)
}

/** Each knot is a set of files that reach each other: the strongly connected components of more than one file. */
export function knotsOf(sources: readonly Source[]): readonly (readonly string[])[] {
  const importsOf = new Map(sources.map(({ path, imports }) => [path, imports]))
  const indexOf = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const knots: string[][] = []

  // Tarjan's algorithm. Its depth is that of the longest chain of imports, which is some tens.
  const visit = (path: string): number => {
    const index = indexOf.size
    indexOf.set(path, index)
    lowest.set(path, index)
    open.push(path)
    for (const next of importsOf.get(path) ?? []) {
      if (!importsOf.has(next)) continue
      const known = indexOf.get(next)
      if (known === undefined) lower(path, visit(next))
      else if (open.includes(next)) lower(path, known)
    }
    const low = lowest.get(path) ?? index
    if (low === index) {
      const knot = open.splice(open.indexOf(path))
      if (knot.length > 1) knots.push(knot.sort())
    }
    return low
  }
  const lower = (path: string, to: number): void => {
    lowest.set(path, Math.min(lowest.get(path) ?? to, to))
  }

  for (const { path } of sources) if (!indexOf.has(path)) visit(path)
  return knots
}
