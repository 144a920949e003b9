// The audit log: who changed what, written in the transaction of the change and chained, so that tampering shows.
import { timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import type { Kysely, SelectQueryBuilder } from 'kysely'
import type { Tenancy } from '../contracts/caller.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { batchSize, canonical, genesis, hashOf, verifyChain } from './audit-chain.ts'
import type { AuditVerdict, Entry, Head } from './audit-chain.ts'
import type { Change, OwnerIds } from './rows/change-set.ts'
import type { Database, Readers, Session } from './database/database.ts'
import { prepare, prepareInsert, run, slot, slots } from './database/prepared.ts'
import { readPage } from './database/read-page.ts'
import type { PageOf, PageQuery } from './database/read-page.ts'
import { tenancyFilter } from './rows/ownership.ts'
import type { Vault } from './secrets.ts'
import type { Actor } from './rows/rows.ts'
import type { Schema } from './tables.ts'

export interface AuditLog {
  /** Adds entries within the transaction of the changes. */
  append(session: Session, changes: readonly Change[], actor: Actor | undefined): Promise<void>
  readWith(readers: Readers): AuditReading
  /** Makes the head of a log that does not have one yet. */
  begin(session: Session): Promise<void>
}

export interface AuditReading {
  /** Returns the entries that the tenancy sees, newest first. */
  page(tenancy: Tenancy, query: AuditQuery): Promise<PageOf<Schema['audit_log']>>
  verify(): Promise<AuditVerdict>
}

/** The audit log as the API uses it. */
export interface AuditTrail extends AuditReading {
  /** Adds an entry for an action outside of the database, once it has succeeded. */
  note(deed: Deed): Promise<void>
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
  const sealOf = (seq: number, hash: string): string => vault.mac('audit head', `${seq} ${hash}`)

  let known: { readonly seq: number; readonly hash: string; readonly seal: string } | undefined

  async function readHead(session: Session): Promise<Head | undefined> {
    const [row] = await queries.head.all(session, { id: headId })
    if (row === undefined) return undefined
    const [seq, hash, seal] = [Number(row['seq']), String(row['hash']), String(row['seal'])]
    // The seal that was set last is known to be good, and checking it would cost as much as making it.
    const isKnown = known?.seq === seq && known.hash === hash && known.seal === seal
    return { seq, hash, isSealed: isKnown || isSame(seal, sealOf(seq, hash)) }
  }

  return {
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
        const head = await readHead(reader)
        return verifyChain(head, async (after, upTo) => {
          const rows = await queries.next.all(slowReader, { after, upTo })
          return rows as unknown as Schema['audit_log'][]
        })
      },
    }),
    async begin(session) {
      const [[head], [entry]] = [
        await queries.head.all(session, { id: headId }),
        await queries.next.all(session, { after: 0, upTo: Number.MAX_SAFE_INTEGER }),
      ]
      // Entries without a head mean that the head was removed; verification reports that.
      if (head !== undefined || entry !== undefined) return
      await queries.moveHead.all(session, { id: headId, seq: 0, hash: genesis, seal: sealOf(0, genesis) })
    },
  }
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
        .limit(batchSize),
    ),
    append: prepareInsert(db, 'audit_log'),
  }
}
