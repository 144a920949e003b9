// Follows one INVITE of an attempt: whether the place says anything in time, how long until it rings, and what came of it.
// The journal has that of each attempt, and the watch over gateways what it says of the gateway.
import type { Clock, Timer } from '../../lib/clock.ts'
import { headerOf } from '../../sip/message/message.ts'
import type { SipResponse } from '../../sip/message/message.ts'
import { tagOf } from '../../sip/message/name-addr.ts'
import { reasonPhraseOf } from '../../sip/message/reason-phrases.ts'
import type { InviteOutcome, OutgoingInvite, Remote } from '../../sip/sip.ts'
import type { Leg } from '../leg/leg.ts'
import type { GatewaySign, TrunkState } from '../ports.ts'
import { namesOf } from './attempt.ts'
import type { Attempt } from './attempt.ts'

export interface AttemptWatchOptions {
  readonly leg: Leg
  readonly clock: Clock
  readonly trunks: Pick<TrunkState, 'noted'>
  /** There is another place of the same gateway: that this one fails says nothing of the gateway. */
  readonly hasOthers?: boolean
}

const noBytes = new Uint8Array(0)

export class AttemptWatch {
  readonly #attempt: Attempt
  readonly #options: AttemptWatchOptions
  readonly #beganAt: number
  #timer: Timer | undefined
  #wasHeard = false
  #delayMs: number | undefined

  constructor(attempt: Attempt, options: AttemptWatchOptions) {
    this.#attempt = attempt
    this.#options = options
    this.#beganAt = options.clock.monotonic()
  }

  /**
   * The outcome of the INVITE, which has just been sent; a refusal where the place says nothing within `silenceMs`. Then
   * `abandon` is called.
   */
  async outcomeOf(
    invite: Pick<OutgoingInvite, 'outcome'>,
    silenceMs: number | undefined,
    abandon: () => void,
  ): Promise<InviteOutcome> {
    if (silenceMs === undefined || this.#wasHeard) return invite.outcome
    const { promise: silence, resolve } = Promise.withResolvers<InviteOutcome>()
    this.#timer = this.#options.clock.after(silenceMs, () => {
      resolve({ kind: 'refused', response: noResponse() })
      abandon()
    })
    return Promise.race([silence, invite.outcome])
  }

  /** The place has spoken: 100, a challenge, anything. */
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
    this.#noted(isSilent ? { kind: 'silent' } : signOf(response))
    leg.journal.note({
      type: 'attempt-ended',
      ...namesOf(this.#attempt),
      remote_host: address,
      outcome: isSilent ? 'silent' : outcome.kind,
      cause: isSilent ? 'no response' : `${response.status} ${response.reason}`,
      ...(isSilent ? {} : { sip_status: response.status }),
      post_dial_delay_ms: this.#delayMs ?? this.#passed(),
    })
  }

  /** No request could be sent. */
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

/** RFC 3261 §21.5.4: a server that says when it can serve again is left alone until then. */
function signOf(response: SipResponse): GatewaySign {
  const seconds = /^\s*(\d{1,9})/.exec(headerOf(response, 'retry-after') ?? '')?.[1]
  return response.status === 503 && seconds !== undefined
    ? { kind: 'overloaded', retryAfterSeconds: Number(seconds) }
    : { kind: 'alive' }
}

/** What the stack makes has neither a Via nor a tag: no far end has spoken. */
export function isMadeHere(response: SipResponse): boolean {
  const isOfStack = response.status === 408 || response.status === 503
  return isOfStack && headerOf(response, 'via') === undefined && tagOf(headerOf(response, 'to')) === undefined
}

function noResponse(): SipResponse {
  return { kind: 'response', status: 408, reason: reasonPhraseOf(408), headers: [], body: noBytes }
}
