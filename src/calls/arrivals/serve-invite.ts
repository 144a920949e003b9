// The handling of an incoming INVITE: identifies the caller, chooses an application and runs it. However it ends, the
// INVITE gets a final response and, once the account is known, a record.
import { actingFor } from '../../lib/acting-for.ts'
import { AppError } from '../../lib/errors.ts'
import { createSid, traceIdOf } from '../../lib/ids.ts'
import type { SipRequest } from '../../sip/message/message.ts'
import type { IncomingInvite, Reply } from '../../sip/sip.ts'
import { toCallHookPayload } from '../journal/hook-payloads.ts'
import { refuseCaller } from '../bridge/caller-refusal.ts'
import { traitsOf, type CallerTraits } from './caller-traits.ts'
import { takePlace } from './take-place.ts'
import { dialogUser } from '../leg/dialog-user.ts'
import { checkIdentity } from '../inbound/check-identity.ts'
import { identifyCarrier } from '../inbound/identify-carrier.ts'
import { identifyUser } from '../inbound/identify-user.ts'
import { identifyTeams, refuseStrayTeams } from '../inbound/identify-teams.ts'
import {
  carrierOf,
  trunkOf,
  type Identity,
  type Origin,
  type OwnedIdentity,
  type UnknownInvite,
} from '../inbound/identity.ts'
import type { Asked } from '../parties/asked.ts'
import { noteRecording, recordingVerbs, refuseStrayRecording } from './recording-arrival.ts'
import { receivedMedia } from '../siprec/received-streams.ts'
import type { RecordedParties } from '../parties/recorded-parties.ts'
import { createCallLog } from '../journal/call-log.ts'
import { JournalWriter } from '../journal/journal-writer.ts'
import type { StartedFact } from '../journal/journal.ts'
import { listenEarly } from '../leg/in-dialog.ts'
import { Leg } from '../leg/leg.ts'
import type { ApplicationFacts } from '../ports.ts'
import { toAppError, toRefusal, toStackRefusal, type Refusal } from '../journal/refusals.ts'
import { toDecision } from '../journal/decision.ts'
import { findTaker } from '../inbound/find-taker.ts'
import { connectToConference, connectToQueue } from '../script/connect-to-room.ts'
import { connectUser } from '../script/connect-user.ts'
import { runScript } from '../script/run-script.ts'
import { noVerbLeft } from '../script/verb-loop.ts'
import { Session } from '../session/session.ts'
import { StatusReporter } from '../leg/status-reporter.ts'
import { tenantMedia } from '../leg/tenant-media.ts'
import { unansweredIncoming } from '../leg/unanswered-invite.ts'
import { localPlaceOf } from '../local-place.ts'
import { serializeHostPort } from '../../sip/message/uri.ts'
import type { ArrivalNeeds } from './needs.ts'

/** An INVITE on its way to becoming a leg. */
export interface Arrival {
  readonly invite: IncomingInvite
  readonly asked: Asked
  /** Epoch ms. */
  readonly attemptedAt: number
  /**
   * A refusal that applies to any caller. It may also be set later, by a node that stops while the caller is being
   * identified.
   */
  owed: Refusal | undefined
  /** Set if the caller gave up before the leg existed. */
  cancel: SipRequest | undefined
  leg: Leg | undefined
  /** Set together with the leg, for a recording session. */
  recording?: RecordedParties | undefined
}

type Known = Extract<Identity, { kind: 'known' }>

/** Serves the INVITE to its end. Never rejects. */
export async function serveInvite(arrival: Arrival, needs: ArrivalNeeds): Promise<void> {
  const { log } = needs
  try {
    const charge = payerOf(arrival, needs)
    const { invite } = arrival
    const known = needs.pace.arrive(invite.remote.address, (perSecond) =>
      needs.sip().slow(invite, { perSecond }),
    )
    const identity = await identify(arrival, needs, charge).finally(known)
    if (identity.kind === 'turned-away') {
      if (identity.logged !== undefined) needs.logStranger(arrival.asked, identity.logged)
      if (identity.alert !== undefined) needs.alerts?.raise(identity.alert)
      return
    }
    charge(identity.account.account_sid)
    const leg = openLeg(arrival, identity, needs)
    if (arrival.cancel !== undefined) return leg.cancelled(arrival.cancel)
    if (identity.kind === 'refused') return leg.refuseWith(identity.refusal)
    if (arrival.owed !== undefined) return leg.refuseWith(arrival.owed)
    const { account_sid } = identity.account
    await actingFor(account_sid, () => serveCaller(leg, arrival, identity, needs)).catch((error: unknown) =>
      leg.refuse(error),
    )
  } catch (error) {
    // Without a leg there is no journal: only the response and the log have the reason.
    const failure = toAppError(error, log)
    needs.logLost(arrival.asked, failure)
    arrival.invite.reject(toRefusal(failure).reply)
  }
}

/**
 * Ends an arrival whose caller gave up, or, with `unconfirmed`, sent no PRACK, so that the stack has refused its
 * INVITE.
 */
export function cancelArrival(arrival: Arrival, cancel: SipRequest, unconfirmed?: Reply): void {
  arrival.cancel ??= cancel
  if (unconfirmed === undefined) arrival.leg?.cancelled(cancel)
  else arrival.leg?.refuseWith(toStackRefusal('sip_not_acknowledged', unconfirmed))
}

/** Returns what counts the call for an account, once for each that pays for it. */
function payerOf({ invite }: Arrival, { pace, sip }: ArrivalNeeds): UnknownInvite['charge'] {
  let paid: string | undefined
  return (account_sid) => {
    if (paid !== account_sid)
      pace.enter(account_sid, (perSecond) => sip().slow(invite, { owner: account_sid, perSecond }))
    paid = account_sid
  }
}

async function identify(
  { invite, asked, owed }: Arrival,
  needs: ArrivalNeeds,
  charge: UnknownInvite['charge'],
): Promise<Identity> {
  const { request, remote } = invite
  const unknown = { asked, request, remote, charge, reject: (reply: Reply): void => invite.reject(reply) }
  const known =
    (await identifyTeams(unknown, needs)) ??
    (await identifyCarrier(unknown, needs)) ??
    refuseStrayTeams(unknown, needs)
  if (known !== undefined) return known
  // RFC 3261 §8.2 authenticates first. A node that takes no calls does not challenge strangers.
  if (owed?.reply.status !== 503 || asked.hasCredentials) return await identifyUser(unknown, needs)
  invite.reject({ ...owed.reply, isUnproven: true })
  return { kind: 'turned-away' }
}

function openLeg(arrival: Arrival, identity: OwnedIdentity, needs: ArrivalNeeds): Leg {
  const { clock, node, registry, tap } = needs
  const caller = traitsOf(identity, arrival.invite, needs)
  const started = toStarted(arrival, identity, caller, needs)
  const log = createCallLog(needs.log, started, identity.account)
  const journal = new JournalWriter(started, {
    store: needs.store,
    clock,
    log,
    hidesDigits: identity.account.sensitive_digits,
  })
  const { reaches, peers, recording, protection } = caller
  arrival.invite.restrict(reaches)
  if (caller.contactName !== undefined) arrival.invite.nameContact(caller.contactName)
  const media = tenantMedia(needs, { owner: started.account_sid, peers })
  arrival.recording = recording
  const leg: Leg = new Leg({
    session: new Session(clock),
    unanswered: unansweredIncoming(arrival.invite, needs.maxCallMs),
    journal,
    status: new StatusReporter(journal, node(), () => leg.session.status),
    media: recording === undefined ? media : receivedMedia(media, recording.callerLine),
    protection,
    clock,
    log,
    maxCallMs: needs.maxCallMs,
    onEnded: () => registry.ended(leg),
    recordings: needs,
  })
  leg.media.goBy(caller.digitsBy)
  arrival.leg = leg
  arrival.invite.listen({
    ...listenEarly(leg),
    answered: (answer) => void leg.earlyMedia.answered(answer),
  })
  registry.add(leg)
  tap.attach(arrival.invite, journal)
  if (identity.kind === 'known' && identity.origin.kind === 'user') {
    leg.noteUser(identity.origin.user.username)
    arrival.invite.holdTo(dialogUser(identity.origin.user, { journal, needs }))
  }
  for (const decision of identity.decisions) journal.note(toDecision(decision))
  journal.commit()
  log.info({ from: started.from, to: started.to }, 'call began')
  return leg
}

function toStarted(
  { invite, asked, attemptedAt }: Arrival,
  identity: OwnedIdentity,
  { facts }: CallerTraits,
  needs: ArrivalNeeds,
): StartedFact {
  const { account } = identity
  const { apiBaseUrl } = needs.node()
  const local = localPlaceOf(needs.sip(), invite.remote)
  const sipAddress = serializeHostPort(local)
  const call_sid = createSid()
  return {
    type: 'started',
    call_sid,
    account_sid: account.account_sid,
    service_provider_sid: account.service_provider_sid,
    direction: 'inbound',
    ...asked.parties({
      believesAsserted: trunkOf(identity) !== undefined,
      registeredAs: carrierOf(identity)?.registration?.username,
    }),
    sip_call_id: invite.callId,
    trace_id: traceIdOf(call_sid),
    host: local.host,
    local_sip_address: sipAddress,
    remote_host: invite.remote.address,
    originating_sip_ip: asked.source,
    ...facts,
    service_url: apiBaseUrl ?? `sip:${sipAddress}`,
    attempted_at: attemptedAt,
    is_record_disabled: account.disable_cdrs,
  }
}

async function serveCaller(
  leg: Leg,
  { invite, asked, recording }: Arrival,
  identity: Known,
  needs: ArrivalNeeds,
): Promise<void> {
  refuseStrayRecording(asked, recording)
  if (invite.replaces !== undefined) return await takePlace(leg, invite.replaces, needs)
  const { account, origin } = identity
  // A user has proved its identity by its password.
  const beforeRouting = async (): Promise<void> => {
    if (origin.kind === 'carrier') await checkIdentity(leg, asked, needs)
  }
  const taker = await findTaker(identity, { leg, needs, beforeRouting })
  if (taker.kind === 'refused') return leg.refuseWith(taker.refusal)
  if (taker.kind === 'over' || leg.hasEnded) return
  const { target } = taker
  if (target.kind === 'user') return connectUser(leg, target, needs)
  if (target.kind === 'queue') return connectToQueue(leg, target.name, needs)
  if (target.kind === 'conference') return connectToConference(leg, target.name, needs)
  const { application, isNamed } = target
  if (recording !== undefined) noteRecording(recording, leg)
  leg.journal.add({ type: 'application', application_sid: application.application_sid })
  leg.status.expect(application.call_status_hook)
  // A user may name its application in the same header.
  if (!isNamed && asked.named_application_sid === application.application_sid)
    throw new AppError('loop_detected', 'the call came back to the application it left')
  leg.callerProgress.ringAfter(account.ringing_after_ms ?? needs.ringingMs)
  await runToItsEnd(leg, invite, { application, origin, recorded: recording }, needs)
}

interface Chosen {
  readonly application: ApplicationFacts
  readonly origin: Origin
  readonly recorded: RecordedParties | undefined
}

async function runToItsEnd(
  leg: Leg,
  { request, raw, remote }: IncomingInvite,
  { application, origin, recorded }: Chosen,
  needs: ArrivalNeeds,
): Promise<void> {
  const question = (): object =>
    toCallHookPayload({
      facts: leg.journal.facts,
      script: application,
      node: needs.node(),
      invite: { request, raw, remote, origin },
      participants: recorded?.participants,
    })
  const onAccepted = (): void => leg.status.announce(application.call_status_hook)
  const allowed = recorded && { allowed: recordingVerbs }
  await runScript({ leg, script: application, question, onAccepted, ...allowed }, needs)
  if (leg.isAnswered) await leg.hangUp({ ...leg.lastOther.words, because: noVerbLeft })
  else if (!leg.signal.aborted) {
    const failure = leg.lastOther.failure
    if (failure === undefined)
      leg.refuse(new AppError('application_ended', 'application ended without answering'))
    else refuseCaller(leg, failure, 'the called party did not take the call')
  }
}
