// The needs of finding out whose a call is.
import type { NumberTrust } from '../../contracts/number-trust.ts'
import type { Logger } from '../../lib/log.ts'
import type { AccountFacts, CallSip, Directory, TeamsFacts } from '../ports.ts'
import type { CallRegistry } from '../registry.ts'
import type { CallPool } from '../routing/call-limits.ts'
import type { UnservedCalls } from './unserved-calls.ts'

export interface InboundNeeds {
  /** A function, because the stack is created with handlers that refer back to the engine. */
  readonly sip: () => CallSip
  readonly directory: Directory
  readonly teams: TeamsFacts
  readonly numberTrust: NumberTrust
  /** Called with the host name to which a carrier of the account has sent a call. */
  readonly carrierCalled: (account: Pick<AccountFacts, 'account_sid'>, host: string) => void
  /** Whether this IP address is a SIP proxy of the operator. Messages from it are those of the users behind it. */
  readonly isSipProxy: (address: string) => boolean
  readonly unserved: UnservedCalls
  readonly registry: CallRegistry
  readonly pool: CallPool
  readonly log: Logger
}
