// The needs of requests to the server of a customer.
import type { Hooks } from '../../contracts/hook.ts'
import type { ChannelNeeds } from '../channel/open-channel.ts'
import type { NodeFacts } from '../journal/hook-payloads.ts'
import type { ParseVerbs, ReadVerbs } from '../verb/verb.ts'

export interface ApplicationNeeds extends ChannelNeeds {
  readonly hooks: Hooks
  /** Parses verbs within a message or an option, which are few. */
  readonly verbs: ParseVerbs
  /** Parses the answer of an application. */
  readonly readVerbs: ReadVerbs
  readonly node: () => NodeFacts
}
