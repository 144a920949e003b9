// Registrations of the platform with its carriers. They also ensure that only one node registers with each: a carrier
// is held by a node in the table of nodes, and is free once that node is gone.
import type { CarrierRegistration, CarrierRegistrationStore } from '../../contracts/carrier-registration.ts'
import type { Cells, Database } from '../database/database.ts'
import { prepare, slot } from '../database/prepared.ts'
import type { NodeLease } from './node-lease.ts'

export interface CarrierRegistrationStoreOptions {
  readonly database: Database
  readonly lease: Pick<NodeLease, 'nodeId'>
  /** Runs when a carrier has begun to work or to fail, which makes carriers read before out of date. */
  readonly turned: () => void
}

export function createCarrierRegistrationStore({
  database,
  lease,
  turned,
}: CarrierRegistrationStoreOptions): CarrierRegistrationStore {
  const queries = createQueries(database)
  /** Outcomes of this node's registrations as last written. An unchanged one is no reason to read carriers again. */
  const outcomes = new Map<string, string>()

  async function held(): Promise<ReadonlySet<string>> {
    const rows = await queries.held.all(database.reader, { node_id: lease.nodeId })
    return new Set(rows.map((row) => String(row['voip_carrier_sid'])))
  }

  return {
    async load() {
      const rows = await queries.load.all(database.reader, {})
      return rows.map(toRegistration)
    },
    async hold(sids) {
      const mine = await held()
      const missing = sids.filter((sid) => !mine.has(sid))
      for (const voip_carrier_sid of missing) {
        try {
          await database.commitBeside((session) =>
            queries.take.all(session, { voip_carrier_sid, node_id: lease.nodeId }),
          )
        } catch (error) {
          // The carrier was removed at this moment, or another node has declared this one dead.
          if (database.brokenRule(error) === undefined) throw error
        }
      }
      const all = missing.length === 0 ? mine : await held()
      return new Set(sids.filter((sid) => all.has(sid)))
    },
    async save(registration, status) {
      const { voip_carrier_sid } = registration
      await database.commitBeside(async (session) => {
        const [row] = await queries.save.all(session, { ...toCells(registration), node_id: lease.nodeId })
        if (row === undefined || status === undefined) return
        const register_status = status === 'none' ? null : JSON.stringify(status)
        await queries.note.all(session, { voip_carrier_sid, register_status })
      })
      if (status === undefined) return
      const outcome = status === 'none' ? status : `${status.status} ${status.reason}`
      if (outcomes.get(voip_carrier_sid) === outcome) return
      outcomes.set(voip_carrier_sid, outcome)
      turned()
    },
    async release(sids) {
      if (sids.length === 0) return
      for (const sid of sids) outcomes.delete(sid)
      await database.commitBeside(async (session) => {
        for (const voip_carrier_sid of sids)
          await queries.release.all(session, { voip_carrier_sid, node_id: lease.nodeId })
      })
    },
  }
}

const facts = ['call_id', 'cseq', 'contact', 'expires_at', 'gateway', 'addresses', 'routes'] as const

const unregistered = {
  call_id: null,
  cseq: 0,
  contact: null,
  expires_at: 0,
  gateway: null,
  addresses: '[]',
  routes: '[]',
}

function createQueries({ builder: db }: Database) {
  const voip_carrier_sid = slot('voip_carrier_sid')
  const node_id = slot('node_id')
  const own = db
    .updateTable('carrier_registrations')
    .where('voip_carrier_sid', '=', voip_carrier_sid)
    .where('node_id', '=', node_id)
  return {
    load: prepare(db.selectFrom('carrier_registrations').select(['voip_carrier_sid', ...facts])),
    held: prepare(
      db.selectFrom('carrier_registrations').select('voip_carrier_sid').where('node_id', '=', node_id),
    ),
    take: prepare(
      db
        .insertInto('carrier_registrations')
        .values({ voip_carrier_sid, node_id, ...unregistered })
        .onConflict((conflict) =>
          conflict
            .column('voip_carrier_sid')
            .doUpdateSet({ node_id })
            .where('carrier_registrations.node_id', 'is', null),
        ),
    ),
    save: prepare(
      own.set(Object.fromEntries(facts.map((fact) => [fact, slot(fact)]))).returning('voip_carrier_sid'),
    ),
    release: prepare(own.set({ node_id: null })),
    note: prepare(
      db
        .updateTable('voip_carriers')
        .set({ register_status: slot('register_status') })
        .where('voip_carrier_sid', '=', voip_carrier_sid),
    ),
  }
}

function toCells(registration: CarrierRegistration): Cells {
  const { voip_carrier_sid, callId, cseq, contact, expiresAt, gateway, addresses, routes } = registration
  return {
    voip_carrier_sid,
    call_id: callId,
    cseq,
    contact,
    expires_at: expiresAt,
    gateway,
    addresses: JSON.stringify(addresses),
    routes: JSON.stringify(routes),
  }
}

function toRegistration(row: Cells): CarrierRegistration {
  const textOf = (name: string): string | null => (row[name] === null ? null : String(row[name]))
  return {
    voip_carrier_sid: String(row['voip_carrier_sid']),
    callId: textOf('call_id') ?? '',
    cseq: Number(row['cseq']),
    contact: textOf('contact'),
    expiresAt: Number(row['expires_at']),
    gateway: textOf('gateway'),
    addresses: JSON.parse(String(row['addresses'])) as string[],
    routes: JSON.parse(String(row['routes'])) as string[],
  }
}
