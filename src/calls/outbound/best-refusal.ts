// Which refusal of several places stands for all (RFC 3261 §16.7).
import { headerOf } from '../../sip/message/message.ts'
import type { SipResponse } from '../../sip/message/message.ts'
import { tagOf } from '../../sip/message/name-addr.ts'

/**
 * The refusal that stands for all: a final one; busy when every phone that spoke is busy; else what the best of the
 * others said. A place that was silent counts only when all were.
 */
export function bestOf(refusals: readonly SipResponse[]): SipResponse | undefined {
  const sorted = [...refusals].sort((a, b) => a.status - b.status)
  const final = sorted.find(({ status }) => status >= 600)
  if (final !== undefined) return final
  const spoken = sorted.filter((response) => !isUntagged(response))
  return spoken.find(({ status }) => status !== 486) ?? spoken[0] ?? sorted[0]
}

/** The stack gives a refusal of its own no tag: no far end has spoken. */
export function isUntagged(response: SipResponse): boolean {
  return tagOf(headerOf(response, 'to')) === undefined
}
