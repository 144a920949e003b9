// The events of a leg, for the code that connects it with another leg.

/**
 * `forwarded`, `queued`: a 181 or 182 came before `ringing`. `early-media`: the far end is heard before it answers. `held`: the far end has put the call on hold. `heard`: its
 * media arrives for the first time, or from another place. `anchored`: its media went directly to another far end, and
 * comes to the platform again. `room`: the members of its room have changed. `talks`, `silent`: reported in a room that
 * requests it.
 */
export type LegEvent =
  | 'forwarded'
  | 'queued'
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
