// The bindings of each address of record (RFC 3261 §10), in memory, with a copy in an archive that survives the
// process.
import { AppError } from '../../lib/errors.ts'
import type { Clock, Timer } from '../../lib/clock.ts'
import { registrationLimits } from '../limits.ts'
import type { Binding, BindingArchive, BindingStore, KeptBinding } from './binding-store.ts'
import { contactOf, heardAt, isSamePhone } from './binding.ts'
import { isReliable, toTransport, type Remote } from '../transport/transports.ts'

export interface Bindings extends BindingStore {
  /** Loads the bindings from the archive. */
  load(): Promise<void>
  /** Reports whether a phone is reached by this flow. */
  isBound(remote: Remote): boolean
  /** Stops the sweep. */
  close(): void
  readonly size: number
}

export interface BindingsOptions {
  readonly clock: Clock
  /** The most bindings kept; one more is refused with `overloaded`. */
  readonly capacity?: number
  readonly archive?: BindingArchive | undefined
  /** Reports whether the address is that of a proxy whose Path is believed about the place of a phone. */
  readonly isProxy?: ((address: string) => boolean) | undefined
}

// Expired bindings are never returned; the sweep only frees their memory.
const sweepIntervalMs = 60_000

export function createBindings(options: BindingsOptions): Bindings {
  return new MemoryBindings(options)
}

class MemoryBindings implements Bindings {
  readonly #clock: Clock
  readonly #capacity: number
  readonly #archive: BindingArchive | undefined
  readonly #isProxy: (address: string) => boolean
  /** Bindings by realm and address of record, the latest registration first. */
  readonly #realms = new Map<string, Map<string, readonly Binding[]>>()
  readonly #flows = new Map<string, Set<Binding>>()
  /** Bindings by the place of the phone. */
  readonly #places = new Map<string, Set<Binding>>()
  #size = 0
  #timer: Timer | undefined

  constructor(options: BindingsOptions) {
    const { clock, capacity = registrationLimits.max, archive, isProxy = () => false } = options
    this.#clock = clock
    this.#capacity = capacity
    this.#archive = archive
    this.#isProxy = isProxy
  }

  get size(): number {
    return this.#size
  }

  async load(): Promise<void> {
    const kept = (await this.#archive?.load()) ?? []
    for (const binding of kept) {
      if (this.#size >= this.#capacity) break
      const live = toLive(binding)
      if (live === undefined || !this.#isLive(live)) continue
      // Connections do not survive the process.
      const isGone = isReliable(live.remote) && contactOf(live) === undefined
      if (isGone) await this.#archive?.remove(live.aor, live.key)
      else this.#set(live.aor, [...this.#of(live.aor), live])
    }
  }

  async get(aor: string): Promise<readonly Binding[]> {
    return this.#of(aor).filter((binding) => this.#isLive(binding))
  }

  async find(aor: string): Promise<readonly Binding[]> {
    const own = await this.get(aor)
    const others = toAllLive(await this.#archive?.elsewhere?.(aor))
    if (others.length === 0) return own
    // A proxy may bring a phone to another node than before: the node of its latest registration has its place.
    return [...own, ...others]
      .toSorted((a, b) => b.registeredAt - a.registeredAt)
      .filter((binding, n, all) => !all.slice(0, n).some((later) => isSamePhone(later, binding)))
      .slice(0, registrationLimits.maxPerUser)
  }

  async put(binding: Binding): Promise<void> {
    const { aor } = binding
    const before = this.#of(aor)
    const replaced = before.filter((there) => isSamePhone(there, binding))
    if (replaced.length === 0 && this.#size >= this.#capacity)
      throw new AppError('overloaded', 'the registrar holds as many bindings as its limit allows')
    const others = before.filter((there) => !replaced.includes(there))
    const kept = others.filter((there) => this.#isLive(there)).slice(0, registrationLimits.maxPerUser - 1)
    this.#set(aor, [binding, ...kept])
    const gone = before.filter(({ key }) => key !== binding.key && !kept.some((there) => there.key === key))
    const place = this.#placeOf(binding)
    await this.#archive?.save(binding, {
      place: place && flowKeyOf(place),
      gone: gone.map(({ key }) => key),
      isRefresh: gone.length === 0 && replaced.some((there) => isRefresh(there, binding)),
    })
  }

  touch(binding: Binding): void {
    const bound = this.#of(binding.aor)
    if (!bound.includes(binding) || bound[0] === binding) return
    this.#set(binding.aor, [binding, ...bound.filter((there) => there !== binding)])
  }

  async remove(aor: string, key?: string): Promise<void> {
    if (key === undefined) this.#set(aor, [])
    else
      this.#set(
        aor,
        this.#of(aor).filter((there) => there.key !== key),
      )
    await this.#archive?.remove(aor, key)
  }

  async list(realm: string): Promise<Binding[]> {
    const users = [...(this.#realms.get(realm.toLowerCase())?.values() ?? [])]
    return users
      .flat()
      .filter((binding) => this.#isLive(binding))
      .sort((a, b) => (a.aor === b.aor ? 0 : a.aor < b.aor ? -1 : 1))
  }

  async forget(realm: string): Promise<void> {
    for (const aor of [...(this.#realms.get(realm.toLowerCase())?.keys() ?? [])]) this.#set(aor, [])
    await this.#archive?.forget(realm.toLowerCase())
  }

  isBound(remote: Remote): boolean {
    return this.#flows.has(flowKeyOf(remote))
  }

  boundTo(remote: Remote): readonly Binding[] {
    return this.#liveIn(this.#flows, remote)
  }

  reachedAt(place: Remote): readonly Binding[] {
    return this.#liveIn(this.#places, place)
  }

  async findReachedAt(place: Remote): Promise<readonly Binding[]> {
    return [...this.reachedAt(place), ...toAllLive(await this.#archive?.elsewhereAt?.(flowKeyOf(place)))]
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #of(aor: string): readonly Binding[] {
    return this.#realms.get(realmOf(aor))?.get(aor) ?? []
  }

  #set(aor: string, bindings: readonly Binding[]): void {
    const realm = realmOf(aor)
    const users = this.#realms.get(realm) ?? new Map<string, readonly Binding[]>()
    const before = users.get(aor) ?? []
    for (const binding of before) if (!bindings.includes(binding)) this.#leave(binding)
    for (const binding of bindings) if (!before.includes(binding)) this.#join(binding)
    this.#size += bindings.length - before.length
    if (bindings.length > 0) users.set(aor, bindings)
    else users.delete(aor)
    if (users.size > 0) this.#realms.set(realm, users)
    else this.#realms.delete(realm)
    this.#scheduleSweep()
  }

  #liveIn(index: ReadonlyMap<string, ReadonlySet<Binding>>, place: Remote): readonly Binding[] {
    return [...(index.get(flowKeyOf(place)) ?? [])].filter((binding) => this.#isLive(binding))
  }

  #join(binding: Binding): void {
    add(this.#flows, binding.remote, binding)
    const place = this.#placeOf(binding)
    if (place !== undefined) add(this.#places, place, binding)
  }

  #leave(binding: Binding): void {
    drop(this.#flows, binding.remote, binding)
    const place = this.#placeOf(binding)
    if (place !== undefined) drop(this.#places, place, binding)
  }

  /** Returns the place of the phone itself; undefined if only a proxy in front of it is known. */
  #placeOf({ path, remote }: Binding): Remote | undefined {
    if (path.length === 0) return remote
    return this.#isProxy(remote.address) ? heardAt({ path }) : undefined
  }

  #isLive(binding: Pick<Binding, 'expiresAt'>): boolean {
    return binding.expiresAt > this.#clock.now()
  }

  #sweep(): void {
    this.#timer = undefined
    for (const users of [...this.#realms.values()])
      for (const [aor, bindings] of [...users])
        if (!bindings.every((binding) => this.#isLive(binding)))
          this.#set(
            aor,
            bindings.filter((binding) => this.#isLive(binding)),
          )
    this.#scheduleSweep()
  }

  #scheduleSweep(): void {
    if (this.#size > 0) this.#timer ??= this.#clock.after(sweepIntervalMs, () => this.#sweep())
  }
}

function add(index: Map<string, Set<Binding>>, place: Remote, binding: Binding): void {
  const key = flowKeyOf(place)
  const there = index.get(key) ?? new Set()
  index.set(key, there.add(binding))
}

function drop(index: Map<string, Set<Binding>>, place: Remote, binding: Binding): void {
  const key = flowKeyOf(place)
  const there = index.get(key)
  if (there?.delete(binding) === true && there.size === 0) index.delete(key)
}

function toAllLive(kept: readonly KeptBinding[] = []): Binding[] {
  return kept.map(toLive).filter((binding) => binding !== undefined)
}

/** Returns undefined if this version of the stack does not support the transport. */
function toLive(binding: KeptBinding): Binding | undefined {
  const transport = toTransport(binding.remote.transport)
  return transport && { ...binding, remote: { ...binding.remote, transport } }
}

/** Reports whether only the time has changed, so that the stored binding still leads to the same phone. */
function isRefresh(there: Binding, next: Binding): boolean {
  return (
    there.contact === next.contact &&
    there.instance === next.instance &&
    flowKeyOf(there.remote) === flowKeyOf(next.remote) &&
    there.path.join() === next.path.join()
  )
}

export function flowKeyOf({ transport, address, port }: Remote): string {
  return `${transport}|${address}|${port}`
}

function realmOf(aor: string): string {
  return aor.slice(aor.lastIndexOf('@') + 1).toLowerCase()
}
