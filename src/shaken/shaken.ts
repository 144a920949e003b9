// The public face of STIR/SHAKEN: verifies who is said to call, and signs who calls.
import type { NumberTrust } from '../contracts/number-trust.ts'
import type { Clock } from '../lib/clock.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'

export interface Shaken extends NumberTrust, Part {}

export interface ShakenOptions {
  /** Certificates in PEM: the authorities that are believed. Undefined: no call is verified. */
  readonly authoritiesFile: string | undefined
  /** A private key of P-256 in PEM. Undefined: no call is signed. */
  readonly keyFile: string | undefined
  /** Where others find the certificate of the key. */
  readonly certificateUrl: string | undefined
  readonly outgoing: Pick<Outgoing, 'request'>
  readonly clock: Clock
  readonly log: Logger
}
