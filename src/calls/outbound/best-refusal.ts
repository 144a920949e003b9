// The choice of one refusal for a call that several places refused (RFC 3261 §16.7).
import { headerOf, type SipResponse } from '../../sip/message/message.ts'
import { tagOf } from '../../sip/message/name-addr.ts'

/**
 * Returns a refusal of 600 or more if there is one. Otherwise returns busy if every phone that responded was busy, or
 * else the lowest of the other responses. A silent place counts only if all were silent.
 */
export function bestOf(refusals: readonly SipResponse[]): SipResponse | undefined {
  const sorted = [...refusals].sort((a, b) => a.status - b.status)
  const final = sorted.find(({ status }) => status >= 600)
  if (final !== undefined) return final
  const spoken = sorted.filter((response) => !isUntagged(response))
  return spoken.find(({ status }) => status !== 486) ?? spoken[0] ?? sorted[0]
}

/** Returns whether the refusal has no tag. The stack makes such refusals itself when no far end has responded. */
export function isUntagged(response: SipResponse): boolean {
  return tagOf(headerOf(response, 'to')) === undefined
}
