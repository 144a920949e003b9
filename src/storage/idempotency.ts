// Responses that are repeated for repeated requests: kept in the transaction of the request's changes.
import type { Tenancy } from '../contracts/caller.ts'
import type { Clock } from '../lib/clock.ts'
import type { ChangeSet } from './rows/change-set.ts'
import type { Database, Session } from './database/database.ts'
import { prepare, slot, slots } from './database/prepared.ts'
import type { RepositoryMaker } from './rows/repository.ts'
import type { Vault } from './secrets.ts'
import type { Actor, RowStorage } from './rows/rows.ts'

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
  const place = ({ principal, key }: Pick<OnceRequest, 'principal' | 'key'>) => ({
    table: 'idempotency_keys',
    row: `${principal} ${key}`,
    column: 'response',
  })

  async function keep(session: Session, request: OnceRequest, { status, body }: Answer): Promise<void> {
    const now = clock.now()
    const kept = await queries.keep.all(session, {
      ...request,
      status,
      response: body === undefined ? null : vault.seal(JSON.stringify(body), place(request)),
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
            ? (JSON.parse(vault.unseal(response, place({ principal, key }))) as unknown)
            : undefined,
      }
    },
    async once(request, actor, work) {
      const unit = createUnit(options, actor, (session, answer) => keep(session, request, answer))
      try {
        return await unit.run(work)
      } catch (error) {
        if (error instanceof KeyTaken) return undefined
        throw error
      }
    },
    fingerprint: (text) => vault.mac('request fingerprint', text),
  }
}

interface OpenTransaction {
  readonly session: Session
  readonly changes: ChangeSet
}

interface Unit {
  run<A extends Answer>(work: (storage: UnitStorage) => Promise<A>): Promise<A>
}

/** Creates a transaction that begins with the first change and ends when its work has; `keep` is its last step. */
function createUnit(
  { database, repositories, change }: IdempotencyOptions,
  actor: Actor,
  keep: (session: Session, answer: Answer) => Promise<void>,
): Unit {
  const finished = Promise.withResolvers<Answer>()
  let opened: Promise<OpenTransaction> | undefined
  let committed: Promise<void> | undefined
  let failure: { readonly error: unknown } | undefined
  // This promise may reject before the transaction waits for it.
  finished.promise.catch(() => undefined)

  function open(): Promise<OpenTransaction> {
    opened ??= new Promise((resolve, reject) => {
      committed = change(async (session, changes) => {
        resolve({ session, changes })
        await keep(session, await finished.promise)
      }, actor)
      // A failure before it is open means that it could not begin; later, `run` awaits the commit and fails with it.
      committed.catch(reject)
    })
    return opened
  }

  // After a failure, repairs must read what is really stored.
  const reader: Session = {
    all: async (sql, parameters) =>
      (opened === undefined || failure !== undefined ? database.reader : (await opened).session).all(
        sql,
        parameters,
      ),
  }

  async function undo(error: unknown): Promise<void> {
    finished.reject(error)
    await committed?.catch(() => undefined)
  }

  /**
   * A unit in which something failed must not be committed, even if the failure was caught. It is undone immediately,
   * so that repairs outside of the database that follow, for example of DNS records, block no writer.
   */
  async function joined<R>(work: (transaction: OpenTransaction) => Promise<R>): Promise<R> {
    if (failure !== undefined) throw failure.error
    try {
      return await work(await open())
    } catch (error) {
      failure ??= { error }
      await undo(error)
      throw error
    }
  }

  const bound = (tenancy: Tenancy) =>
    repositories.bind(tenancy, {
      reader,
      write: (work) => joined(({ session, changes }) => work(session, changes)),
    })

  const storage: UnitStorage = {
    for: bound,
    transaction: (tenancy, work) => joined(() => work(bound(tenancy))),
  }

  return {
    async run(work) {
      try {
        const answer = await work(storage)
        if (failure !== undefined) throw failure.error
        await open()
        finished.resolve(answer)
        await committed
        return answer
      } catch (error) {
        // The handler fails only once everything is undone.
        await undo(error)
        throw error
      }
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
