// Detection of nodes that have fallen silent: their beats have not risen for a set time while this node was watching.
// The clocks of two nodes, or of a node and the database, are never compared.
import type { Clock } from '../../lib/clock.ts'

export interface Heard {
  readonly node_id: string
  readonly beats: number
}

export interface SilenceWatch {
  /** Compares the beats of every node with the last ones, and returns the nodes that are dead. */
  look(nodes: readonly Heard[]): Heard[]
}

export interface SilenceWatchOptions {
  readonly clock: Clock
  readonly silentMs: number
  /** After a longer pause between looks all watching begins again: a database that is away silences every node. */
  readonly gapMs: number
}

export function createSilenceWatch({ clock, silentMs, gapMs }: SilenceWatchOptions): SilenceWatch {
  let heard = new Map<string, Heard & { readonly since: number }>()
  let lookedAt = Number.NEGATIVE_INFINITY
  return {
    look(nodes) {
      const now = clock.monotonic()
      const before = now - lookedAt > gapMs ? new Map<string, never>() : heard
      lookedAt = now
      heard = new Map(
        nodes.map(({ node_id, beats }) => {
          const known = before.get(node_id)
          return [node_id, known?.beats === beats ? known : { node_id, beats, since: now }]
        }),
      )
      return [...heard.values()].filter(({ since }) => now - since >= silentMs)
    },
  }
}
