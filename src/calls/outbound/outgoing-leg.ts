// A leg that the platform makes: held to its limits, and sent to one place after another until one answers.
import { AppError } from '../../lib/errors.ts'
import { traceIdOf } from '../../lib/ids.ts'
import { serializeHostPort } from '../../sip/message/uri.ts'
import type { CallContext } from '../call-context.ts'
import type { CallServices } from '../call-services.ts'
import { JournalWriter } from '../journal/journal-writer.ts'
import type { StartedFact } from '../journal/journal.ts'
import { holdToLimits } from '../leg/hold-to-limits.ts'
import { Leg } from '../leg/leg.ts'
import { Session } from '../session/session.ts'
import { StatusReporter } from '../leg/status-reporter.ts'
import type { Media } from '../../media/media.ts'
import { tenantMedia } from '../leg/tenant-media.ts'
import type { Attempt } from './attempt.ts'
import { calledPartyOf } from './call-order.ts'
import type { CallOrder } from './call-order.ts'
import { findAttempts } from './find-attempts.ts'
import { Redirects } from './redirects.ts'
import { OutgoingInvites } from './outgoing-invites.ts'
import { tryRounds } from './try-rounds.ts'

/** A bridge costs least within one worker. */
function besideMedia(media: Pick<Media, 'open'>, parent: Leg | undefined): Pick<Media, 'open'> {
  if (parent === undefined) return media
  return {
    open(options) {
      const near = parent.media.sessionId
      return media.open(near === undefined ? options : { ...options, near })
    },
  }
}

export class OutgoingLeg {
  readonly leg: Leg
  readonly #order: CallOrder
  readonly #context: CallContext
  readonly #invites: OutgoingInvites
  /** Where INVITEs go: their media may go there too. */
  readonly #peers = new Set<string>()

  /** `parent`: the leg that dials this one, whose status hook it reports to and whose media it is placed beside. */
  constructor(order: CallOrder, context: CallContext, parent?: Leg) {
    this.#order = order
    this.#context = context
    this.#invites = new OutgoingInvites(order.ringMs)
    this.leg = this.#open(parent)
  }

  /**
   * Calls the far end. Afterwards the leg is answered or has ended. `onSent`: an INVITE is out. Throws AppError when there is
   * no place to try, or no request could be sent to the last ones.
   */
  async dial(onSent: () => void): Promise<void> {
    const { services, registry } = this.#context
    const { leg } = this
    const order = this.#order
    if (leg.hasEnded) return
    if (order.maxForwards === 0)
      throw new AppError('loop_detected', 'the call has passed through too many places')
    const limits = await services.directory.callLimits(order.account)
    const overLimit = holdToLimits(leg, limits, { before: registry.before(leg), pool: services.pool })
    if (overLimit !== undefined) return leg.refuseWith(overLimit)
    const rounds = await findAttempts({ order, services, journal: leg.journal })
    await tryRounds(
      rounds.map((round) => round.map((attempt) => this.#noted(attempt))),
      {
        leg,
        invites: this.#invites,
        onSent,
        maxForwards: order.maxForwards,
        redirects: new Redirects(leg.journal),
      },
      services,
    )
  }

  #noted(attempt: Attempt): Attempt {
    const { redirect } = attempt
    return {
      ...attempt,
      ...(redirect === undefined
        ? {}
        : { redirect: async (target) => (await redirect(target)).map((place) => this.#noted(place)) }),
      destination: async () => {
        const remote = await attempt.destination()
        this.#peers.add(remote.address)
        return remote
      },
    }
  }

  #open(parent: Leg | undefined): Leg {
    const { services, registry, tap } = this.#context
    const order = this.#order
    const { clock, node } = services
    const { application_sid, tag } = order
    const started = toStarted(order, services)
    const log = services.log.child({ call_sid: started.call_sid })
    const journal = new JournalWriter(started, {
      store: services.store,
      clock,
      hidesDigits: order.account.sensitive_digits,
    })
    const leg: Leg = new Leg({
      session: parent?.session ?? new Session(clock),
      unanswered: this.#invites,
      journal,
      status: new StatusReporter(journal, node(), () => leg.session.status),
      // The gateways of carriers are where they are, many of them inside.
      media: besideMedia(
        order.to.type === 'phone' ? services.media : tenantMedia(services, this.#peers),
        parent,
      ),
      clock,
      log,
      maxCallMs: Math.min(order.maxCallMs ?? services.maxCallMs, services.maxCallMs),
      onEnded: () => registry.ended(leg),
      recordings: services,
    })
    registry.add(leg)
    tap.expect(started.sip_call_id, journal)
    if (application_sid !== undefined) journal.add({ type: 'application', application_sid })
    if (tag !== undefined) journal.add({ type: 'tagged', data: tag })
    for (const sentence of order.notes) journal.note({ type: 'note', sentence })
    journal.commit()
    log.info({ account_sid: started.account_sid, from: started.from, to: started.to }, 'call began')
    return leg
  }
}

function toStarted(order: CallOrder, services: CallServices): StartedFact {
  const { account, from, to, callerName = '', parent } = order
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
    ...(parent === undefined
      ? {}
      : { parent_call_sid: parent.call_sid, parent_sip_call_id: parent.sip_call_id, caller_id: from }),
  }
}

/** Records of outbound calls have their numbers without a plus. */
function withoutPlus(number: string): string {
  return number.replace(/^\+/, '')
}
