// The needs of the verbs of a call.
import type { AbilityNeeds } from '../abilities/needs.ts'
import type { ReadFrame } from './command.ts'

export interface ScriptNeeds extends AbilityNeeds {
  readonly frames: ReadFrame
  /** Makes a call that an application of the account requests. Resolves with its call_sid. Throws AppError. */
  readonly order: (account_sid: string, data: unknown) => Promise<string>
}
