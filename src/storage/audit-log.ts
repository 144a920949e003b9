// The audit log: who changed what, written in the transaction of the change and chained, so that tampering shows.
import { timingSafeEqual } from 'node:crypto'
import { sql, type Kysely, type SelectQueryBuilder } from 'kysely'
import type { Tenancy } from '../contracts/caller.ts'
import type { Clock } from '../lib/clock.ts'
import { createTokenBuckets } from '../lib/bounds/token-buckets.ts'
import { AppError } from '../lib/errors.ts'
import {
  batchSize,
  canonical,
  genesis,
  hashOf,
  verifyChain,
  type AuditVerdict,
  type Entry,
  type Head,
  type Place,
} from './audit-chain.ts'
import type { Change, OwnerIds } from './rows/change-set.ts'
import type { Database, Readers, Session } from './database/database.ts'
import { prepare, prepareInsert, rowSlot, run, slot, slots } from './database/prepared.ts'
import { readPage, type PageOf, type PageQuery } from './database/read-page.ts'
import { tenancyFilter } from './rows/ownership.ts'
import type { Vault } from './secrets.ts'
import type { Actor } from './rows/rows.ts'
import type { Schema } from './tables.ts'

export interface AuditLog {
  /** Adds entries within the transaction of the changes. */
  append(session: Session, changes: readonly Change[], actor: Actor | undefined): Promise<void>
  readWith(readers: Readers): AuditReading
  /** Throws AppError audit_budget for a change by a tenant that has used up its bytes of this hour. */
  demandBudget(changes: readonly Change[], actor: Actor | undefined): void
  /**
   * Seals a checkpoint at this entry, so that the entries up to it may be removed. Throws AppError not_found if there is
   * no such entry, audit_log_broken if the log up to it is not whole.
   */
  seal(place: Place, actor: Actor | undefined): Promise<void>
  /** Removes some entries up to the checkpoint, and returns their number: 0 if there are no more. */
  prune(): Promise<number>
  /** Makes the head of a log that does not have one yet. */
  begin(session: Session): Promise<void>
}

export interface AuditReading {
  /** Returns the entries that the tenancy sees, newest first. */
  page(tenancy: Tenancy, query: AuditQuery): Promise<PageOf<Schema['audit_log']>>
  verify(): Promise<AuditVerdict>
  /** Returns the entries after this number, the oldest first: as many as are asked for, and 4 MB at most. */
  after(seq: number, count: number): Promise<readonly Schema['audit_log'][]>
}

/** The audit log as the API uses it. */
export interface AuditTrail extends AuditReading {
  /** Adds an entry for an action outside of the database, once it has succeeded. */
  note(deed: Deed): Promise<void>
  /** Seals a checkpoint and removes the entries up to it: `AuditLog.seal` and `prune`. */
  removeUpTo(place: Place): Promise<void>
}

/** An action on a thing that is not a row: `resource` is its kind, `sid` its name where it is stored. */
export type Deed = Pick<Change, 'action' | 'resource' | 'sid' | keyof OwnerIds>

export interface AuditQuery extends PageQuery {
  readonly account_sid?: string | undefined
  readonly resource?: string | undefined
  readonly sid?: string | undefined
  readonly action?: Schema['audit_log']['action'] | undefined
  readonly actor_sid?: string | undefined
  /** Epoch ms; both are inclusive. */
  readonly start?: number | undefined
  readonly end?: number | undefined
}

const headId = 1
const baseId = 2
// One account can keep 16 MB in an hour. An entry has some 2 kB, so this is about two a second.
const budget = { capacity: 16_384, refillMs: 3_600_000 }
// The columns of an entry besides the cells, and its share of the indexes.
const entryBytes = 700
const maxPruned = 500
/**
 * The most bytes of a page of entries. A record and its changes may each take a quarter of a megabyte, and the main
 * thread parses the entries as JSON.
 */
const maxPageBytes = 4 * 1024 * 1024

/** Throws AppError bad_request for a page whose entries are too large together; a single entry never is. */
async function demandSmall(
  session: Session,
  matching: SelectQueryBuilder<Schema, 'audit_log', object>,
  { page, count }: PageQuery,
): Promise<void> {
  const bytes = sql<number>`coalesce(octet_length("before"), 0) + coalesce(octet_length("after"), 0)`
  const ofPage = matching.select(bytes.as('bytes')).orderBy('seq', 'desc')
  const sizes = await run(session, ofPage.limit(count).offset((page - 1) * count))
  const sum = sizes.reduce((total, row) => total + Number(row['bytes']), 0)
  if (count > 1 && sum > maxPageBytes)
    throw new AppError('bad_request', 'count: the entries of this page are larger than 4 MB together', {
      cure: 'Ask for fewer entries on a page.',
    })
}

export interface AuditLogOptions {
  readonly database: Database
  readonly vault: Vault
  readonly clock: Clock
}

export function createAuditLog({ database, vault, clock }: AuditLogOptions): AuditLog {
  const db = database.builder
  const queries = createQueries(db)
  const budgets = createTokenBuckets(clock)
  const sealOf = (seq: number, hash: string): string => vault.mac('audit head', `${seq} ${hash}`)
  const baseSealOf = (seq: number, hash: string): string => vault.mac('audit checkpoint', `${seq} ${hash}`)

  let known: { readonly seq: number; readonly hash: string; readonly seal: string } | undefined

  async function readHead(session: Session): Promise<Head | undefined> {
    const [row] = await queries.head.all(session, { id: headId })
    if (row === undefined) return undefined
    const [seq, hash, seal] = [Number(row['seq']), String(row['hash']), String(row['seal'])]
    // The seal that was set last is known to be good, and checking it would cost as much as making it.
    const isKnown = known?.seq === seq && known.hash === hash && known.seal === seal
    return { seq, hash, isSealed: isKnown || isSame(seal, sealOf(seq, hash)) }
  }

  async function readBase(session: Session): Promise<Head | undefined> {
    const [row] = await queries.head.all(session, { id: baseId })
    if (row === undefined) return undefined
    const [seq, hash] = [Number(row['seq']), String(row['hash'])]
    return { seq, hash, isSealed: isSame(String(row['seal']), baseSealOf(seq, hash)) }
  }

  const nextOf = (session: Session) => async (after: number, upTo: number) => {
    const rows = await queries.next.all(session, { after, upTo, limit: batchSize })
    return rows as unknown as Schema['audit_log'][]
  }

  const log: AuditLog = {
    demandBudget(changes, actor) {
      const owner = ownerOf(actor)
      if (owner === undefined || changes.length === 0) return
      const bytes = changes.reduce((sum, { before, after }) => sum + sizeOf(before) + sizeOf(after), 0)
      const ofEach = entryBytes + (actor?.unknown_fields?.length ?? 0)
      const waitMs = budgets.take(owner, budget, Math.ceil((bytes + changes.length * ofEach) / 1024))
      // Removals are bounded by what there is, and a key that was stolen must go.
      if (waitMs === 0 || changes.every(({ action }) => action === 'delete')) return
      throw new AppError(
        'audit_budget',
        'the account has changed more in this hour than its audit log may hold',
        {
          retryAfterSeconds: Math.ceil(waitMs / 1000),
        },
      )
    },
    async append(session, changes, actor) {
      if (changes.length === 0) return
      const head = (await readHead(session)) ?? { seq: 0, hash: genesis, isSealed: false }
      let { seq, hash } = head
      const at = clock.now()
      for (const change of changes) {
        const entry = entryOf(change, actor, { seq: ++seq, at, previous_hash: hash })
        hash = hashOf(entry)
        await queries.append(session, { ...entry, hash })
      }
      // Later entries do not make a forged head good again.
      const seal = head.isSealed ? sealOf(seq, hash) : 'broken'
      if (head.isSealed) known = { seq, hash, seal }
      await queries.moveHead.all(session, { id: headId, seq, hash, seal })
    },
    readWith: ({ reader, slowReader }) => ({
      async page(tenancy, query) {
        const matching = filtered(db.selectFrom('audit_log'), query).where((eb) =>
          eb.and(tenancyFilter(tenancy)),
        )
        await demandSmall(slowReader, matching, query)
        return readPage(slowReader, matching, matching.selectAll().orderBy('seq', 'desc'), query)
      },
      async verify() {
        // Read in this order, a checkpoint that is sealed meanwhile changes nothing.
        const base = await readBase(reader)
        return verifyChain({ head: await readHead(reader), base }, nextOf(slowReader))
      },
      async after(seq, count) {
        const limit = Math.min(count, batchSize)
        const rows = (await queries.next.all(slowReader, {
          after: seq,
          upTo: Number.MAX_SAFE_INTEGER,
          limit,
        })) as unknown as Schema['audit_log'][]
        let bytes = 0
        return rows.filter(({ before, after }, index) => {
          bytes += (before?.length ?? 0) + (after?.length ?? 0)
          return index === 0 || bytes <= maxPageBytes
        })
      },
    }),
    async seal({ seq, hash }, actor) {
      const base = await readBase(database.reader)
      const [entry] = await nextOf(database.slowReader)(seq - 1, seq)
      if (entry?.hash !== hash || seq <= (base?.seq ?? 0))
        throw new AppError('not_found', 'there is no entry with this number and hash')
      const upTo = { seq, hash, isSealed: true }
      const { isIntact } = await verifyChain({ head: upTo, base }, nextOf(database.slowReader))
      if (!isIntact)
        throw new AppError('audit_log_broken', 'the log up to this entry is not whole, so it is not removed')
      await database.commit(async (session) => {
        await queries.moveHead.all(session, { id: baseId, seq, hash, seal: baseSealOf(seq, hash) })
        const removed = { first: (base?.seq ?? 0) + 1, last: seq, hash }
        const what = { action: 'delete', resource: 'audit_log', sid: String(seq) } as const
        const entries = [
          { ...what, account_sid: null, service_provider_sid: null, before: removed, after: null },
        ]
        await log.append(session, entries, actor)
      })
      await database.durable()
    },
    async prune() {
      const [base] = await queries.head.all(database.reader, { id: baseId })
      if (base === undefined) return 0
      const removed = await database.commitBeside((session) =>
        queries.prune.all(session, { upTo: Number(base['seq']), limit: maxPruned }),
      )
      return removed.length
    },
    async begin(session) {
      const [[head], [entry]] = [
        await queries.head.all(session, { id: headId }),
        await queries.next.all(session, { after: 0, upTo: Number.MAX_SAFE_INTEGER, limit: 1 }),
      ]
      // Entries without a head mean that the head was removed; verification reports that.
      if (head !== undefined || entry !== undefined) return
      await queries.moveHead.all(session, { id: headId, seq: 0, hash: genesis, seal: sealOf(0, genesis) })
    },
  }
  return log
}

/** Returns the account, or else the provider, of the maker of a change. Undefined for an administrator. */
function ownerOf(actor: Actor | undefined): string | undefined {
  if (actor?.tenancy?.level === 'account') return actor.tenancy.account_sid
  return actor?.tenancy?.level === 'service_provider' ? actor.tenancy.service_provider_sid : undefined
}

function sizeOf(cells: Change['before']): number {
  return cells === null ? 0 : canonical(cells).length
}

function entryOf(
  change: Change,
  actor: Actor | undefined,
  place: Pick<Schema['audit_log'], 'seq' | 'at' | 'previous_hash'>,
): Entry {
  const { action, resource, sid, service_provider_sid, account_sid, before, after } = change
  return {
    ...place,
    ...whoIs(actor),
    address: actor?.address ?? null,
    request_id: actor?.request_id ?? null,
    service_provider_sid,
    account_sid,
    action,
    resource,
    sid,
    before: before === null ? null : canonical(before),
    after: after === null ? null : canonical(after),
    unknown_fields: actor?.unknown_fields ?? null,
  }
}

function whoIs(actor: Actor | undefined): Pick<Entry, 'actor_kind' | 'actor_sid' | 'actor_name'> {
  if (actor === undefined) return { actor_kind: 'platform', actor_sid: null, actor_name: null }
  const { principal } = actor
  switch (principal?.kind) {
    case undefined:
      return { actor_kind: 'anonymous', actor_sid: null, actor_name: null }
    case 'api_key':
      return { actor_kind: 'api_key', actor_sid: principal.api_key_sid, actor_name: null }
    case 'user':
      return { actor_kind: 'user', actor_sid: principal.user_sid, actor_name: principal.name }
  }
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

type Selecting = SelectQueryBuilder<Schema, 'audit_log', object>

function filtered(query: Selecting, wanted: AuditQuery): Selecting {
  const { start, end } = wanted
  let result = query
  for (const column of ['account_sid', 'resource', 'sid', 'action', 'actor_sid'] as const) {
    const value = wanted[column]
    if (value !== undefined) result = result.where(column, '=', value)
  }
  if (start !== undefined) result = result.where('at', '>=', start)
  if (end !== undefined) result = result.where('at', '<=', end)
  return result
}

function createQueries(db: Kysely<Schema>) {
  const head = slots(['seq', 'hash', 'seal'])
  return {
    head: prepare(db.selectFrom('audit_head').selectAll().where('id', '=', slot('id'))),
    moveHead: prepare(
      db
        .insertInto('audit_head')
        .values({ id: slot('id'), ...head })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(head)),
    ),
    next: prepare(
      db
        .selectFrom('audit_log')
        .selectAll()
        .where('seq', '>', slot('after'))
        .where('seq', '<=', slot('upTo'))
        .orderBy('seq')
        .limit(rowSlot('limit')),
    ),
    prune: prepare(
      db
        .deleteFrom('audit_log')
        .where('seq', 'in', (eb) =>
          eb
            .selectFrom('audit_log as old')
            .select('old.seq')
            .where('old.seq', '<=', slot('upTo'))
            .orderBy('old.seq')
            .limit(rowSlot('limit')),
        )
        .returning('seq'),
    ),
    append: prepareInsert(db, 'audit_log'),
  }
}
