// The 200 to a REGISTER, with every binding of the user: RFC 3261 §10.3 step 8.
import { quoted, splitList } from '../message/list.ts'
import { nameAddrsOf } from '../message/name-addr.ts'
import { tryParseUri } from '../message/uri.ts'
import { headersOf, type HeaderField, type SipRequest } from '../message/message.ts'
import { supports } from '../message/session-expires.ts'
import type { Binding } from './binding-store.ts'
import type { Reply } from '../message/reply.ts'
import { isWithoutNat } from './binding.ts'
import { flowKeyOf } from './bindings.ts'
import { isReliable } from '../transport/transports.ts'

/** The time after which user agents behind NAT register again over UDP, which keeps its mapping open. */
export const keepAliveSeconds = 30

// RFC 5626 §4.4: the longest time between the keep-alives of a user agent.
const flowSeconds = 120

export interface RegisteredFacts {
  readonly bound: readonly Binding[]
  /** The bindings that the request is about. */
  readonly own: readonly Binding[]
  readonly request: SipRequest
  readonly now: number
  /** Sent in the response in place of the remaining time. */
  readonly seconds?: number
  /** The request removed bindings and made none. */
  readonly isRemoval?: boolean
}

export function registered({ bound, own, request, now, seconds, isRemoval = false }: RegisteredFacts): Reply {
  const isOwn = (binding: Binding): boolean => own.some(({ key }) => key === binding.key)
  const isOfSender = (binding: Binding): boolean => own.some((sent) => isOfOneDevice(sent, binding))
  const leftOf = (binding: Binding): number => {
    const left = Math.ceil((binding.expiresAt - now) / 1000)
    if (!isOwn(binding) && !isOfSender(binding)) return left
    // Deviation from RFC 3261 §10.3 step 8: behind NAT, over UDP, the time in the response is shorter than the binding.
    const isKept = isReliable(binding.remote) || isWithoutNat(binding, request)
    return seconds ?? (isKept ? left : Math.min(keepAliveSeconds, left))
  }
  const ownFirst = [...bound.filter(isOwn), ...bound.filter((binding) => !isOwn(binding))]
  const [first] = ownFirst
  if (first === undefined) return { status: 200 }
  const headers: HeaderField[] = [
    ...ownFirst.map((binding) => ({ name: 'contact', value: contactOf(binding, leftOf(binding)) })),
    { name: 'expires', value: String(isRemoval ? 0 : leftOf(first)) },
  ]
  if (supports(request, 'outbound') && keepsFlow(request, own)) {
    const keepsEvery = isReliable(first.remote) ? flowSeconds : keepAliveSeconds
    headers.push({ name: 'require', value: 'outbound' }, { name: 'flow-timer', value: String(keepsEvery) })
  }
  if (supports(request, 'path')) {
    for (const value of first.path) headers.push({ name: 'path', value })
  }
  return { status: 200, headers }
}

/** Reports whether two bindings came from one device, which must keep its NAT open for both. */
function isOfOneDevice(one: Binding, other: Binding): boolean {
  return one.callId === other.callId && flowKeyOf(one.remote) === flowKeyOf(other.remote)
}

/**
 * Reports whether the phone is reached only by its flow, which it must then keep open (RFC 5626 §6). Deviation from
 * there: a phone behind a proxy without such flows is bound all the same, and not refused with 439.
 */
function keepsFlow(request: SipRequest, own: readonly Binding[]): boolean {
  const [phone, another] = own
  if (phone?.instance === undefined || phone.instance.endsWith(';') || another !== undefined) return false
  const edge = nameAddrsOf(request, 'path').at(-1)
  if (edge === undefined) return headersOf(request, 'via').flatMap(splitList).length <= 1
  const uri = tryParseUri(edge.uri)
  return uri !== undefined && uri.scheme !== 'tel' && uri.params.has('ob')
}

export function unregistered(): Reply {
  return { status: 200, headers: [{ name: 'expires', value: '0' }] }
}

function contactOf({ contact, instance, q }: Binding, seconds: number): string {
  const rank = q === undefined ? '' : `;q=${q}`
  return `<${contact}>;expires=${seconds}${rank}${instance === undefined ? '' : instanceParams(instance)}`
}

/** Writes the instance as the phone sent it: RFC 5626 §6. */
function instanceParams(instance: string): string {
  const end = instance.lastIndexOf(';')
  const flow = instance.slice(end + 1)
  return `;+sip.instance=${quoted(instance.slice(0, end))}${flow === '' ? '' : `;reg-id=${flow}`}`
}
