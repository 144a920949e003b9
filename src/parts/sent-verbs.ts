// Verbs that clients of the API send. Their time has a budget of its own, so that an account can still be set up while
// its hooks have used up theirs.
import { actingTenant } from '../lib/acting-for.ts'
import type { ThreadTime } from '../lib/bounds/thread-time.ts'
import type { RunnableVerb } from '../calls/verb/verb.ts'
import { stepsOfVerbs } from '../verbs/index.ts'

const maxWaitMs = 10_000

/** Rejects with hook_invalid_payload, and with account_share if the account sends more than its share. */
export function readSentVerbs(threadTime: ThreadTime, list: unknown): Promise<readonly RunnableVerb[]> {
  const account = actingTenant()
  const budget = account === undefined ? undefined : `sent by ${account}`
  return threadTime.inTurn(budget, stepsOfVerbs(list), { maxMs: maxWaitMs })
}
