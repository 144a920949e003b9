// The lease of this process among those that share the database: it shows that it is alive, and removes the nodes that
// are not. docs/decisions/0019-calls-of-a-node.md says what follows for calls.
import type { SelectQueryBuilder } from 'kysely'
import type { Clock, Timer } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { createSid } from '../../lib/ids.ts'
import type { Logger } from '../../lib/log.ts'
import type { Cells, Database, Session } from '../database/database.ts'
import type { NodePlace } from './node-place.ts'
import { prepare, slot, type Prepared } from '../database/prepared.ts'
import type { Schema } from '../tables.ts'
import { createSilenceWatch } from './silence-watch.ts'

export interface NodeLease {
  /** The id of this process; `rejoin` gives it a new one. */
  readonly nodeId: string
  /** Whether another node has declared this one dead. */
  readonly isLost: boolean
  /** Returns why this node cannot reach the database that it shares, or undefined. */
  refusal(): AppError | undefined
  /** Throws LeaseLostError if this node was declared dead. Otherwise it cannot be until the transaction has ended. */
  demand(session: Session): Promise<void>
  /** Performs the smallest possible write. */
  touch(session: Session): Promise<void>
  /** Becomes a new node, takes over those calls of the old one that no other node has taken, and returns them. */
  rejoin(): Promise<ReadonlySet<string>>
  start(): Promise<void>
  stop(): Promise<void>
  watch(listener: NodeLeaseListener): void
}

export interface NodeLeaseListener {
  /** Runs after every beat that others can see. */
  readonly beaten: () => void
  /** Runs once when this node has not been seen for so long that others may have closed its calls. */
  readonly cutOff?: () => void
  /** Runs when this node finds that it was declared dead. */
  readonly lost: () => void
  /** Reports whether calls are open here. Without open calls, a node that is alone writes no beats. */
  readonly hasCalls: () => boolean
}

export interface NodeLeaseOptions {
  readonly database: Database
  /** The place of this node, taken before the start. */
  readonly place: Pick<NodePlace, 'name'>
  /** Looks at the clock of the database, at the start and with each beat. */
  readonly look?: () => Promise<void>
  readonly clock: Clock
  readonly log: Logger
}

export class LeaseLostError extends Error {
  constructor() {
    super('another node has declared this one dead')
  }
}

const beatMs = 3000
// Five beats. With the interval until the last beat is seen and the one until the silence is found, the calls of a
// dead node are closed within 22 s of its death.
const silentMs = 15_000
// Others close the calls of a node that they have not seen for 22 s. A database that moves to its standby takes longer,
// and then no node closes any: the rest of this minute is for that.
const cutOffMs = 60_000
// One beat, one response just before its time limit, and a margin.
const gapMs = 8000

export function createNodeLease(options: NodeLeaseOptions): NodeLease {
  const { database, clock, log } = options
  const { pulse, isShared } = database
  const place = (): string | null => options.place.name ?? null
  const queries = createQueries(database)
  const watch = createSilenceWatch({ clock, silentMs, gapMs })
  let node_id = createSid()
  /** The id of a rejoin that has failed: it may have been committed all the same, so the next one uses the id again. */
  let next: string | undefined
  let isLost = false
  let isFailing = false
  let timer: Timer | undefined
  let beating: Promise<void> | undefined
  let isStopped = false
  let seenAt = clock.monotonic()
  let isCutOff = false
  let listener: NodeLeaseListener = {
    beaten: () => undefined,
    lost: () => undefined,
    hasCalls: () => false,
  }

  const write = (session: Session) => queries.beat.all(session, { node_id, alive_at: clock.now() })

  /**
   * Writes a beat on an unshared database. Only the next start reads it, for how long the calls of this process lasted.
   */
  async function beatAlone(): Promise<void> {
    if (listener.hasCalls()) await database.commitBeside(write)
  }

  async function beat(connection: Session): Promise<void> {
    const [own] = await write(connection)
    if (own === undefined) return lose()
    const nodes = await queries.list.all(connection, {})
    const dead = watch.look(
      nodes.map((row) => ({ node_id: String(row['node_id']), beats: Number(row['beats']) })),
    )
    for (const { node_id: silent, beats } of dead) {
      // The node stays if it beats, or writes, at this moment.
      const [removed] = await queries.removeSilent.all(connection, { node_id: silent, beats })
      if (removed !== undefined) log.warn({ node_id: silent }, 'a node is gone; its calls are closed here')
    }
    listener.beaten()
  }

  function lose(): void {
    if (isLost) return
    isLost = true
    listener.lost()
  }

  async function beatOn(): Promise<void> {
    try {
      await (isShared ? beat(pulse) : beatAlone())
      isFailing = false
      isCutOff = false
      seenAt = clock.monotonic()
      await options.look?.()
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'this node cannot write its sign of life')
      isFailing = true
      if (isShared && !isCutOff && clock.monotonic() - seenAt >= cutOffMs) {
        isCutOff = true
        log.error({}, 'this node is cut off from the database: calls over carriers are ended')
        listener.cutOff?.()
      }
    }
    if (!isStopped) beatLater()
  }

  function beatLater(): void {
    timer = clock.after(beatMs, () => {
      beating = beatOn()
    })
  }

  return {
    get nodeId() {
      return node_id
    },
    get isLost() {
      return isLost
    },
    refusal() {
      if (!isFailing || !isShared) return undefined
      return new AppError('database_unavailable', 'this node does not reach the database')
    },
    async demand(session) {
      if (!isShared) return
      const [row] = await queries.demand.all(session, { node_id })
      if (row !== undefined) return
      lose()
      throw new LeaseLostError()
    },
    async touch(session) {
      await write(session)
    },
    async rejoin() {
      next ??= createSid()
      const ids = { node_id, next }
      const calls = await database.commitBeside(async (session) => {
        await queries.join.all(session, { node_id: ids.next, place: place() })
        return queries.takeBack.all(session, ids)
      })
      node_id = ids.next
      next = undefined
      isLost = false
      return new Set(calls.map(({ call_sid }) => String(call_sid)))
    },
    async start() {
      await database.commitBeside(async (session) => {
        // This is the only process of this database, or of this place: the nodes recorded earlier are gone.
        if (!isShared) await remove(session, queries.everywhere, {})
        else if (place() !== null) await remove(session, queries.at, { place: place() })
        await queries.join.all(session, { node_id, place: place() })
      })
      seenAt = clock.monotonic()
      await options.look?.()
      beatLater()
    },
    async stop() {
      isStopped = true
      timer?.cancel()
      await beating
      await database
        .commitBeside((session) => remove(session, queries.own, { node_id }))
        .catch((error: unknown) => log.warn({ err: error }, 'this node could not sign off'))
    },
    watch(given) {
      listener = given
    },
  }
}

function createQueries({ builder: db, rowLocks }: Database) {
  const node_id = slot('node_id')
  const own = db.selectFrom('nodes').select('node_id').where('node_id', '=', node_id)
  const silent = own.where('beats', '=', slot('beats'))
  return {
    join: prepare(
      db
        .insertInto('nodes')
        .values({ node_id, place: slot('place'), beats: 0, alive_at: null })
        .onConflict((conflict) => conflict.column('node_id').doNothing()),
    ),
    own: removal(db, own),
    everywhere: removal(db, db.selectFrom('nodes').select('node_id')),
    at: removal(db, db.selectFrom('nodes').select('node_id').where('place', '=', slot('place'))),
    beat: prepare(
      db
        .updateTable('nodes')
        .set((eb) => ({ beats: eb('beats', '+', 1), alive_at: slot('alive_at') }))
        .where('node_id', '=', node_id)
        .returning('node_id'),
    ),
    list: prepare(db.selectFrom('nodes').select(['node_id', 'beats'])),
    // Does what `removal` does, in one statement, because the connection of the beats runs only single statements.
    removeSilent: prepare(
      db
        .with('removed', (query) =>
          query
            .deleteFrom('nodes')
            .where('node_id', 'in', rowLocks?.skip(silent) ?? silent)
            .returning(['node_id', 'alive_at']),
        )
        .with('kept', (query) =>
          query
            .updateTable('open_calls')
            .from('removed')
            .set((eb) => ({ alive_at: eb.ref('removed.alive_at') }))
            .whereRef('open_calls.node_id', '=', 'removed.node_id')
            .where('open_calls.alive_at', 'is', null),
        )
        .selectFrom('removed')
        .select('removed.node_id'),
    ),
    demand: prepare(rowLocks?.keep(own) ?? own),
    takeBack: prepare(
      db
        .updateTable('open_calls')
        .set({ node_id: slot('next'), alive_at: null })
        .where('node_id', 'in', [node_id, slot('next')])
        .returning('call_sid'),
    ),
  }
}

interface Removal {
  readonly keepSigns: Prepared
  readonly remove: Prepared
}

/**
 * Returns the statements that remove nodes. The open calls of these nodes keep the last sign of life; calls that a
 * node has adopted have one already.
 */
function removal(
  db: Database['builder'],
  nodes: SelectQueryBuilder<Schema, 'nodes', { node_id: string }>,
): Removal {
  return {
    keepSigns: prepare(
      db
        .updateTable('open_calls')
        .set((eb) => ({
          alive_at: eb
            .selectFrom('nodes')
            .select('nodes.alive_at')
            .whereRef('nodes.node_id', '=', 'open_calls.node_id'),
        }))
        .where('alive_at', 'is', null)
        .where('node_id', 'in', nodes),
    ),
    remove: prepare(db.deleteFrom('nodes').where('node_id', 'in', nodes)),
  }
}

async function remove(
  session: Session,
  { keepSigns, remove: removeNodes }: Removal,
  values: Cells,
): Promise<void> {
  await keepSigns.all(session, values)
  await removeNodes.all(session, values)
}
