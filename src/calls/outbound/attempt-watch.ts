// Follows one INVITE of an attempt: whether the place responds in time, how long it takes until it rings, and the
// outcome. Journals the outcome of each attempt, and passes on what it says about the state of a gateway.
import type { Clock, Timer } from '../../lib/clock.ts'
import { headerOf, type SipResponse } from '../../sip/message/message.ts'
import type { CallAttempt } from '../../contracts/call-record.ts'
import { tagOf } from '../../sip/message/name-addr.ts'
import { reasonPhraseOf } from '../../sip/message/reason-phrases.ts'
import type { InviteOutcome, OutgoingInvite, Remote } from '../../sip/sip.ts'
import type { Leg } from '../leg/leg.ts'
import type { GatewaySign, TrunkState } from '../ports.ts'
import { namesOf, type Attempt } from './attempt.ts'

export interface AttemptWatchOptions {
  readonly leg: Leg
  readonly clock: Clock
  readonly trunks: Pick<TrunkState, 'noted'>
  /** Whether the gateway has another address. If so, a failure of this one does not count against the gateway. */
  readonly hasOthers?: boolean
}

const noBytes = new Uint8Array(0)

export class AttemptWatch {
  readonly #attempt: Attempt
  readonly #options: AttemptWatchOptions
  readonly #beganAt: number
  #timer: Timer | undefined
  #invite: Pick<OutgoingInvite, 'wasSent'> | undefined
  #wasHeard = false
  #delayMs: number | undefined

  constructor(attempt: Attempt, options: AttemptWatchOptions) {
    this.#attempt = attempt
    this.#options = options
    this.#beganAt = options.clock.monotonic()
  }

  /**
   * Resolves with the outcome of the INVITE, which is being sent. If the place does not respond within
   * `silenceMs`, that is a refusal, and `abandon` is called.
   */
  async outcomeOf(
    invite: Pick<OutgoingInvite, 'outcome' | 'wasSent'>,
    silenceMs: number | undefined,
    abandon: () => void,
  ): Promise<InviteOutcome> {
    this.#invite = invite
    if (silenceMs === undefined || this.#wasHeard) return invite.outcome
    const { promise: silence, resolve } = Promise.withResolvers<InviteOutcome>()
    this.#timer = this.#options.clock.after(silenceMs, () => {
      resolve({ kind: 'refused', response: noResponse() })
      abandon()
    })
    return Promise.race([silence, invite.outcome])
  }

  /** Notes that the place has responded with 100, a challenge, or anything else. */
  heard(): void {
    this.#wasHeard = true
    this.#timer?.cancel()
  }

  rings(): void {
    this.#delayMs ??= this.#passed()
  }

  ended(outcome: InviteOutcome, { address }: Remote): void {
    this.#timer?.cancel()
    this.rings()
    const { leg } = this.#options
    if (leg.hasEnded) return
    const { response } = outcome
    const isSilent = isMadeHere(response)
    const isUnsent = this.#invite?.wasSent === false && isWithoutSender(response)
    if (isSilent || !isUnsent) this.#noted(isSilent ? { kind: 'silent' } : signOf(response))
    const heard = {
      outcome: outcome.kind,
      cause: `${response.status} ${response.reason}`,
      sip_status: response.status,
    }
    leg.journal.note({
      type: 'attempt-ended',
      ...namesOf(this.#attempt),
      remote_host: address,
      ...(isUnsent ? unsent(isSilent) : isSilent ? unheard : heard),
      post_dial_delay_ms: this.#delayMs ?? this.#passed(),
    })
  }

  /** Notes that no request could be sent. */
  unreachable(cause: string): void {
    this.#timer?.cancel()
    const { leg } = this.#options
    this.#noted({ kind: 'silent' })
    const facts = { outcome: 'unreachable', cause, post_dial_delay_ms: this.#passed() } as const
    leg.journal.note({ type: 'attempt-ended', ...namesOf(this.#attempt), ...facts })
  }

  #passed(): number {
    return Math.round(this.#options.clock.monotonic() - this.#beganAt)
  }

  #noted(sign: GatewaySign): void {
    const { gateway, watchedAs = gateway } = this.#attempt
    const isOfOne = this.#options.hasOthers === true && sign.kind !== 'alive'
    if (watchedAs !== undefined && !isOfOne) this.#options.trunks.noted(watchedAs, sign)
  }
}

type End = Pick<CallAttempt, 'outcome' | 'cause'>

const unheard: End = { outcome: 'silent', cause: 'no response' }

/** Returns the end of an INVITE that was never sent: for a failure, or since another place answered before. */
function unsent(isFailure: boolean): End {
  return isFailure
    ? { outcome: 'unreachable', cause: 'the INVITE could not be sent' }
    : { outcome: 'withdrawn', cause: 'the INVITE was given up before it could be sent' }
}

/** Returns the sign of a response. A 503 with Retry-After makes the gateway rest until then: RFC 3261 §21.5.4. */
function signOf(response: SipResponse): GatewaySign {
  const seconds = /^\s*(\d{1,9})/.exec(headerOf(response, 'retry-after') ?? '')?.[1]
  return response.status === 503 && seconds !== undefined
    ? { kind: 'overloaded', retryAfterSeconds: Number(seconds) }
    : { kind: 'alive' }
}

/** Returns whether the stack made the response. Such a response has no Via and no tag, and no far end has responded. */
export function isMadeHere(response: SipResponse): boolean {
  const isOfStack = response.status === 408 || response.status === 503
  return isOfStack && isWithoutSender(response)
}

function isWithoutSender(response: SipResponse): boolean {
  return headerOf(response, 'via') === undefined && tagOf(headerOf(response, 'to')) === undefined
}

function noResponse(): SipResponse {
  return { kind: 'response', status: 408, reason: reasonPhraseOf(408), headers: [], body: noBytes }
}
