// A queue as two lists: the callers that wait in it, and the takers that wait for a caller. Pure: it decides the order
// only.

/** A caller that waits. */
export interface Place<C> {
  readonly caller: C
  readonly call_sid: string
  /** The lowest value comes first. */
  readonly priority: number
  /** 1, 2, 3 ... in the order of arrival. */
  readonly arrival: number
}

/** A call that waits for a caller. */
export interface Taker<T> {
  readonly taker: T
  /** The call_sid of the only caller that it takes. */
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
  /** The takers that accept any caller, the longest waiting first. */
  readonly #takers = new Set<Taker<T>>()
  /** The takers that want one particular caller, by its call_sid. */
  readonly #choosers = new Map<string, Set<Taker<T>>>()
  #choosing = 0
  #arrivals = 0

  get length(): number {
    return this.#places.length
  }

  get takers(): number {
    return this.#takers.size + this.#choosing
  }

  /** Adds a caller after all others of its priority. */
  enter(arrival: Arrival<C>): Place<C> {
    this.#arrivals += 1
    const place = { ...arrival, arrival: this.#arrivals }
    this.#places.splice(this.#indexOf(place), 0, place)
    this.#bySid.set(place.call_sid, place)
    return place
  }

  /** Returns false if it was no longer there. */
  leave(place: Place<C>): boolean {
    const index = this.#indexOf(place)
    if (this.#places[index] !== place) return false
    this.#places.splice(index, 1)
    this.#bySid.delete(place.call_sid)
    return true
  }

  /** Returns the number of callers that are taken before this one. */
  position(place: Place<C>): number {
    return this.#indexOf(place)
  }

  /** Adds a taker after all that already wait. */
  await(taker: Taker<T>): void {
    const { wants } = taker
    if (wants === undefined) return void this.#takers.add(taker)
    const choosers = this.#choosers.get(wants) ?? new Set()
    this.#choosers.set(wants, choosers.add(taker))
    this.#choosing += 1
  }

  /** Returns false if it no longer waited. */
  quit(taker: Taker<T>): boolean {
    const { wants } = taker
    if (wants === undefined) return this.#takers.delete(taker)
    const choosers = this.#choosers.get(wants)
    if (choosers?.delete(taker) !== true) return false
    if (choosers.size === 0) this.#choosers.delete(wants)
    this.#choosing -= 1
    return true
  }

  /** Returns the taker: one that wants this caller before one that accepts any. */
  takerFor({ call_sid }: Place<C>): Taker<T> | undefined {
    return this.#choosers.get(call_sid)?.values().next().value ?? this.#takers.values().next().value
  }

  callerFor({ wants }: Taker<T>): Place<C> | undefined {
    return wants === undefined ? this.#places[0] : this.#bySid.get(wants)
  }

  /** Finds the index of a place by binary search, so that a thousand callers can request their position. */
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
