// What a dry run is asked, and what it finds.
import type { DecisionFact, RefusalFact } from '../journal/journal.ts'
import type { Target } from '../outbound/target.ts'

export type DryQuestion =
  | {
      readonly direction: 'outbound'
      readonly from: string
      /** The host of the From header, where it is not the usual one. */
      readonly fromHost?: string
      readonly to: Target
    }
  | {
      readonly direction: 'inbound'
      /** A number, or a user as `alice`; with the host that From names where that is not the usual one. */
      readonly from: string
      /** As the caller dials it, with the host that it names where that is not the usual one. */
      readonly to: string
      /** Where the INVITE comes from; undefined: from a phone of the account that proves itself. */
      readonly sourceAddress: string | undefined
    }

export interface DryRun {
  readonly outcome: 'refused' | 'elsewhere' | 'application' | 'user' | 'queue' | 'conference' | 'attempts'
  readonly decisions: readonly DecisionFact[]
  readonly refusal?: Pick<RefusalFact, 'code' | 'sentence' | 'cure' | 'sip_status'>
  readonly application_sid?: string
  /** The user, queue or conference. */
  readonly name?: string
  /** The places that would be tried, in this order; those of one round together. */
  readonly attempts: readonly {
    readonly round: number
    readonly trunk: string
    readonly place: string
    readonly request_uri: string
  }[]
  /** What a dry run cannot know, and takes for granted. */
  readonly assumptions: readonly string[]
}
