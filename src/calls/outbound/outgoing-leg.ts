// A leg that the platform makes: checked against limits, and tried at one place after another until one answers.
import { traceIdOf } from '../../lib/ids.ts'
import { serializeHostPort } from '../../sip/message/uri.ts'
import { createCallLog } from '../journal/call-log.ts'
import { JournalWriter } from '../journal/journal-writer.ts'
import type { StartedFact } from '../journal/journal.ts'
import { Leg } from '../leg/leg.ts'
import { Session } from '../session/session.ts'
import { StatusReporter } from '../leg/status-reporter.ts'
import type { Media } from '../../media/media.ts'
import { firstCodecOf } from '../../media/sdp/first-codec.ts'
import { sdpOf } from '../../sip/message/body.ts'
import { tenantMedia } from '../leg/tenant-media.ts'
import type { Attempt } from './attempt.ts'
import { AttemptGate } from './attempt-gate.ts'
import { calledPartyOf, type CallOrder } from './call-order.ts'
import { findWay } from './find-way.ts'
import { Redirects } from './redirects.ts'
import { OutgoingInvites } from './outgoing-invites.ts'
import { tryRounds } from './try-rounds.ts'
import type { OutboundNeeds } from './needs.ts'

/** Opens media in the worker and preferably with the codec of the parent, since such a bridge costs least. */
function besideMedia(media: Pick<Media, 'open'>, parent: Leg | undefined): Pick<Media, 'open'> {
  if (parent === undefined) return media
  return {
    open(options) {
      const near = parent.media.sessionId
      const offer = parent.received && sdpOf(parent.received)
      const prefers = offer === undefined ? undefined : firstCodecOf(offer)
      return media.open({
        ...options,
        ...(near === undefined ? {} : { near }),
        ...(prefers === undefined ? {} : { prefers }),
      })
    },
  }
}

export class OutgoingLeg {
  readonly leg: Leg
  readonly #order: CallOrder
  readonly #needs: OutboundNeeds
  readonly #invites: OutgoingInvites
  /** The addresses that INVITEs are sent to. Media may be sent there too. */
  readonly #peers = new Set<string>()

  /** `parent` is the leg that dials this one. Its status hook and its media worker are used. */
  constructor(order: CallOrder, needs: OutboundNeeds, parent?: Leg) {
    this.#order = order
    this.#needs = needs
    this.#invites = new OutgoingInvites(order.ringMs)
    this.leg = this.#open(parent)
  }

  /**
   * Calls the far end. Afterwards the leg is answered or has ended. `onSent` is called when an INVITE was sent. Throws
   * AppError when there is no place to try, or no request could be sent to the last ones.
   */
  async dial(onSent: () => void): Promise<void> {
    const needs = this.#needs
    const { leg } = this
    const order = this.#order
    if (leg.hasEnded) return
    const admit = (): Promise<void> => needs.guard.admit(leg, order.account, order.to)
    const gate = new AttemptGate({ leg, order, needs })
    const found = await findWay({ leg, order, needs, admit, gate })
    if (found.kind === 'refused') return leg.refuseWith(found.refusal)
    await tryRounds(
      found.rounds.map((round) => round.map((attempt) => this.#noted(attempt))),
      {
        leg,
        invites: this.#invites,
        onSent,
        maxForwards: order.maxForwards,
        passages: order.passages ?? 1,
        redirects: new Redirects(leg.journal),
      },
      needs,
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
        for (const { address } of [remote, ...(remote.alternatives ?? [])]) this.#peers.add(address)
        return remote
      },
    }
  }

  #open(parent: Leg | undefined): Leg {
    const needs = this.#needs
    const order = this.#order
    const { clock, node, registry, tap } = needs
    const { application_sid, tag } = order
    const started = toStarted(order, needs)
    const log = createCallLog(needs.log, started, order.account)
    const journal = new JournalWriter(started, {
      store: needs.store,
      clock,
      log,
      hidesDigits: order.account.sensitive_digits,
    })
    const leg: Leg = new Leg({
      session: parent?.session ?? new Session(clock),
      unanswered: this.#invites,
      journal,
      status: new StatusReporter(journal, node(), () => leg.session.status),
      media: besideMedia(
        tenantMedia(needs, {
          owner: order.account.account_sid,
          peers: order.to.type === 'phone' ? undefined : this.#peers,
        }),
        parent,
      ),
      clock,
      log,
      maxCallMs: Math.min(order.maxCallMs ?? needs.maxCallMs, needs.maxCallMs),
      onEnded: () => registry.ended(leg),
      recordings: needs,
    })
    registry.add(leg)
    tap.expect(started.sip_call_id, journal)
    if (application_sid !== undefined) journal.add({ type: 'application', application_sid })
    if (tag !== undefined) journal.add({ type: 'tagged', data: tag })
    for (const sentence of order.notes) journal.note({ type: 'note', sentence })
    journal.commit()
    log.info({ from: started.from, to: started.to }, 'call began')
    return leg
  }
}

function toStarted(order: CallOrder, needs: OutboundNeeds): StartedFact {
  const { account, from, to, callerName = '', parent } = order
  const { apiBaseUrl } = needs.node()
  const local = needs.sip().addressFor()
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
    attempted_at: needs.clock.now(),
    is_record_disabled: account.disable_cdrs,
    ...(parent === undefined
      ? {}
      : { parent_call_sid: parent.call_sid, parent_sip_call_id: parent.sip_call_id, caller_id: from }),
  }
}

/** Removes the plus, since records of outbound calls have numbers without one. */
function withoutPlus(number: string): string {
  return number.replace(/^\+/, '')
}
