// The registrations of this node. A change is committed before the phone gets its response, many in one transaction; a
// refresh is committed a little later. docs/decisions/0030-registrations-outlive-the-process.md says why.
import type { Clock, Timer } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import { createOutageLog } from '../../lib/outage-log.ts'
import type { Cells, Database, Session } from '../database/database.ts'
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

type Change =
  | { readonly kind: 'save'; readonly registration: Registration; readonly place: string | undefined }
  | { readonly kind: 'remove'; readonly aor: string; readonly key: string }

/** A removal that runs before the changes that wait with it. */
type Sweep =
  { readonly kind: 'user'; readonly aor: string } | { readonly kind: 'realm'; readonly realm: string }

interface Batch {
  /** Those that are not committed yet. */
  sweeps: readonly Sweep[]
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
  const { database, node, clock, log } = options
  const outage = createOutageLog(log, clock)
  const queries = createRegistrationQueries(database.builder)
  let sweeps: Sweep[] = []
  let changes = new Map<string, Change>()
  let next = Promise.withResolvers<void>()
  let running: Promise<void> | undefined
  let timer: Timer | undefined
  let isStopped = false

  const add = (aor: string, key: string, change: Change): void => {
    const id = `${aor} ${key}`
    changes.delete(id)
    changes.set(id, change)
  }

  function later(delayMs: number): void {
    if (!isStopped) timer ??= clock.after(delayMs, () => void flush())
  }

  /** Resolves when everything that waits now has been tried. */
  function flush(): Promise<void> {
    timer?.cancel()
    timer = undefined
    if (changes.size + sweeps.length === 0) return running ?? Promise.resolve()
    const tried = next.promise
    running ??= drain()
    return tried
  }

  async function drain(): Promise<void> {
    // Phones that register at the same time share a transaction.
    await new Promise(setImmediate)
    try {
      await drainAll()
    } finally {
      running = undefined
    }
  }

  async function drainAll(): Promise<void> {
    while (sweeps.length + changes.size > 0) {
      const batch: Batch = { sweeps, changes }
      const { resolve } = next
      sweeps = []
      changes = new Map()
      next = Promise.withResolvers()
      const isDone = await commit(batch)
      resolve()
      if (isDone) continue
      takeBack(batch)
      later(retryMs)
      return
    }
  }

  async function commit(batch: Batch): Promise<boolean> {
    const { sweeps: swept, changes: changed } = batch
    try {
      if (swept.length > 0)
        await database.commitBeside(async (session) => {
          for (const sweep of swept) await runSweep(session, sweep)
        })
      // A sweep that ran again would remove what phones have registered at other nodes since.
      batch.sweeps = []
      const all = [...changed]
      for (let start = 0; start < all.length; start += maxPerTransaction) {
        const some = all.slice(start, start + maxPerTransaction)
        await commitSome(some.map(([, change]) => change))
        // A change that ran again would bring back what another node has removed since.
        for (const [id] of some) changed.delete(id)
      }
      return true
    } catch (error) {
      outage({ err: error, changes: changed.size }, 'registrations could not be written')
      return false
    }
  }

  async function commitSome(some: readonly Change[]): Promise<void> {
    try {
      await database.commitBeside(async (session) => {
        for (const change of some) await run(session, change)
      })
    } catch (error) {
      // The account or client of one registration was removed at this moment: the others must not wait for it.
      if (database.brokenRule(error) === undefined) throw error
      if (some.length === 1) return log.warn({ err: error }, 'a registration could not be written')
      for (const change of some) await commitSome([change])
    }
  }

  /** Queues the changes of a failed batch again, except those that newer ones have replaced. */
  function takeBack(batch: Batch): void {
    const newer = changes
    changes = new Map(batch.changes)
    for (const sweep of sweeps) dropSwept(sweep)
    for (const [id, change] of newer) {
      changes.delete(id)
      changes.set(id, change)
    }
    sweeps = [...batch.sweeps, ...sweeps]
  }

  function dropSwept(sweep: Sweep): void {
    for (const [id, change] of changes) {
      const aor = change.kind === 'save' ? change.registration.aor : change.aor
      if (sweep.kind === 'user' ? aor === sweep.aor : partsOf(aor).realm === sweep.realm) changes.delete(id)
    }
  }

  function run(session: Session, change: Change): Promise<unknown> {
    return change.kind === 'save'
      ? queries.save.all(session, {
          ...toCells(change.registration, node()),
          place: change.place ?? null,
        })
      : queries.remove.all(session, { node: node(), aor: change.aor, key: change.key })
  }

  function runSweep(session: Session, sweep: Sweep): Promise<unknown> {
    return sweep.kind === 'user'
      ? queries.removeUser.all(session, { aor: sweep.aor })
      : queries.removeRealm.all(session, { realm: sweep.realm })
  }

  async function readOthers(query: typeof queries.elsewhere, where: Cells): Promise<readonly Registration[]> {
    if (!database.isShared) return []
    try {
      const rows = await query.all(database.reader, { node: node(), now: clock.now(), ...where })
      return rows.map(toRegistration)
    } catch (error) {
      log.error({ err: error }, 'registrations of other nodes could not be read')
      return []
    }
  }

  async function committed(): Promise<void> {
    const waited = Promise.withResolvers<void>()
    const limit = clock.after(maxWaitMs, waited.resolve)
    await Promise.race([flush(), waited.promise])
    limit.cancel()
  }

  async function sweep(wanted: Sweep): Promise<void> {
    dropSwept(wanted)
    sweeps.push(wanted)
    await committed()
  }

  return {
    async load() {
      const rows = await queries.load.all(database.reader, { node: node(), now: clock.now() })
      return rows.map(toRegistration)
    },
    elsewhere: (aor) => readOthers(queries.elsewhere, { aor }),
    elsewhereAt: (place) => readOthers(queries.elsewhereAt, { place }),
    async save(registration, { gone, isRefresh, place }) {
      const { aor, key } = registration
      for (const old of gone) add(aor, old, { kind: 'remove', aor, key: old })
      add(aor, key, { kind: 'save', registration, place })
      if (isRefresh) later(refreshMs)
      else await committed()
    },
    async remove(aor, key) {
      if (key === undefined) return sweep({ kind: 'user', aor })
      add(aor, key, { kind: 'remove', aor, key })
      await committed()
    },
    forget: (realm) => sweep({ kind: 'realm', realm }),
    flush,
    async stop() {
      isStopped = true
      await flush()
    },
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
