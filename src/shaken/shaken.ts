// The public interface of STIR/SHAKEN: the verification of calling numbers, and the signing of calls.
import type { NumberTrust } from '../contracts/number-trust.ts'
import type { Clock } from '../lib/clock.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'

export interface Shaken extends NumberTrust, Part {}

export interface ShakenOptions {
  /** The certificates of trusted authorities in PEM. Undefined: no call is verified. */
  readonly authoritiesFile: string | undefined
  /** A private key of P-256 in PEM. Undefined: no call is signed. */
  readonly keyFile: string | undefined
  /** The URL at which others find the certificate of the key. */
  readonly certificateUrl: string | undefined
  readonly outgoing: Pick<Outgoing, 'request'>
  readonly clock: Clock
  readonly log: Logger
}
