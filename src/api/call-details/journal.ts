// The journals of calls: of live calls from the call engine, of ended ones from storage.
import type { Caller } from '../../contracts/caller.ts'
import { AppError } from '../../lib/errors.ts'
import type { Services } from '../services.ts'
import type { StoredEvent } from '../../contracts/journal.ts'

export interface Leg {
  readonly account_sid: string
  readonly call_sid: string
}

export type Owner = { readonly account_sid: string } | { readonly service_provider_sid: string }

export interface Reading {
  readonly caller: Caller
  readonly services: Services
}

/** An event with all its facts. */
export type Event = StoredEvent & Readonly<Record<string, unknown>>

/** Throws not_found. */
export async function journalOf(leg: Leg, reading: Reading): Promise<readonly Event[]> {
  const events = await findJournal(leg, reading)
  if (events === undefined) throw new AppError('not_found', 'no such call')
  return events
}

/** Throws not_found if there is neither a live call, nor a record, nor the journal of a call that leaves no record. */
export async function demandCall(leg: Leg, reading: Reading): Promise<void> {
  const { account_sid, call_sid } = leg
  const { caller, services } = reading
  if (services.calls.find(account_sid, call_sid) !== undefined) return
  const record = await services.storage.recentCalls.find(caller.tenancy, account_sid, call_sid)
  if (record === undefined) await journalOf(leg, reading)
}

/** Returns the journals of the legs that share a Call-ID, or of the call that has this call_sid. */
export async function journalsOf(
  sip_call_id: string,
  owner: Owner,
  reading: Reading,
): Promise<readonly { readonly leg: Leg; readonly events: readonly Event[] }[]> {
  const legs = await legsOf(sip_call_id, owner, reading)
  return Promise.all(legs.map(async (leg) => ({ leg, events: (await findJournal(leg, reading)) ?? [] })))
}

async function findJournal(
  { account_sid, call_sid }: Leg,
  { caller, services: { calls, storage } }: Reading,
): Promise<readonly Event[] | undefined> {
  const events =
    calls.journal(account_sid, call_sid) ??
    (await storage.journal.read(caller.tenancy, account_sid, call_sid))
  return events as readonly Event[] | undefined
}

async function legsOf(
  sip_call_id: string,
  owner: Owner,
  { caller, services: { calls, storage } }: Reading,
): Promise<readonly Leg[]> {
  const live =
    'account_sid' in owner ? calls.list(owner.account_sid) : calls.listOfProvider(owner.service_provider_sid)
  const ended = await storage.recentCalls.bySipCallId(caller.tenancy, owner, sip_call_id)
  const named = live.filter(({ call_id, call_sid }) => call_id === sip_call_id || call_sid === sip_call_id)
  const legs = [...ended, ...named]
  return [...new Map(legs.map((leg) => [leg.call_sid, leg])).values()]
}
