// The order in which the carriers of a route are tried: lower priorities first, and carriers of the same priority in
// proportion to their workload.
import type { RouteEntry } from '../ports.ts'

/** Orders the entries. `random` is like Math.random. */
export function shareLoad<E extends RouteEntry>(entries: readonly E[], random: () => number): readonly E[] {
  const byPriority = Map.groupBy(entries, ({ priority }) => priority)
  return [...byPriority].sort(([a], [b]) => a - b).flatMap(([, equals]) => draw(equals, random))
}

/** Draws the entries one after another. The chance of each is its share of the workload among those that are left. */
function draw<E extends RouteEntry>(entries: readonly E[], random: () => number): readonly E[] {
  const left = [...entries]
  const drawn: E[] = []
  while (left.length > 0) {
    let at = random() * left.reduce((sum, { workload }) => sum + workload, 0)
    const index = left.findIndex(({ workload }) => (at -= workload) < 0)
    drawn.push(...left.splice(index, 1))
  }
  return drawn
}
