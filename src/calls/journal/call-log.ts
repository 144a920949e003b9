// The log of one call: its lines name it, and at level debug each fact of its journal is a line.
import type { Logger } from '../../lib/log.ts'
import type { AccountFacts } from '../ports.ts'
import type { JournalFact, StartedFact } from './journal.ts'

/**
 * Writes lines of level debug too, where the account asks for them and the platform does not; there are none where the platform
 * is silent.
 */
export function createCallLog(
  log: Logger,
  { call_sid, account_sid }: Pick<StartedFact, 'call_sid' | 'account_sid'>,
  { enable_debug_log }: Pick<AccountFacts, 'enable_debug_log'>,
): Logger {
  const isDetailed = enable_debug_log && log.isLevelEnabled('error')
  return log.child({ call_sid, account_sid }, isDetailed ? { level: 'debug' } : {})
}

/**
 * What people and applications say stands in the journal, which its account alone reads. The log has a reader more, and is
 * often kept elsewhere: it is given no SIP text, keys, tags, headers or messages.
 */
const leftOut: ReadonlySet<string> = new Set(['type', 'raw', 'digit', 'data', 'headers', 'message'])

/** As bounded as the journal: what that leaves out is never passed to this. */
export function logFact(log: Logger | undefined, fact: JournalFact): void {
  if (log?.isLevelEnabled('debug') !== true) return
  const shown = Object.entries(fact).filter(([name]) => !leftOut.has(name))
  log.debug(
    { fact: fact.type, ...(shown.length > 0 && { facts: Object.fromEntries(shown) }) },
    'fact of a call',
  )
}
