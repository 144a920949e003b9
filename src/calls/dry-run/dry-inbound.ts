// The dry run of an incoming call.
import { AppError } from '../../lib/errors.ts'
import type { SipRequest } from '../../sip/message/message.ts'
import { escapeUser, serializeHostPort } from '../../sip/message/uri.ts'
import type { Reply } from '../../sip/sip.ts'
import { findTaker } from '../inbound/find-taker.ts'
import { identifyCarrier } from '../inbound/identify-carrier.ts'
import { identifyUser } from '../inbound/identify-user.ts'
import { identifyTeams } from '../inbound/identify-teams.ts'
import { carrierOf, trunkOf, type Identity } from '../inbound/identity.ts'
import { Asked } from '../parties/asked.ts'
import { toDecision } from '../journal/decision.ts'
import type { RefusalFact } from '../journal/journal.ts'
import { toRefusal } from '../journal/refusals.ts'
import type { AccountFacts } from '../ports.ts'
import { mayServe } from '../routing/calling-carrier.ts'
import type { DryQuestion, DryRun } from './dry-question.ts'
import { outcomeOf, scratchJournal, toStarted, type Outcome } from './scratch-journal.ts'
import type { DryNeeds } from './without-effects.ts'

export async function runInbound(
  account: AccountFacts,
  question: Extract<DryQuestion, { direction: 'inbound' }>,
  needs: DryNeeds,
): Promise<DryRun> {
  const { sourceAddress } = question
  const host = usualHost(account, sourceAddress, needs)
  const replies: Reply[] = []
  const message = {
    request: toRequest(question, host),
    // If no address is given, the address used is not a carrier's.
    remote: {
      transport: isOfTeams(sourceAddress, needs) ? ('tls' as const) : ('udp' as const),
      address: sourceAddress ?? '0.0.0.0',
      port: 5060,
    },
  }
  const asked = new Asked(message, needs)
  const charge = (): void => undefined
  const invite = { ...message, asked, charge, reject: (reply: Reply) => void replies.push(reply) }
  const assumptions =
    sourceAddress === undefined
      ? ['the phone authenticates with its password, or by the registration hook']
      : []
  const { directory } = needs
  const matches = sourceAddress === undefined ? [] : await directory.carriersAt(sourceAddress)
  const asTeams = await identifyTeams(invite, needs)
  const asCarrier = matches.length === 0 ? undefined : await identifyCarrier(invite, needs)
  // An account must not find out about carriers of other accounts at an address: the result is as if there were none.
  const isServed = isOf(account, asCarrier) || matches.some(({ carrier }) => mayServe(carrier, account))
  const identity = asTeams ?? (isServed ? asCarrier : undefined) ?? (await identifyUser(invite, needs))
  // For calls of other accounts, it only shows that they are not this account's.
  if (identity.kind !== 'turned-away' && !isOf(account, identity))
    return { outcome: 'elsewhere', decisions: [], attempts: [], assumptions }
  if (identity.kind === 'turned-away') return { ...turnedAway(replies.at(-1)), assumptions }
  const carrier = carrierOf(identity)
  const trunk = trunkOf(identity)
  const parties = asked.parties({
    believesAsserted: trunk !== undefined,
    registeredAs: carrier?.registration?.username,
  })
  const started = {
    ...toStarted(account, parties, 'inbound'),
    originating_sip_ip: invite.remote.address,
    ...(trunk === undefined ? {} : { originating_sip_trunk_name: trunk }),
  }
  const journal = scratchJournal(started, needs.clock)
  for (const decision of identity.decisions) journal.note(toDecision(decision))
  const full = needs.admission.refusal()
  const outcome = await outcomeOf(journal, needs.log, async () => {
    if (identity.kind === 'refused') return { refusal: identity.refusal.fact }
    if (full !== undefined) throw full
    return takerOf(identity, { leg: { journal }, needs })
  })
  return { ...outcome, assumptions: [...assumptions, ...assumed(outcome)] }
}

function isOf({ account_sid }: AccountFacts, identity: Identity | undefined): boolean {
  return (
    identity !== undefined && identity.kind !== 'turned-away' && identity.account.account_sid === account_sid
  )
}

/** Reports whether the address is Microsoft's; calls of tenants come over TLS. */
function isOfTeams(sourceAddress: string | undefined, { teams }: Pick<DryNeeds, 'teams'>): boolean {
  return sourceAddress !== undefined && teams.isAddress(sourceAddress)
}

function assumed({ outcome }: Pick<DryRun, 'outcome'>): readonly string[] {
  if (outcome !== 'application') return []
  return ['the hook of the application decides about the call, and was not sent']
}

async function takerOf(
  identity: Extract<Identity, { kind: 'known' }>,
  taking: Parameters<typeof findTaker>[1],
): Promise<Partial<DryRun> & { refusal?: RefusalFact }> {
  const taker = await findTaker(identity, taking)
  if (taker.kind === 'refused') return { refusal: taker.refusal.fact }
  if (taker.kind === 'over') return {}
  const { target } = taker
  if (target.kind !== 'application') return { outcome: target.kind, name: target.name }
  return { outcome: 'application', application_sid: target.application.application_sid }
}

/** Reads the reason from the response, as a caller without an account has no record. */
function turnedAway(reply: Reply | undefined): Outcome {
  const sentence =
    reply?.headers?.find(({ name }) => name === 'x-reason')?.value ?? reply?.reason ?? 'refused'
  const { fact } = toRefusal(errorOf(reply?.status, sentence))
  return { outcome: 'refused', decisions: [], attempts: [], refusal: fact }
}

function errorOf(status: number | undefined, sentence: string): AppError {
  if (status === 404) return new AppError('number_not_provisioned', sentence)
  if (status === 503) return new AppError('ambiguous_carrier', sentence)
  return new AppError(
    'wrong_credentials',
    'no inbound gateway of the account has this address, and no user has this name',
    {
      cure: 'Add an inbound gateway with this address to a carrier, or call as a user of the account.',
    },
  )
}

function usualHost(
  { sip_realm }: AccountFacts,
  sourceAddress: string | undefined,
  { sip }: Pick<DryNeeds, 'sip'>,
): string {
  if (sourceAddress === undefined && sip_realm !== null) return sip_realm
  return sip().addressFor(sourceAddress === undefined ? undefined : { address: sourceAddress }).host
}

function toRequest({ from, to }: { from: string; to: string }, usual: string): SipRequest {
  const [user = '', host = serializeHostPort({ host: usual })] = to.split('@')
  const [caller = '', callerHost = serializeHostPort({ host: usual })] = from.split('@')
  const uri = `sip:${escapeUser(user)}@${host}`
  return {
    kind: 'request',
    method: 'INVITE',
    uri,
    headers: [
      { name: 'from', value: `<sip:${escapeUser(caller)}@${callerHost}>;tag=dry` },
      { name: 'to', value: `<${uri}>` },
    ],
    body: new Uint8Array(0),
  }
}
