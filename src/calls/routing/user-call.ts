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
  readonly hook_application_sid: string | undefined
  /** The value of X-Application-Sid in the INVITE. */
  readonly named_application_sid?: string | undefined
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
  if (call.hook_application_sid !== undefined)
    return toApplication('user-hook-application', call.hook_application_sid)
  const direct = directRoute(call)
  if (direct?.isAllowed === true) return direct.route
  if (direct === undefined && call.isUserCalled && call.allow_direct_user_calling)
    return { rule: 'user-dialled-user', target: { kind: 'user', name: call.called } }
  // The application of the account also takes what the client may not dial, and users who are not registered.
  const { device_calling_application_sid } = call
  if (device_calling_application_sid !== null)
    return toApplication('user-device-application', device_calling_application_sid)
  if (direct !== undefined) return direct.route
  if (call.isClientCalled === true && call.allow_direct_user_calling)
    return refused('user-not-registered', 'user_unavailable')
  return refused('user-no-application')
}

interface DirectRoute {
  readonly isAllowed: boolean
  /** The refusal if the client does not allow it. */
  readonly route: UserRoute
}

/** Returns undefined if the user names no application, queue or conference itself. */
function directRoute(call: UserCall): DirectRoute | undefined {
  const { called, named_application_sid: named } = call
  const mayUse = call.allow_direct_app_calling
  if (called.startsWith(directApplication))
    return mayUse
      ? allowed(bySid('user-dialled-application', called.slice(directApplication.length)))
      : forbidden('user-may-not-dial-applications', 'direct_app_calling_off')
  if (named !== undefined && mayUse) return allowed(bySid('user-named-application', named))
  const queue = nameAfter(directQueue, called)
  if (queue !== '')
    return call.allow_direct_queue_calling
      ? allowed({ rule: 'user-dialled-queue', target: { kind: 'queue', name: queue } })
      : forbidden('user-may-not-dial-queues', 'direct_queue_calling_off')
  const conference = nameAfter(directConference, called)
  if (conference === '') return undefined
  return mayUse
    ? allowed({ rule: 'user-dialled-conference', target: { kind: 'conference', name: conference } })
    : forbidden('user-may-not-dial-conferences', 'direct_app_calling_off')
}

function nameAfter(prefix: string, called: string): string {
  return called.startsWith(prefix) ? called.slice(prefix.length) : ''
}

function allowed(route: UserRoute): DirectRoute {
  return { isAllowed: true, route }
}

function forbidden(rule: RuleName, code: RefusalCode): DirectRoute {
  return { isAllowed: false, route: refused(rule, code) }
}

function bySid(rule: RuleName, text: string): UserRoute {
  const application_sid = text.trim().toLowerCase()
  return isSid(application_sid) ? toApplication(rule, application_sid) : refused(rule)
}

function toApplication(rule: RuleName, application_sid: string): UserRoute {
  return { rule, target: { kind: 'application', application_sid } }
}

function refused(rule: RuleName, code: RefusalCode = 'no_application'): UserRoute {
  return { rule, target: { kind: 'refused', code } }
}
