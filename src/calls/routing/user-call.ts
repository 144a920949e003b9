// The choice of the application for a call from a SIP user.
import { isSid } from '../../lib/ids.ts'
import type { RuleName } from './rules.ts'

export interface UserCall {
  /** The user part of the Request-URI. */
  readonly called: string
  readonly allow_direct_app_calling: boolean
  readonly allow_direct_queue_calling: boolean
  readonly allow_direct_user_calling: boolean
  /** True if the called name is a registered user of the caller's realm. */
  readonly isUserCalled: boolean
  /** True if the called name is a SIP client of the account, registered or not. */
  readonly isClientCalled?: boolean
  readonly device_calling_application_sid: string | null
  /** The application that the registration hook named for the call. */
  readonly named_application_sid: string | undefined
}

type RefusalCode =
  'no_application' | 'direct_app_calling_off' | 'direct_queue_calling_off' | 'user_unavailable'

export interface UserRoute {
  readonly rule: RuleName
  readonly target:
    | { readonly kind: 'application'; readonly application_sid: string }
    | { readonly kind: 'user'; readonly name: string }
    /** The user takes a caller out of the queue. */
    | { readonly kind: 'queue'; readonly name: string }
    | { readonly kind: 'conference'; readonly name: string }
    | { readonly kind: 'refused'; readonly code: RefusalCode }
}

const directApplication = 'app-'
const directQueue = 'queue-'
const directConference = 'conference-'

export function chooseApplication(call: UserCall): UserRoute {
  if (call.named_application_sid !== undefined)
    return toApplication('user-hook-application', call.named_application_sid)
  const isDirect = call.called.startsWith(directApplication)
  if (isDirect && call.allow_direct_app_calling) {
    const application_sid = call.called.slice(directApplication.length).toLowerCase()
    const rule = 'user-dialled-application'
    return isSid(application_sid) ? toApplication(rule, application_sid) : refused(rule)
  }
  const { device_calling_application_sid } = call
  if (device_calling_application_sid !== null)
    return toApplication('user-device-application', device_calling_application_sid)
  if (isDirect) return refused('user-may-not-dial-applications', 'direct_app_calling_off')
  const queue = call.called.startsWith(directQueue) ? call.called.slice(directQueue.length) : ''
  if (queue !== '' && call.allow_direct_queue_calling)
    return { rule: 'user-dialled-queue', target: { kind: 'queue', name: queue } }
  if (queue !== '') return refused('user-may-not-dial-queues', 'direct_queue_calling_off')
  const conference = call.called.startsWith(directConference)
    ? call.called.slice(directConference.length)
    : ''
  if (conference !== '' && call.allow_direct_app_calling)
    return { rule: 'user-dialled-conference', target: { kind: 'conference', name: conference } }
  if (conference !== '') return refused('user-may-not-dial-conferences', 'direct_app_calling_off')
  if (call.isUserCalled && call.allow_direct_user_calling)
    return { rule: 'user-dialled-user', target: { kind: 'user', name: call.called } }
  if (call.isClientCalled === true && call.allow_direct_user_calling)
    return refused('user-not-registered', 'user_unavailable')
  return refused('user-no-application')
}

function toApplication(rule: RuleName, application_sid: string): UserRoute {
  return { rule, target: { kind: 'application', application_sid } }
}

function refused(rule: RuleName, code: RefusalCode = 'no_application'): UserRoute {
  return { rule, target: { kind: 'refused', code } }
}
