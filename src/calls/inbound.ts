// An incoming INVITE from a SIP user: whose call it is, which application takes it, and that application's run
// (calls.md §3.1 row 5, §3.3, §3.4). Every way out of here is an answer to the INVITE and, once the account is known, a record.
import { AppError } from '../lib/errors.ts'
import { createSid, traceIdOf } from '../lib/ids.ts'
import { headerOf } from '../sip/message/message.ts'
import type { SipRequest } from '../sip/message/message.ts'
import type { IncomingInvite, SipUser } from '../sip/sip.ts'
import { toCallHookPayload } from './call-hook.ts'
import type { CallServices } from './call-services.ts'
import { findRoom } from './find-room.ts'
import { partiesOf, realmOf } from './invite.ts'
import { JournalWriter } from './journal-writer.ts'
import type { StartedFact } from './journal.ts'
import { Leg } from './leg.ts'
import type { AccountFacts, ApplicationFacts } from './ports.ts'
import { toAppError, toRefusal, toStackRefusal } from './refuse.ts'
import type { Refusal } from './refuse.ts'
import type { CallsBefore } from './routing/call-limits.ts'
import { chooseApplication } from './routing/user-call.ts'
import { runApplication } from './run-application.ts'
import { StatusReporter } from './status.ts'
import { unansweredIncoming } from './unanswered.ts'

/** An INVITE on its way to becoming a leg. */
export interface Arrival {
  readonly invite: IncomingInvite
  /** Epoch ms. */
  readonly attemptedAt: number
  /** Set when the caller gave up before the leg existed. */
  cancel: SipRequest | undefined
  leg: Leg | undefined
}

export interface InboundOptions {
  readonly services: CallServices
  /** Takes the leg into the registry. */
  readonly onLeg: (arrival: Arrival, leg: Leg) => void
  readonly onEnded: (leg: Leg) => void
  /** What the limits are held against. */
  readonly callsBefore: (leg: Leg) => CallsBefore
  /** Why no call is taken now, or undefined. */
  readonly refusesNow: () => AppError | undefined
}

type Identity =
  | { readonly kind: 'turned-away' }
  | { readonly kind: 'refused'; readonly account: AccountFacts; readonly refusal: Refusal }
  | { readonly kind: 'known'; readonly account: AccountFacts; readonly user: SipUser }

/** Serves the INVITE to its end. Never rejects. */
export async function serveInvite(arrival: Arrival, options: InboundOptions): Promise<void> {
  const { log } = options.services
  try {
    const identity = await identify(arrival.invite, options.services)
    if (identity.kind === 'turned-away') return
    const leg = openLeg(arrival, identity.account, options)
    if (arrival.cancel !== undefined) return leg.cancelled(arrival.cancel)
    if (identity.kind === 'refused') return leg.refuseWith(identity.refusal)
    await serveUser(leg, arrival.invite, identity, options).catch((error: unknown) => leg.refuse(error))
  } catch (error) {
    // No leg, so no journal: the answer alone has to tell.
    arrival.invite.reject(toRefusal(toAppError(error, log)).reply)
  }
}

async function identify(invite: IncomingInvite, services: CallServices): Promise<Identity> {
  const { directory } = services
  const checked = await services.sip().authenticate(invite.request, invite.remote)
  if (checked.verdict === 'challenge') {
    invite.reject(checked.reply)
    return { kind: 'turned-away' }
  }
  if (checked.verdict === 'refused' && checked.code === 'locked_out') {
    // Strangers who guess on and on would fill the disk with records of it.
    invite.reject(checked.reply)
    return { kind: 'turned-away' }
  }
  const realm = realmOf(invite.request)
  const account = realm === undefined ? undefined : await directory.accountByRealm(realm)
  if (account === undefined) {
    const unknown = new AppError('unknown_realm', 'Unknown or invalid realm')
    invite.reject(checked.verdict === 'refused' ? checked.reply : toRefusal(unknown).reply)
    return { kind: 'turned-away' }
  }
  if (checked.verdict === 'refused')
    return { kind: 'refused', account, refusal: toStackRefusal(checked.code, checked.reply) }
  if (!account.is_active)
    return {
      kind: 'refused',
      account,
      refusal: toRefusal(new AppError('account_inactive', 'Account exists but is inactive')),
    }
  return { kind: 'known', account, user: checked.user }
}

function openLeg(arrival: Arrival, account: AccountFacts, options: InboundOptions): Leg {
  const { services } = options
  const { clock, node } = services
  const started = toStarted(arrival, account, services)
  const log = services.log.child({ call_sid: started.call_sid })
  const journal = new JournalWriter(started, services.store, clock)
  const leg = new Leg({
    unanswered: unansweredIncoming(arrival.invite, services.maxCallMs),
    journal,
    status: new StatusReporter(journal, node()),
    media: services.media,
    clock,
    log,
    maxCallMs: services.maxCallMs,
    onEnded: options.onEnded,
  })
  arrival.leg = leg
  options.onLeg(arrival, leg)
  journal.note({ type: 'decision', rule: 'account of the SIP realm', outcome: account.account_sid })
  journal.commit()
  log.info({ account_sid: account.account_sid, from: started.from, to: started.to }, 'call began')
  return leg
}

function toStarted(arrival: Arrival, account: AccountFacts, services: CallServices): StartedFact {
  const { invite, attemptedAt } = arrival
  const { sipAddress, host, apiBaseUrl } = services.node()
  const call_sid = createSid()
  return {
    type: 'started',
    call_sid,
    account_sid: account.account_sid,
    service_provider_sid: account.service_provider_sid,
    direction: 'inbound',
    ...partiesOf(invite.request),
    sip_call_id: invite.callId,
    trace_id: traceIdOf(call_sid),
    host,
    local_sip_address: sipAddress,
    remote_host: invite.remote.address,
    originating_sip_ip: invite.remote.address,
    trunk: 'user',
    service_url: apiBaseUrl ?? `sip:${sipAddress}`,
    attempted_at: attemptedAt,
    is_record_disabled: account.disable_cdrs,
  }
}

async function serveUser(
  leg: Leg,
  invite: IncomingInvite,
  { account, user }: Identity & { kind: 'known' },
  { services, callsBefore, refusesNow }: InboundOptions,
): Promise<void> {
  const rule = 'digest authentication'
  leg.journal.note({ type: 'decision', rule, outcome: `${user.username}@${user.realm}` })
  const refused = refusesNow()
  if (refused !== undefined) return leg.refuse(refused)
  const limits = await services.directory.callLimits(account)
  const overLimit = findRoom(leg, limits, callsBefore(leg))
  if (overLimit !== undefined) return leg.refuseWith(overLimit)
  if (leg.hasEnded) return
  const application = await route(leg, account, user, services)
  if (leg.hasEnded) return
  leg.journal.add({ type: 'application', application_sid: application.application_sid })
  if (headerOf(invite.request, 'x-application-sid') === application.application_sid)
    throw new AppError('loop_detected', 'the call came back to the application it left')
  await runToItsEnd(leg, invite, { application, user }, services)
}

async function route(
  leg: Leg,
  account: AccountFacts,
  user: SipUser,
  { directory }: CallServices,
): Promise<ApplicationFacts> {
  const { account_sid, device_calling_application_sid } = account
  const client = await directory.client(account_sid, user.username)
  // Removed or switched off since its password was checked.
  if (client?.is_active !== true) throw new AppError('wrong_credentials', 'Invalid credentials')
  const { rule, target } = chooseApplication({
    called: leg.journal.facts.started.to,
    allow_direct_app_calling: client.allow_direct_app_calling,
    device_calling_application_sid,
  })
  if (target.kind === 'refused') {
    leg.journal.note({ type: 'decision', rule, outcome: 'refused', code: target.code })
    throw new AppError(target.code, refusalSentences[target.code])
  }
  const application = await directory.application(account_sid, target.application_sid)
  const outcome = application === undefined ? 'no such application' : target.application_sid
  leg.journal.note({ type: 'decision', rule, outcome })
  if (application === undefined) throw new AppError('no_application', 'the account has no such application')
  return application
}

const refusalSentences = {
  no_application: 'no configured application',
  direct_app_calling_off: 'direct application calling is not allowed for this client',
} as const

interface Session {
  readonly application: ApplicationFacts
  readonly user: SipUser
}

async function runToItsEnd(
  leg: Leg,
  { request, raw, remote }: IncomingInvite,
  { application, user }: Session,
  services: CallServices,
): Promise<void> {
  const question = (): object =>
    toCallHookPayload({
      facts: leg.journal.facts,
      application,
      request,
      raw,
      remote,
      authenticatedUser: `${user.username}@${user.realm}`,
      publicIp: services.node().publicIp,
    })
  const onAccepted = (): void => leg.status.announce(application.call_status_hook)
  await runApplication({ leg, application, question, onAccepted }, services)
  if (leg.isAnswered) await leg.hangUp()
  else leg.refuse(new AppError('application_ended', 'application ended without answering'))
}
