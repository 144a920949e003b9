// Rings several places at the same time and returns the outcome. The first answer wins, a refusal that is final for the
// called party ends all, and any other refusal counts once every place has refused (RFC 3261 §16.7).
import { AppError } from '../../lib/errors.ts'
import { sdpOf } from '../../sip/message/body.ts'
import type { HeaderField, SipResponse } from '../../sip/message/message.ts'
import { serializeHostPort } from '../../sip/message/uri.ts'
import { reasonPhraseOf } from '../../sip/message/reason-phrases.ts'
import { answeredElsewhere, statusReason } from '../../sip/refusal.ts'
import type { Dialog, OutgoingInvite, RedirectTarget, Remote } from '../../sip/sip.ts'
import { listenEarly } from '../leg/in-dialog.ts'
import type { Leg } from '../leg/leg.ts'
import type { SipPlace } from '../leg/leg-media.ts'
import { toDecision } from '../journal/decision.ts'
import type { AttemptPlaces } from '../journal/attempt-facts.ts'
import { localPlaceOf } from '../local-place.ts'
import { attemptFact, type Attempt } from './attempt.ts'
import { AttemptWatch } from './attempt-watch.ts'
import { bestOf, isUntagged } from './best-refusal.ts'
import { asAppError, openIfSecure } from './open-if-secure.ts'
import type { OutgoingInvites } from './outgoing-invites.ts'
import { mayTryNext } from './failover.ts'
import type { Redirects } from './redirects.ts'
import type { OutboundNeeds } from './needs.ts'

/** A leg whose far end is being called. */
export interface DialledLeg {
  readonly leg: Leg
  readonly invites: OutgoingInvites
  /** Called when an INVITE has been sent. */
  readonly onSent: () => void
  readonly maxForwards: number | undefined
  readonly passages: number
  readonly redirects: Redirects
}

export interface ForkOptions {
  readonly dialled: DialledLeg
  readonly needs: Pick<OutboundNeeds, 'sip' | 'clock' | 'trunks'>
  /** The longest time without a response from a place before another one is tried. Undefined if there is no other. */
  readonly silenceMs?: number | undefined
}

interface Answered {
  readonly kind: 'answered'
  readonly dialog: Dialog
  readonly response: SipResponse
  readonly from: SipPlace
}

export type ForkOutcome =
  | Answered
  | { readonly kind: 'refused'; readonly response: SipResponse; readonly hadEarlyMedia: boolean }
  /** No request could be sent to any of the places. */
  | { readonly kind: 'unreachable'; readonly error: AppError }
  /** The leg has ended meanwhile. */
  | { readonly kind: 'withdrawn' }

// RFC 3261 §17.2.1: a server sends 100 within 200 ms. By now the INVITE was sent three times: again at 500 and 1,500
// ms.
export const silenceMs = 2_000

export async function fork(attempts: readonly Attempt[], options: ForkOptions): Promise<ForkOutcome> {
  const { signal } = options.dialled.leg
  const { promise: withdrawn, resolve } = Promise.withResolvers<ForkOutcome>()
  const withdraw = (): void => resolve({ kind: 'withdrawn' })
  if (signal.aborted) withdraw()
  signal.addEventListener('abort', withdraw, { once: true })
  try {
    // A silent place does not respond to a CANCEL either. Its transaction lasts 64*T1; the caller does not wait.
    return await Promise.race([new Fork(attempts, options).outcome, withdrawn])
  } finally {
    signal.removeEventListener('abort', withdraw)
  }
}

interface Sending {
  readonly offer: string
  readonly from: SipPlace
  readonly watch: AttemptWatch
}

class Fork {
  readonly #settled = Promise.withResolvers<ForkOutcome>()
  readonly #options: ForkOptions
  #isAlone: boolean
  readonly #ringing = new Set<OutgoingInvite>()
  readonly #refusals: SipResponse[] = []
  #error: AppError | undefined
  #hadEarlyMedia = false
  #isOver = false

  constructor(attempts: readonly Attempt[], options: ForkOptions) {
    this.#options = options
    this.#isAlone = attempts.length === 1
    const tried = Promise.all(attempts.map((attempt) => this.#try(attempt, [])))
    tried.then(() => this.#settled.resolve(this.#sum()), this.#settled.reject)
  }

  get outcome(): Promise<ForkOutcome> {
    return this.#settled.promise
  }

  /**
   * Tries the addresses of a place, one after another, until one of them responds: RFC 3263 §4.3. Adds the refusals of
   * the place, and of those where it leads, to `heard`.
   */
  async #try(attempt: Attempt, heard: SipResponse[]): Promise<void> {
    const found = await attempt.destination().catch(asAppError)
    if (found instanceof AppError) return this.#unreachable(attempt, found, this.#watch(attempt, false))
    const { alternatives = [], ...first } = found
    const places = [first, ...alternatives]
    for (const [index, place] of places.entries()) {
      const hasOthers = index < places.length - 1
      if ((await this.#tryAt(attempt, place, hasOthers, heard)) === 'over' || this.#isGone()) return
      const { leg } = this.#options.dialled
      const at = serializeHostPort({ host: place.address, port: place.port })
      const outcome = `${attempt.place} does not respond at ${at}: its next address is tried`
      leg.journal.note(toDecision({ rule: 'failover', outcome }))
    }
  }

  #isGone(): boolean {
    return this.#isOver || this.#options.dialled.leg.hasEnded
  }

  #watch(attempt: Attempt, hasOthers: boolean): AttemptWatch {
    const { dialled, needs } = this.#options
    return new AttemptWatch(attempt, { leg: dialled.leg, ...needs, hasOthers })
  }

  #unreachable(attempt: Attempt, error: AppError, watch: AttemptWatch): void {
    this.#error ??= error
    watch.unreachable(error.message)
    this.#note(`${error.message}: ${attempt.place}`)
  }

  /** Tries one address. Returns `next` if it does not respond or is overloaded, and there are others. */
  async #tryAt(
    attempt: Attempt,
    destination: Remote,
    hasOthers: boolean,
    heard: SipResponse[],
  ): Promise<'over' | 'next'> {
    const { dialled, needs } = this.#options
    const patienceMs = hasOthers ? silenceMs : this.#options.silenceMs
    const watch = this.#watch(attempt, hasOthers)
    const failure = await openIfSecure(destination, needs, patienceMs)
    if (this.#isGone()) return 'over'
    if (failure !== undefined) {
      needs.sip().rest(destination)
      if (hasOthers) watch.unreachable(failure.message)
      else this.#unreachable(attempt, failure, watch)
      return hasOthers ? 'next' : 'over'
    }
    // Each place gets its own offer, because the platform may have another address towards each.
    dialled.leg.media.goBy(attempt.keyWay ?? 'rfc2833')
    const from = dialled.leg.media.branchTo(destination)
    const offer = await dialled.leg.offerTo(from, attempt.protection)
    if (offer === undefined || this.#isGone()) return 'over'
    const invite = this.#send(attempt, destination, { offer, from, watch })
    this.#ringing.add(invite)
    const outcome = await watch.outcomeOf(invite, patienceMs, () => dialled.invites.abandon(invite))
    this.#ringing.delete(invite)
    watch.ended(outcome, destination)
    if (outcome.kind === 'answered') {
      this.#answered({ ...outcome, from }, attempt, destination)
      return 'over'
    }
    const { response, redirects = [] } = outcome
    const isSilent = response.status === 408 && isUntagged(response)
    const isDown = !this.#isGone() && (isSilent || response.status === 503)
    if (isDown) needs.sip().rest(destination)
    if (isDown && hasOthers) return 'next'
    if (this.#isOver || (await this.#offerAgain(attempt, response, heard))) return 'over'
    if (await this.#follow(attempt, response, redirects, heard)) return 'over'
    this.#refusals.push(response)
    heard.push(response)
    this.#note(`${response.status} ${response.reason} from ${attempt.place}`)
    if (response.status >= 600) this.#finish(this.#sum(), [statusReason(response.status, response.reason)])
    return 'over'
  }

  /**
   * Tries a place again with its second offer. A phone that accepts only SRTP may refuse an offer where it is optional,
   * and a gateway may refuse another kind. Does so immediately, since other places may ring for long. Returns false
   * without a second offer.
   */
  async #offerAgain(attempt: Attempt, { status }: SipResponse, heard: SipResponse[]): Promise<boolean> {
    const { protectionAgain: protection, place } = attempt
    if (status !== 488 || protection === undefined || this.#hadEarlyMedia || this.#isGone()) return false
    const kind = 'dtls' in protection ? 'DTLS-SRTP' : 'SRTP alone'
    const outcome = `488 from ${place}: ${kind} is offered now`
    this.#options.dialled.leg.journal.note(toDecision({ rule: 'failover', outcome }))
    await this.#try({ ...attempt, protection, protectionAgain: undefined }, heard)
    return true
  }

  /** Tries the targets of a 3xx, the best first. Returns false if none may be followed: it is then a plain refusal. */
  async #follow(
    attempt: Attempt,
    response: SipResponse,
    targets: readonly RedirectTarget[],
    heard: SipResponse[],
  ): Promise<boolean> {
    let isFollowed = false
    for (const target of targets) {
      const { leg, redirects } = this.#options.dialled
      const places = await redirects.placesOf(attempt, response, target)
      if (this.#isOver || leg.hasEnded) return true
      if (places.length === 0) continue
      isFollowed = true
      if (places.length > 1) this.#isAlone = false
      await Promise.all(places.map((place) => this.#try(place, heard)))
      // Another place of the fork may have refused meanwhile, which says nothing about these.
      const last = heard.at(-1)
      if (this.#isOver || (last !== undefined && !mayTryNext({ status: last.status, hadEarlyMedia: false })))
        return true
    }
    return isFollowed
  }

  #send(attempt: Attempt, destination: Remote, { offer, from, watch }: Sending): OutgoingInvite {
    const { needs, dialled } = this.#options
    const { sip } = needs
    const { leg, invites, onSent, maxForwards, passages } = dialled
    const asked = attempt.invite(sip().addressFor(destination).host)
    if (asked.user !== undefined) leg.noteUser(asked.user.username)
    const invite = sip().invite({
      ...asked,
      callId: leg.journal.facts.started.sip_call_id,
      maxForwards,
      passages,
      destination,
      body: { type: 'application/sdp', content: offer },
      onProvisional: (response) => {
        if (this.#isOver) return
        watch.rings()
        this.#hadEarlyMedia ||= sdpOf(response) !== undefined
        leg.progressed(response, from)
      },
      onHeard: () => watch.heard(),
      early: listenEarly(leg),
    })
    invites.sent(invite)
    leg.sent(invite)
    if (this.#ringing.size === 0) noteAttempt(leg, attempt, this.#placesOf(destination))
    onSent()
    return invite
  }

  #placesOf(destination: Remote): AttemptPlaces {
    const local = localPlaceOf(this.#options.needs.sip(), destination)
    return { remote_host: destination.address, host: local.host, local_sip_address: serializeHostPort(local) }
  }

  #answered(outcome: Answered, attempt: Attempt, destination: Remote): void {
    const { dialog } = outcome
    const elsewhere = [answeredElsewhere]
    // Two phones were answered at the same time.
    if (this.#isOver) return void dialog.bye(elsewhere)
    if (this.#options.dialled.leg.hasEnded) return void dialog.bye()
    if (!this.#isAlone)
      this.#options.dialled.leg.journal.add({ type: 'branch-answered', ...this.#placesOf(destination) })
    // An offer to another place may have changed the way of keys since.
    this.#options.dialled.leg.media.goBy(attempt.keyWay ?? 'rfc2833')
    this.#finish(outcome, elsewhere)
  }

  /** Ends the fork and makes the other places stop ringing. Their responses to the CANCEL are not awaited. */
  #finish(outcome: ForkOutcome, because: readonly HeaderField[]): void {
    this.#isOver = true
    this.#settled.resolve(outcome)
    for (const invite of this.#ringing) invite.cancel(because)
  }

  #sum(): ForkOutcome {
    const response = bestOf(this.#refusals)
    if (response !== undefined) return { kind: 'refused', response, hadEarlyMedia: this.#hadEarlyMedia }
    const error = this.#error ?? new AppError('sip_unreachable', 'there is no place to try')
    return { kind: 'unreachable', error }
  }

  /** Journals the outcome of one branch. If there is only one, the end of the leg has it. */
  #note(outcome: string): void {
    if (!this.#isAlone) this.#options.dialled.leg.journal.note(toDecision({ rule: 'branch', outcome }))
  }
}

/** Journals that an INVITE was sent. The record names the place of the last one. */
function noteAttempt({ journal, status }: Leg, attempt: Attempt, places: AttemptPlaces): void {
  const isFirst = journal.facts.attempt === undefined
  journal.add(attemptFact(attempt, places))
  if (isFirst) status.report({ call_status: 'trying', sip_status: 100, sip_reason: reasonPhraseOf(100) })
  else journal.commit()
}
