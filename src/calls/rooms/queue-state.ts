// A queue as two lists: those who wait in it, and those who wait to take one of them. Pure: who comes before whom, and nothing else.

/** One who waits. */
export interface Place<C> {
  readonly caller: C
  readonly call_sid: string
  /** The lowest comes first. */
  readonly priority: number
  /** 1, 2, 3 ... in the order in which they came. */
  readonly arrival: number
}

/** One who waits for a caller. */
export interface Taker<T> {
  readonly taker: T
  /** Takes this one and no other. */
  readonly wants: string | undefined
}

export interface Arrival<C> {
  readonly caller: C
  readonly call_sid: string
  readonly priority: number
}

export class QueueState<C, T> {
  /** In the order in which they are taken. */
  readonly #places: Place<C>[] = []
  readonly #bySid = new Map<string, Place<C>>()
  /** Those who take anyone, the one who has waited longest first. */
  readonly #takers = new Set<Taker<T>>()
  /** Those who want one caller, by that one. */
  readonly #choosers = new Map<string, Set<Taker<T>>>()
  #choosing = 0
  #arrivals = 0

  get length(): number {
    return this.#places.length
  }

  get takers(): number {
    return this.#takers.size + this.#choosing
  }

  /** Behind all of its priority. */
  enter(arrival: Arrival<C>): Place<C> {
    this.#arrivals += 1
    const place = { ...arrival, arrival: this.#arrivals }
    this.#places.splice(this.#indexOf(place), 0, place)
    this.#bySid.set(place.call_sid, place)
    return place
  }

  /** False when it was not there any more. */
  leave(place: Place<C>): boolean {
    const index = this.#indexOf(place)
    if (this.#places[index] !== place) return false
    this.#places.splice(index, 1)
    this.#bySid.delete(place.call_sid)
    return true
  }

  /** How many are taken before this one. */
  position(place: Place<C>): number {
    return this.#indexOf(place)
  }

  /** Behind all who wait already. */
  await(taker: Taker<T>): void {
    const { wants } = taker
    if (wants === undefined) return void this.#takers.add(taker)
    const choosers = this.#choosers.get(wants) ?? new Set()
    this.#choosers.set(wants, choosers.add(taker))
    this.#choosing += 1
  }

  /** False when it did not wait any more. */
  quit(taker: Taker<T>): boolean {
    const { wants } = taker
    if (wants === undefined) return this.#takers.delete(taker)
    const choosers = this.#choosers.get(wants)
    if (choosers?.delete(taker) !== true) return false
    if (choosers.size === 0) this.#choosers.delete(wants)
    this.#choosing -= 1
    return true
  }

  /** Who takes this caller: one who wants it before one who takes anyone. */
  takerFor({ call_sid }: Place<C>): Taker<T> | undefined {
    return this.#choosers.get(call_sid)?.values().next().value ?? this.#takers.values().next().value
  }

  /** Whom this one takes. */
  callerFor({ wants }: Taker<T>): Place<C> | undefined {
    return wants === undefined ? this.#places[0] : this.#bySid.get(wants)
  }

  /** Where it stands, or would stand, by halving: a thousand who ask for their position need not count one another. */
  #indexOf({ priority, arrival }: Pick<Place<C>, 'priority' | 'arrival'>): number {
    let from = 0
    let to = this.#places.length
    while (from < to) {
      const middle = (from + to) >>> 1
      const other = this.#places[middle]
      if (other === undefined) break
      const isBefore = other.priority < priority || (other.priority === priority && other.arrival < arrival)
      if (isBefore) from = middle + 1
      else to = middle
    }
    return from
  }
}
