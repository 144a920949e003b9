// A call from a carrier: identified by its source address, and assigned to an account by the called number.
import { isIP } from 'node:net'
import type { Alert } from '../../contracts/alert.ts'
import { AppError } from '../../lib/errors.ts'
import { inactiveAccount, type Identity, type UnknownInvite } from './identity.ts'
import type { AccountFacts, CarrierDirectory, CarrierMatch, NumberPattern } from '../ports.ts'
import { toRefusal, type Refusal } from '../journal/refusals.ts'
import { mayServe, identifyCaller } from '../routing/calling-carrier.ts'
import {
  byCarrier,
  byNumber,
  byOwner,
  byPattern,
  byProvider,
  calledNumber,
  ownerOf,
  type CarrierCall,
  type CarrierRoute,
  type Outcome,
} from '../routing/carrier-call.ts'
import type { RuleName } from '../routing/rules.ts'
import type { Decision } from '../journal/decision.ts'
import { failureOf } from '../journal/projection.ts'
import type { InboundNeeds } from './needs.ts'

/** Returns undefined if no carrier is calling; then a user may be. */
export async function identifyCarrier(
  invite: UnknownInvite,
  needs: InboundNeeds,
): Promise<Identity | undefined> {
  const { directory } = needs
  const { asked } = invite
  // Any web page may open a WebSocket from browsers at the address of a carrier.
  if (!asked.isFromServer) return undefined
  const matches = await directory.carriersAt(asked.source)
  if (matches.length === 0) return undefined
  const host = asked.calledHost
  const realmOwner = host === undefined ? undefined : await directory.accountByRealm(host)
  const caller = identifyCaller({
    host,
    isOurAddress: host !== undefined && isOurAddress(host, needs),
    user: asked.calledUser,
    realmOwner,
    isLikeUser: await isLikeUser(invite, needs, matches),
    matches,
  })
  if (caller.kind === 'user') return undefined
  const decisions: Decision[] = [{ rule: caller.rule, outcome: shown(caller.matches) }]
  if (caller.kind === 'carrier') {
    const identity = await settleCarrierCall(invite, needs, { ...caller, decisions })
    const isOwnRealm = identity.kind === 'known' && identity.account.account_sid === realmOwner?.account_sid
    if (identity.kind === 'known' && host !== undefined && isIP(host) === 0 && !isOwnRealm)
      needs.carrierCalled(identity.account, host)
    return identity
  }
  const call = { ...callOf(invite, caller.matches), rule: caller.rule, decisions }
  return await refuse(invite, needs, { ...call, refusal: ambiguous() })
}

/** Reports whether the platform's Contact may have this host. */
function isOurAddress(host: string, { sip }: Pick<InboundNeeds, 'sip'>): boolean {
  return isIP(host) !== 0 || host === sip().addressFor().host
}

/**
 * Reports whether the caller seems to be a user of an account that none of the carriers serves. It must then
 * authenticate.
 */
async function isLikeUser(
  { asked, remote }: UnknownInvite,
  { directory, sip }: InboundNeeds,
  matches: readonly CarrierMatch[],
): Promise<boolean> {
  const { realm } = asked
  const owner = realm === undefined ? undefined : await directory.accountByRealm(realm)
  if (realm === undefined || owner === undefined) return false
  if (matches.some(({ carrier }) => mayServe(carrier, owner))) return false
  // The realm must be in both: the host of From alone may be the name of a carrier, which any account could claim as
  // its realm.
  if (asked.calledHost === realm && asked.callerHost === realm) return true
  // A phone that has authenticated here stays a user, even if a carrier of another account claims its address.
  if (sip().hasUserAt(realm, asked.source)) return true
  const phones = await sip().bindings.list(realm)
  return phones.some((phone) => phone.remote.address === remote.address)
}

export interface Claim {
  readonly decisions: readonly Decision[]
  /** Set if the call itself shows its account. */
  readonly account: AccountFacts | undefined
  /** Never empty. */
  readonly matches: readonly CarrierMatch[]
}

/** Decides whose call it is and which application takes it, once it is known that a carrier is calling. */
export async function settleCarrierCall(
  invite: UnknownInvite,
  needs: InboundNeeds,
  claim: Claim,
): Promise<Identity> {
  const { directory } = needs
  const call = callOf(invite, claim.matches, claim.account)
  const payer = ownerOf(call)
  // Before the number is looked for: numbers that no account has are in no memory.
  if (payer !== undefined) invite.charge(payer)
  needs.unserved.demand(call)
  const { isRecording } = invite.asked
  const outcome = await findRoute(call, directory, isRecording ? byOwner : byCarrier)
  if (outcome !== undefined && outcome.kind !== 'route') {
    const { rule, kind } = outcome
    const refusal = kind === 'ambiguous' ? ambiguous() : tooCostly()
    return await refuse(invite, needs, { ...call, ...claim, rule, refusal })
  }
  const account = claim.account ?? (outcome && (await accountOf(outcome, directory)))
  if (outcome === undefined || account === undefined) {
    const rule = 'carrier-number-unknown'
    return await refuse(invite, needs, { ...call, ...claim, rule, refusal: notProvisioned(call.called) })
  }
  needs.unserved.taken(call)
  const { rule, pattern, carrier, application } = outcome
  const found = `account ${account.account_sid}, carrier ${carrier.name}`
  const chosen = { rule, outcome: pattern === undefined ? found : `${pattern}: ${found}` }
  const settled = { account, decisions: [...claim.decisions, chosen] }
  if (!account.is_active) return { kind: 'refused', carrier, refusal: inactiveAccount(), ...settled }
  const taken = isRecording ? siprecApplication(account) : application
  const isNumberKnown = outcome.rule === 'carrier-number' || outcome.rule === 'carrier-pattern'
  const origin = { kind: 'carrier', carrier, application: taken, isNumberKnown, isRecording } as const
  return { kind: 'known', origin, ...settled }
}

function siprecApplication({ siprec_hook_sid }: AccountFacts): CarrierRoute['application'] {
  return siprec_hook_sid === null
    ? undefined
    : { rule: 'siprec-application', application_sid: siprec_hook_sid }
}

function callOf(
  { asked }: UnknownInvite,
  matches: readonly CarrierMatch[],
  account?: AccountFacts,
): CarrierCall {
  const isOurContact = (user: string): boolean =>
    matches.some(({ carrier }) => carrier.registration?.username === user)
  return { called: calledNumber(asked.calledParty(isOurContact)), account, matches }
}

async function findRoute(
  call: CarrierCall,
  directory: CarrierDirectory,
  byItsCarriers: (call: CarrierCall) => Outcome | undefined,
): Promise<Outcome | undefined> {
  const numbers = await directory.numbersCalled(call.called)
  return (
    byNumber(call, numbers) ??
    byPattern(call, await patternsOf(call, directory)) ??
    byItsCarriers(call) ??
    byProvider(call)
  )
}

// More carriers share an address only if unrelated accounts use the same company. Then only plain numbers tell them
// apart.
const maxPatternCarriers = 16

async function patternsOf(
  { matches }: CarrierCall,
  directory: CarrierDirectory,
): Promise<readonly NumberPattern[]> {
  if (matches.length > maxPatternCarriers) return []
  const sids = matches.map(({ carrier: { voip_carrier_sid } }) => voip_carrier_sid)
  return (await Promise.all(sids.map((sid) => directory.patternsOf(sid)))).flat()
}

async function accountOf(
  { account_sid, carrier: { service_provider_sid } }: Outcome & { kind: 'route' },
  directory: InboundNeeds['directory'],
): Promise<AccountFacts | undefined> {
  const ofProvider = async (): Promise<string | undefined> =>
    service_provider_sid === null ? undefined : await directory.soleAccountOf(service_provider_sid)
  const sid = account_sid ?? (await ofProvider())
  return sid === undefined ? undefined : await directory.account(sid)
}

interface Unserved extends CarrierCall {
  readonly rule: RuleName
  readonly decisions: readonly Decision[]
  readonly refusal: Refusal
}

/**
 * Refuses the call. It gets a record if all the carriers belong to one account; otherwise it may be another account's
 * call, and the service provider gets an alert.
 */
async function refuse(
  invite: UnknownInvite,
  needs: InboundNeeds,
  { rule, decisions, refusal, ...call }: Unserved,
): Promise<Identity> {
  const { directory, log } = needs
  const { code } = refusal.fact
  needs.unserved.refused(call)
  const owner = ownerOf(call)
  const account = owner === undefined ? undefined : await directory.account(owner)
  if (account !== undefined) {
    const decision = { rule, outcome: 'refused', code }
    const carrier = call.matches[0]?.carrier
    return { kind: 'refused', account, carrier, refusal, decisions: [...decisions, decision] }
  }
  log.info(
    { rule, ...failureOf(refusal.fact), called: call.called, remote: invite.asked.source },
    'call of a carrier refused',
  )
  invite.reject({ ...refusal.reply, isUnproven: true })
  return { kind: 'turned-away', alert: toAlert(refusal, call, invite.asked.source) }
}

/** Returns the alert for the service provider of the carriers; undefined if they belong to several. */
function toAlert({ fact }: Refusal, { matches }: CarrierCall, address: string): Alert | undefined {
  const [service_provider_sid, ...others] = new Set(
    matches.map(({ carrier }) => carrier.service_provider_sid),
  )
  if (typeof service_provider_sid !== 'string' || others.length > 0) return undefined
  const names = [...new Set(matches.map(({ carrier }) => carrier.name))].slice(0, 3).join(', ')
  return {
    service_provider_sid,
    alert_type: 'carrier-call-refused',
    message: `a call from ${names} (${address}) was refused: ${fact.sentence}`,
    detail: fact.cure,
  }
}

function notProvisioned(called: string): Refusal {
  const sentence = `${called} is no phone number of this carrier, which has no application either`
  const { reply, fact } = toRefusal(new AppError('number_not_provisioned', sentence))
  // Carriers also read the reason phrase.
  return { reply: { ...reply, reason: 'Number Not Provisioned' }, fact }
}

function ambiguous(): Refusal {
  return toRefusal(new AppError('ambiguous_carrier', 'several carriers at this address may have this number'))
}

function tooCostly(): Refusal {
  const sentence =
    'the patterns of the carrier take more steps to match with the number than one call may cause'
  return toRefusal(new AppError('patterns_too_costly', sentence))
}

/** Returns the name of the carrier. For several only their number: their names concern other accounts. */
function shown(matches: readonly CarrierMatch[]): string {
  const [first, ...others] = matches
  return first === undefined || others.length > 0 ? `${matches.length} carriers` : first.carrier.name
}
