// A call that the platform makes, from the order to the end of the script that runs it. However it ends, its status and its
// record say how.
import { actingFor } from '../../lib/acting-for.ts'
import type { AppError } from '../../lib/errors.ts'
import { traceIdOf } from '../../lib/ids.ts'
import { toCallHookPayload } from '../journal/hook-payloads.ts'
import type { CallServices } from '../call-services.ts'
import { holdToLimits } from '../leg/hold-to-limits.ts'
import { JournalWriter } from '../journal/journal-writer.ts'
import type { StartedFact } from '../journal/journal.ts'
import { Leg } from '../leg/leg.ts'
import type { CallRegistry } from '../registry.ts'
import type { WireTap } from '../journal/wire-tap.ts'
import { runScript } from '../application/run-script.ts'
import { StatusReporter } from '../leg/status-reporter.ts'
import { tenantMedia } from '../leg/tenant-media.ts'
import type { Attempt } from './attempt.ts'
import { tryRounds } from './try-rounds.ts'
import type { DialledLeg } from './fork.ts'
import { OutgoingInvites } from './outgoing-invites.ts'
import { findAttempts } from './find-attempts.ts'
import { calledPartyOf } from './call-order.ts'
import type { CallOrder } from './call-order.ts'
import { serializeHostPort } from '../../sip/message/uri.ts'

export interface OutboundOptions {
  readonly services: CallServices
  readonly registry: CallRegistry
  readonly tap: WireTap
  /** Why the call is refused: no call may begin now. */
  readonly refused: AppError | undefined
}

export interface PlacedCall {
  /** Resolves when the first INVITE is out, or the leg has ended without one. */
  readonly sent: Promise<void>
  /** Resolves when the call is over. Never rejects. */
  readonly done: Promise<void>
}

export function placeCall(order: CallOrder, options: OutboundOptions): PlacedCall {
  const invites = new OutgoingInvites(order.ringMs)
  const peers = new Set<string>()
  const leg = openLeg(order, invites, peers, options)
  if (options.refused !== undefined) leg.refuse(options.refused)
  const { promise: sent, resolve: onSent } = Promise.withResolvers<void>()
  const { account_sid } = order.account
  const done = actingFor(account_sid, () => serve(order, { leg, invites, onSent }, peers, options))
    .catch((error: unknown) => leg.refuse(error))
    .finally(onSent)
  return { sent, done }
}

function openLeg(
  order: CallOrder,
  invites: OutgoingInvites,
  peers: ReadonlySet<string>,
  options: OutboundOptions,
): Leg {
  const { services, registry, tap } = options
  const { clock, node } = services
  const { application_sid, script, tag } = order
  const started = toStarted(order, services)
  const log = services.log.child({ call_sid: started.call_sid })
  const journal = new JournalWriter(started, {
    store: services.store,
    clock,
    hidesDigits: order.account.sensitive_digits,
  })
  const leg: Leg = new Leg({
    unanswered: invites,
    journal,
    status: new StatusReporter(journal, node()),
    // The gateways of carriers are where they are, many of them inside.
    media: order.to.type === 'phone' ? services.media : tenantMedia(services, peers),
    clock,
    log,
    maxCallMs: Math.min(order.maxCallMs ?? services.maxCallMs, services.maxCallMs),
    onEnded: () => registry.ended(leg),
  })
  registry.add(leg)
  tap.expect(started.sip_call_id, journal)
  leg.status.follow(script.call_status_hook)
  if (application_sid !== undefined) journal.add({ type: 'application', application_sid })
  if (tag !== undefined) journal.add({ type: 'tagged', data: tag })
  for (const sentence of order.notes) journal.note({ type: 'note', sentence })
  journal.commit()
  log.info({ account_sid: started.account_sid, from: started.from, to: started.to }, 'call began')
  return leg
}

function toStarted(order: CallOrder, services: CallServices): StartedFact {
  const { account, from, to, callerName = '' } = order
  const { apiBaseUrl } = services.node()
  const local = services.sip().addressFor()
  const sipAddress = serializeHostPort(local)
  const called = calledPartyOf(to)
  const { call_sid, call_id: sip_call_id } = order
  return {
    type: 'started',
    call_sid,
    account_sid: account.account_sid,
    service_provider_sid: account.service_provider_sid,
    direction: 'outbound',
    from,
    to: called,
    caller_name: callerName,
    calling_number: withoutPlus(from),
    called_number: withoutPlus(called),
    sip_call_id,
    trace_id: traceIdOf(call_sid),
    host: local.host,
    local_sip_address: sipAddress,
    remote_host: '',
    trunk: '',
    service_url: apiBaseUrl ?? `sip:${sipAddress}`,
    attempted_at: services.clock.now(),
    is_record_disabled: account.disable_cdrs,
  }
}

/** Records of outbound calls have their numbers without a plus. */
function withoutPlus(number: string): string {
  return number.replace(/^\+/, '')
}

/** Notes in `peers` where INVITEs go. */
async function serve(
  order: CallOrder,
  dialled: DialledLeg,
  peers: Set<string>,
  options: OutboundOptions,
): Promise<void> {
  const { services, registry } = options
  const { leg } = dialled
  if (leg.hasEnded) return
  const limits = await services.directory.callLimits(order.account)
  const overLimit = holdToLimits(leg, limits, { before: registry.before(leg), pool: services.pool })
  if (overLimit !== undefined) return leg.refuseWith(overLimit)
  const rounds = await findAttempts({ order, services, journal: leg.journal })
  const noted = (attempt: Attempt): Attempt => ({
    ...attempt,
    async destination() {
      const remote = await attempt.destination()
      peers.add(remote.address)
      return remote
    },
  })
  await tryRounds(
    rounds.map((round) => round.map(noted)),
    dialled,
    services,
  )
  if (!leg.isAnswered) return
  const { script } = order
  const node = services.node()
  const question = (): object => toCallHookPayload({ facts: leg.journal.facts, script, node })
  await runScript({ leg, script, question }, services)
  await leg.hangUp()
}
