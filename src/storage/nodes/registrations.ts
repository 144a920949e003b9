// The registrations of this node. A change is committed before the phone gets its response, many in one transaction; a
// refresh is committed a little later. docs/decisions/0030-registrations-outlive-the-process.md says why.
import type { Clock, Timer } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import { createOutageLog } from '../../lib/outage-log.ts'
import type { Cells, Database, Session } from '../database/database.ts'
import type { Prepared } from '../database/prepared.ts'
import { createRegistrationQueries } from './registration-queries.ts'

/** A registration in the form of the SIP stack. */
export interface Registration {
  readonly aor: string
  readonly key: string
  readonly contact: string
  readonly instance: string | undefined
  readonly q: string | undefined
  readonly expiresAt: number
  /** Epoch ms. */
  readonly registeredAt: number
  readonly remote: {
    readonly transport: string
    readonly address: string
    readonly port: number
  }
  readonly path: readonly string[]
  readonly callId: string
  readonly cseq: number
  readonly userAgent: string | undefined
}

export interface RegistrationStore {
  /** Returns live registrations whose users may still register, the latest first. */
  load(): Promise<readonly Registration[]>
  /** Returns the registrations of an address of record on other nodes that are reachable from here too, by a Path. */
  elsewhere(aor: string): Promise<readonly Registration[]>
  /** Returns the registrations of phones that other nodes have at a place, as `save` names it. */
  elsewhereAt(place: string): Promise<readonly Registration[]>
  /**
   * Stores a registration, which replaces those with the keys in `gone`. Resolves when it is committed; a refresh is
   * committed later. Never rejects.
   */
  save(
    registration: Registration,
    change: {
      readonly gone: readonly string[]
      readonly isRefresh: boolean
      /** Where the phone itself signals from; undefined where only a proxy in front of it is known. */
      readonly place: string | undefined
    },
  ): Promise<void>
  /** Removes one registration of this node, or all of the address of record on every node. */
  remove(aor: string, key?: string): Promise<void>
  /** Removes all registrations of a realm on every node. */
  forget(realm: string): Promise<void>
  flush(): Promise<void>
  stop(): Promise<void>
}

export interface RegistrationStoreOptions {
  readonly database: Database
  /** Returns the name of this node (node-name.ts), which is known once the platform has started. */
  readonly node: () => string
  readonly clock: Clock
  readonly log: Logger
}

type Change = Pick<Registration, 'aor' | 'key'> &
  (
    | { readonly kind: 'save'; readonly registration: Registration; readonly place: string | undefined }
    | { readonly kind: 'remove' }
  )

/** A removal that runs before the changes that wait with it. */
type Sweep =
  { readonly kind: 'user'; readonly aor: string } | { readonly kind: 'realm'; readonly realm: string }

/** Sweeps and changes that wait, and are committed together. */
interface Batch {
  readonly sweeps: Sweep[]
  readonly changes: Map<string, Change>
}

// Ten thousand phones that refresh every minute give eight hundred rows per interval, in a few short transactions.
const refreshMs = 5_000
// One transaction holds the thread for some 10 ms at this size.
const maxPerTransaction = 200
const retryMs = 1_000
// A phone is registered even while the database does not respond: calls matter more.
const maxWaitMs = 2_000

export function createRegistrationStore(options: RegistrationStoreOptions): RegistrationStore {
  return new OwnRegistrations(options)
}

class OwnRegistrations implements RegistrationStore {
  readonly #options: RegistrationStoreOptions
  readonly #queries: ReturnType<typeof createRegistrationQueries>
  readonly #outage: (fields: object, message: string) => void
  #waiting: Batch = { sweeps: [], changes: new Map() }
  /** Resolves when what waits has been tried. */
  #tried = Promise.withResolvers<void>()
  #running: Promise<void> | undefined
  #timer: Timer | undefined
  #isStopped = false

  constructor(options: RegistrationStoreOptions) {
    this.#options = options
    this.#queries = createRegistrationQueries(options.database.builder)
    this.#outage = createOutageLog(options.log, options.clock)
  }

  async load(): Promise<readonly Registration[]> {
    const { database, node, clock } = this.#options
    const rows = await this.#queries.load.all(database.reader, { node: node(), now: clock.now() })
    return rows.map(toRegistration)
  }

  elsewhere(aor: string): Promise<readonly Registration[]> {
    return this.#readOthers(this.#queries.elsewhere, { aor })
  }

  elsewhereAt(place: string): Promise<readonly Registration[]> {
    return this.#readOthers(this.#queries.elsewhereAt, { place })
  }

  async #readOthers(query: Prepared, where: Cells): Promise<readonly Registration[]> {
    const { database, node, clock, log } = this.#options
    if (!database.isShared) return []
    try {
      const rows = await query.all(database.reader, { node: node(), now: clock.now(), ...where })
      return rows.map(toRegistration)
    } catch (error) {
      log.error({ err: error }, 'registrations of other nodes could not be read')
      return []
    }
  }

  async save(
    registration: Registration,
    { gone, isRefresh, place }: Parameters<RegistrationStore['save']>[1],
  ): Promise<void> {
    const { aor, key } = registration
    for (const old of gone) this.#add({ kind: 'remove', aor, key: old })
    this.#add({ kind: 'save', aor, key, registration, place })
    if (isRefresh) this.#flushAfter(refreshMs)
    else await this.#committed()
  }

  async remove(aor: string, key?: string): Promise<void> {
    if (key === undefined) return this.#sweep({ kind: 'user', aor })
    this.#add({ kind: 'remove', aor, key })
    await this.#committed()
  }

  forget(realm: string): Promise<void> {
    return this.#sweep({ kind: 'realm', realm })
  }

  /** Resolves when everything that waits now has been tried. */
  flush(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    if (!this.#hasWaiting()) return this.#running ?? Promise.resolve()
    const { promise } = this.#tried
    this.#running ??= this.#drain()
    return promise
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.flush()
  }

  /** Adds a change, which replaces an earlier one of the same registration. */
  #add(change: Change): void {
    const { changes } = this.#waiting
    const id = `${change.aor} ${change.key}`
    changes.delete(id)
    changes.set(id, change)
  }

  async #sweep(sweep: Sweep): Promise<void> {
    this.#dropSwept(sweep)
    this.#waiting.sweeps.push(sweep)
    await this.#committed()
  }

  #dropSwept(sweep: Sweep): void {
    const { changes } = this.#waiting
    for (const [id, { aor }] of changes) {
      const isSwept = sweep.kind === 'user' ? aor === sweep.aor : partsOf(aor).realm === sweep.realm
      if (isSwept) changes.delete(id)
    }
  }

  /** Resolves when everything that waits now is committed, but waits no longer than a phone should. */
  async #committed(): Promise<void> {
    const waited = Promise.withResolvers<void>()
    const limit = this.#options.clock.after(maxWaitMs, waited.resolve)
    await Promise.race([this.flush(), waited.promise])
    limit.cancel()
  }

  #flushAfter(delayMs: number): void {
    if (!this.#isStopped) this.#timer ??= this.#options.clock.after(delayMs, () => void this.flush())
  }

  #hasWaiting(): boolean {
    return this.#waiting.sweeps.length + this.#waiting.changes.size > 0
  }

  async #drain(): Promise<void> {
    // Phones that register at the same time share a transaction.
    await new Promise(setImmediate)
    try {
      while (this.#hasWaiting()) {
        if (await this.#tryWaiting()) continue
        this.#flushAfter(retryMs)
        return
      }
    } finally {
      this.#running = undefined
    }
  }

  /** Commits what waits now. Returns whether it could; otherwise it waits again. */
  async #tryWaiting(): Promise<boolean> {
    const batch = this.#waiting
    const { resolve } = this.#tried
    this.#waiting = { sweeps: [], changes: new Map() }
    this.#tried = Promise.withResolvers()
    const isDone = await this.#commit(batch)
    resolve()
    if (!isDone) this.#takeBack(batch)
    return isDone
  }

  /** Commits the batch, and removes from it what is committed. Returns whether that is all. */
  async #commit({ sweeps, changes }: Batch): Promise<boolean> {
    try {
      if (sweeps.length > 0)
        await this.#options.database.commitBeside(async (session) => {
          for (const sweep of sweeps) await this.#runSweep(session, sweep)
        })
      // A sweep that ran again would remove what phones have registered at other nodes since.
      sweeps.length = 0
      const all = [...changes]
      for (let start = 0; start < all.length; start += maxPerTransaction) {
        const some = all.slice(start, start + maxPerTransaction)
        await this.#commitSome(some.map(([, change]) => change))
        // A change that ran again would bring back what another node has removed since.
        for (const [id] of some) changes.delete(id)
      }
      return true
    } catch (error) {
      this.#outage({ err: error, changes: changes.size }, 'registrations could not be written')
      return false
    }
  }

  async #commitSome(some: readonly Change[]): Promise<void> {
    const { database, log } = this.#options
    try {
      await database.commitBeside(async (session) => {
        for (const change of some) await this.#run(session, change)
      })
    } catch (error) {
      // The account or client of one registration was removed at this moment: the others must not wait for it.
      if (database.brokenRule(error) === undefined) throw error
      if (some.length === 1) return log.warn({ err: error }, 'a registration could not be written')
      for (const change of some) await this.#commitSome([change])
    }
  }

  /** Puts what is left of a failed batch before what waits, except changes that newer ones or sweeps have replaced. */
  #takeBack(batch: Batch): void {
    const newer = this.#waiting
    this.#waiting = batch
    for (const sweep of newer.sweeps) this.#dropSwept(sweep)
    for (const change of newer.changes.values()) this.#add(change)
    batch.sweeps.push(...newer.sweeps)
  }

  #run(session: Session, change: Change): Promise<unknown> {
    const node = this.#options.node()
    if (change.kind === 'remove')
      return this.#queries.remove.all(session, { node, aor: change.aor, key: change.key })
    const cells = toCells(change.registration, node)
    return this.#queries.save.all(session, { ...cells, place: change.place ?? null })
  }

  #runSweep(session: Session, sweep: Sweep): Promise<unknown> {
    return sweep.kind === 'user'
      ? this.#queries.removeUser.all(session, { aor: sweep.aor })
      : this.#queries.removeRealm.all(session, { realm: sweep.realm })
  }
}

function partsOf(aor: string): { readonly username: string; readonly realm: string } {
  const at = aor.lastIndexOf('@')
  return { username: aor.slice(0, at), realm: aor.slice(at + 1).toLowerCase() }
}

function toCells(registration: Registration, node: string): Cells {
  const { aor, key, contact, instance, q, expiresAt, remote, path, callId, cseq, userAgent } = registration
  return {
    node,
    aor,
    key,
    ...partsOf(aor),
    contact,
    instance: instance ?? null,
    q: q ?? null,
    path: JSON.stringify(path),
    ...remote,
    call_id: callId,
    cseq,
    user_agent: userAgent ?? null,
    expires_at: expiresAt,
    updated_at: registration.registeredAt,
  }
}

function toRegistration(row: Cells): Registration {
  const textOf = (name: string): string | undefined => (row[name] === null ? undefined : String(row[name]))
  return {
    aor: String(row['aor']),
    key: String(row['key']),
    contact: String(row['contact']),
    instance: textOf('instance'),
    q: textOf('q'),
    expiresAt: Number(row['expires_at']),
    registeredAt: Number(row['updated_at']),
    remote: {
      transport: String(row['transport']),
      address: String(row['address']),
      port: Number(row['port']),
    },
    path: JSON.parse(String(row['path'])) as string[],
    callId: String(row['call_id']),
    cseq: Number(row['cseq']),
    userAgent: textOf('user_agent'),
  }
}
