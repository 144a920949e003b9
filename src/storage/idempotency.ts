// Responses that are repeated for repeated requests: kept in the transaction of the request's changes.
import type { Tenancy } from '../contracts/caller.ts'
import type { Clock } from '../lib/clock.ts'
import type { ChangeSet } from './rows/change-set.ts'
import type { Database, Session } from './database/database.ts'
import { prepare, slot, slots } from './database/prepared.ts'
import type { RepositoryMaker } from './rows/repository.ts'
import type { Vault } from './secrets.ts'
import type { Actor, Repositories, RowStorage } from './rows/rows.ts'

/** One request, which may be sent several times. */
export interface OnceRequest {
  /** The client of the API. The keys of two clients never collide. */
  readonly principal: string
  readonly key: string
  readonly route: string
  /** The result of `IdempotencyStore.fingerprint`. */
  readonly fingerprint: string
}

export interface KeptResponse extends Pick<OnceRequest, 'route' | 'fingerprint'> {
  readonly status: number
  /** Undefined when the response has no body. */
  readonly body: unknown
}

export type Answer = Pick<KeptResponse, 'status' | 'body'>

export interface IdempotencyStore {
  find(request: Pick<OnceRequest, 'principal' | 'key'>): Promise<KeptResponse | undefined>
  /**
   * Runs `work`. Everything that it changes through the given storage is one transaction, which begins with the first
   * change and is committed together with the response when `work` has resolved. Returns undefined if another request
   * with this key got its response meanwhile: then nothing of `work` remains. Once `work` has changed something, it
   * must not await anything slow.
   */
  once<A extends Answer>(
    request: OnceRequest,
    actor: Actor,
    work: (storage: UnitStorage) => Promise<A>,
  ): Promise<A | undefined>
  /** Returns a text that differs for different inputs and reveals none of them: bodies hold passwords. */
  fingerprint(text: string): string
}

export type UnitStorage = Pick<RowStorage, 'for' | 'transaction'>

export const keptForMs = 24 * 60 * 60 * 1000

export interface IdempotencyOptions {
  readonly database: Database
  readonly repositories: RepositoryMaker
  readonly vault: Vault
  readonly clock: Clock
  readonly change: RunChange
}

/** Runs one transaction, with the audit log entries for its changes. */
export type RunChange = <R>(
  work: (session: Session, changes: ChangeSet) => Promise<R>,
  actor: Actor | undefined,
) => Promise<R>

/** Thrown when another request has kept its response under this key; the changes of this one are undone. */
class KeyTaken extends Error {}

export function createIdempotencyStore(options: IdempotencyOptions): IdempotencyStore {
  const { database, vault, clock } = options
  const queries = createQueries(database)

  async function keep(session: Session, request: OnceRequest, { status, body }: Answer): Promise<void> {
    const now = clock.now()
    const kept = await queries.keep.all(session, {
      ...request,
      status,
      response: body === undefined ? null : vault.seal(JSON.stringify(body), placeOf(request)),
      created_at: now,
      expires_at: now + keptForMs,
    })
    if (kept.length === 0) throw new KeyTaken()
  }

  return {
    async find({ principal, key }) {
      const [row] = await queries.find.all(database.reader, { principal, key, now: clock.now() })
      if (row === undefined) return undefined
      const { response } = row
      return {
        route: String(row['route']),
        fingerprint: String(row['fingerprint']),
        status: Number(row['status']),
        body:
          typeof response === 'string'
            ? (JSON.parse(vault.unseal(response, placeOf({ principal, key }))) as unknown)
            : undefined,
      }
    },
    async once(request, actor, work) {
      const unit = new Unit(options, actor)
      try {
        const answer = await work(unit.storage)
        await unit.commit((session) => keep(session, request, answer))
        return answer
      } catch (error) {
        // The handler fails only once everything is undone.
        await unit.undo(error)
        if (error instanceof KeyTaken) return undefined
        throw error
      }
    },
    fingerprint: (text) => vault.mac('request fingerprint', text),
  }
}

/** Returns the place of a stored response, to which its encryption is bound. */
function placeOf({ principal, key }: Pick<OnceRequest, 'principal' | 'key'>) {
  return { table: 'idempotency_keys', row: `${principal} ${key}`, column: 'response' }
}

/** The changes of one request: one transaction, which begins with the first of them. */
class Unit {
  readonly storage: UnitStorage = {
    for: (tenancy) => this.#bound(tenancy),
    transaction: (tenancy, work) => this.#joined(() => work(this.#bound(tenancy))),
  }
  readonly #options: IdempotencyOptions
  readonly #actor: Actor
  #transaction: Promise<OpenTransaction> | undefined
  #failure: { readonly error: unknown } | undefined

  constructor(options: IdempotencyOptions, actor: Actor) {
    this.#options = options
    this.#actor = actor
  }

  /** Runs the last step and commits. */
  async commit(last: LastStep): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error
    const transaction = await this.#open()
    await transaction.commit(last)
  }

  /** Resolves when nothing of the changes is left. */
  async undo(error: unknown): Promise<void> {
    // A transaction that could not begin has left nothing.
    const transaction = await this.#transaction?.catch(() => undefined)
    await transaction?.rollBack(error)
  }

  #bound(tenancy: Tenancy): Repositories {
    return this.#options.repositories.bind(tenancy, {
      reader: { all: async (sql, parameters) => (await this.#reader()).all(sql, parameters) },
      write: (work) => this.#joined(({ session, changes }) => work(session, changes)),
    })
  }

  #open(): Promise<OpenTransaction> {
    return (this.#transaction ??= begin(this.#options.change, this.#actor))
  }

  async #reader(): Promise<Session> {
    // After a failure, repairs must read what is really stored.
    if (this.#transaction === undefined || this.#failure !== undefined) return this.#options.database.reader
    return (await this.#transaction).session
  }

  /**
   * A unit in which something failed must not be committed, even if the failure was caught. It is undone immediately,
   * so that repairs outside of the database that follow, for example of DNS records, block no writer.
   */
  async #joined<R>(work: (transaction: OpenTransaction) => Promise<R>): Promise<R> {
    if (this.#failure !== undefined) throw this.#failure.error
    try {
      return await work(await this.#open())
    } catch (error) {
      this.#failure ??= { error }
      await this.undo(error)
      throw error
    }
  }
}

type LastStep = (session: Session) => Promise<void>

interface OpenTransaction {
  readonly session: Session
  readonly changes: ChangeSet
  commit(last: LastStep): Promise<void>
  rollBack(error: unknown): Promise<void>
}

/** Begins a transaction that stays open until its `commit` or `rollBack` is called. */
async function begin(change: RunChange, actor: Actor): Promise<OpenTransaction> {
  const begun = Promise.withResolvers<Pick<OpenTransaction, 'session' | 'changes'>>()
  const end = Promise.withResolvers<LastStep>()
  const ended = change(async (session, changes) => {
    begun.resolve({ session, changes })
    const last = await end.promise
    await last(session)
  }, actor)
  // A failure before it has begun means that it cannot begin. A later one also rejects `ended`.
  ended.catch(begun.reject)
  const { session, changes } = await begun.promise
  return {
    session,
    changes,
    commit(last) {
      end.resolve(last)
      return ended
    },
    async rollBack(error) {
      end.reject(error)
      await ended.catch(() => undefined)
    },
  }
}

function createQueries({ builder: db }: Database) {
  const answer = slots(['route', 'fingerprint', 'status', 'response', 'created_at', 'expires_at'])
  return {
    find: prepare(
      db
        .selectFrom('idempotency_keys')
        .selectAll()
        .where('principal', '=', slot('principal'))
        .where('key', '=', slot('key'))
        .where('expires_at', '>', slot('now')),
    ),
    // A response that has expired but was not removed yet is overwritten.
    keep: prepare(
      db
        .insertInto('idempotency_keys')
        .values({ ...slots(['principal', 'key']), ...answer })
        .onConflict((conflict) =>
          conflict
            .columns(['principal', 'key'])
            .doUpdateSet(answer)
            .where('idempotency_keys.expires_at', '<=', slot('created_at')),
        )
        .returning('key'),
    ),
  }
}
