// The log of one call. Each line names the call. At level debug each fact of the journal is a line.
import type { Logger } from '../../lib/log.ts'
import type { AccountFacts } from '../ports.ts'
import type { JournalFact, StartedFact } from './journal.ts'

/**
 * Returns the log of a call. If the account enables it, the log has level debug even where the platform's does not,
 * unless the platform logs nothing.
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
 * The fields of facts that are not logged. Content from people and applications is in the journal, which only its
 * account reads. The log has other readers and is often kept elsewhere, so it gets no SIP text, keys, words, tags,
 * headers or messages.
 */
const leftOut: ReadonlySet<string> = new Set([
  'type',
  'raw',
  'digit',
  'transcript',
  'data',
  'headers',
  'message',
])

/** Logs a fact at level debug. The journal never passes facts beyond its bound, so the log has the same bound. */
export function logFact(log: Logger | undefined, fact: JournalFact): void {
  if (log?.isLevelEnabled('debug') !== true) return
  const shown = Object.entries(fact).filter(([name]) => !leftOut.has(name))
  log.debug(
    { fact: fact.type, ...(shown.length > 0 && { facts: Object.fromEntries(shown) }) },
    'fact of a call',
  )
}
