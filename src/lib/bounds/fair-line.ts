// A waiting line in which tenants take turns, so that much waiting work of one tenant delays only its own.

export class FairLine<T> {
  /** In the order of their turns. */
  readonly #waiting = new Map<string, T[]>()
  #length = 0

  get length(): number {
    return this.#length
  }

  push(tenant: string, item: T): void {
    const items = this.#waiting.get(tenant)
    if (items === undefined) this.#waiting.set(tenant, [item])
    else items.push(item)
    this.#length += 1
  }

  /** Puts an item before those of its tenant, whose turn comes last. */
  putBack(tenant: string, item: T): void {
    const items = this.#waiting.get(tenant) ?? []
    this.#waiting.delete(tenant)
    this.#waiting.set(tenant, [item, ...items])
    this.#length += 1
  }

  /** Removes the oldest item of the tenant in turn, among those that `mayGo` allows. */
  shift(mayGo: (tenant: string) => boolean = () => true): T | undefined {
    for (const [tenant, items] of this.#waiting) {
      if (!mayGo(tenant)) continue
      const item = items.shift()
      this.#waiting.delete(tenant)
      if (items.length > 0) this.#waiting.set(tenant, items)
      this.#length -= 1
      return item
    }
    return undefined
  }

  /** Removes the first item that `isWanted`. */
  take(isWanted: (item: T) => boolean): T | undefined {
    for (const [tenant, items] of this.#waiting) {
      const index = items.findIndex(isWanted)
      if (index < 0) continue
      const [item] = items.splice(index, 1)
      if (items.length === 0) this.#waiting.delete(tenant)
      this.#length -= 1
      return item
    }
    return undefined
  }

  /** Removes and returns all items. */
  drain(): T[] {
    const all = [...this.#waiting.values()].flat()
    this.#waiting.clear()
    this.#length = 0
    return all
  }
}
