// What a leg lets those watch who join it with another one.

/**
 * `early-media`: the far end is heard before it answers. `held`: it does not want to hear anything. `heard`: its sound comes from
 * another place, or for the first time. `anchored`: it exchanged its sound with another far end, and does so with us again.
 * `room`: others are in the room with it than before. `talks`, `silent`: in a room that wants to know.
 */
export type LegEvent =
  | 'ringing'
  | 'early-media'
  | 'answered'
  | 'held'
  | 'resumed'
  | 'bridged'
  | 'heard'
  | 'anchored'
  | 'room'
  | 'talks'
  | 'silent'

export class LegEvents {
  readonly #listeners = new Set<(event: LegEvent) => void>()

  /** Returns the function that stops watching. */
  watch(listener: (event: LegEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  tell(event: LegEvent): void {
    for (const listener of [...this.#listeners]) listener(event)
  }

  close(): void {
    this.#listeners.clear()
  }
}
