// The question and the result of a dry run.
import type { DecisionFact, RefusalFact } from '../journal/journal.ts'
import type { Target } from '../verb/target.ts'

export type DryQuestion =
  | {
      readonly direction: 'outbound'
      readonly from: string
      /** The host of the From header, if not the default. */
      readonly fromHost?: string
      readonly to: Target
    }
  | {
      readonly direction: 'inbound'
      /** A number, or a user such as `alice`; with the host of From if that is not the default. */
      readonly from: string
      /** The number or user as the caller dials it; with a host if that is not the default. */
      readonly to: string
      /** The source address of the INVITE. If undefined, the caller is a phone of the account that authenticates. */
      readonly sourceAddress: string | undefined
    }

export interface DryRun {
  readonly outcome: 'refused' | 'elsewhere' | 'application' | 'user' | 'queue' | 'conference' | 'attempts'
  readonly decisions: readonly DecisionFact[]
  readonly refusal?: Pick<RefusalFact, 'code' | 'sentence' | 'cure' | 'sip_status'>
  readonly application_sid?: string
  /** The name of the user, queue or conference. */
  readonly name?: string
  /** The places that would be tried, in this order. Places of one round are tried together. */
  readonly attempts: readonly {
    readonly round: number
    readonly trunk: string
    readonly place: string
    readonly request_uri: string
  }[]
  /** The assumptions about facts that a dry run cannot find out. */
  readonly assumptions: readonly string[]
}
