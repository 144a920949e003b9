// Which application a call from a SIP user goes to (calls.md §3.3). Row numbers below are that table's.
import { isSid } from '../../lib/ids.ts'

export interface UserCall {
  /** The user part of the Request-URI. */
  readonly called: string
  readonly allow_direct_app_calling: boolean
  readonly device_calling_application_sid: string | null
  /** The application that the registration hook named for the call. */
  readonly named_application_sid: string | undefined
}

export interface Route {
  /** The rule that decided, for the journal. */
  readonly rule: string
  readonly target:
    | { readonly kind: 'application'; readonly application_sid: string }
    | { readonly kind: 'refused'; readonly code: 'no_application' | 'direct_app_calling_off' }
}

const directApplication = 'app-'
/** Targets of rows 3 and 4, which this release does not serve: they are treated by row 6. */
const laterTargets = [
  { prefix: 'queue-', row: 3 },
  { prefix: 'conference-', row: 4 },
] as const

export function chooseApplication(call: UserCall): Route {
  if (call.named_application_sid !== undefined)
    return {
      rule: 'user call: the application that the registration hook named',
      target: { kind: 'application', application_sid: call.named_application_sid },
    }
  const isDirect = call.called.startsWith(directApplication)
  if (isDirect && call.allow_direct_app_calling) {
    const application_sid = call.called.slice(directApplication.length).toLowerCase()
    const rule = 'user call row 1: the dialled application'
    if (isSid(application_sid)) return { rule, target: { kind: 'application', application_sid } }
    return { rule, target: { kind: 'refused', code: 'no_application' } }
  }
  const application_sid = call.device_calling_application_sid
  if (application_sid !== null)
    return {
      rule: 'user call row 2: the device calling application of the account',
      target: { kind: 'application', application_sid },
    }
  if (isDirect)
    return {
      rule: 'user call row 1: the client may not dial applications',
      target: { kind: 'refused', code: 'direct_app_calling_off' },
    }
  return { rule: ruleWithoutApplication(call.called), target: { kind: 'refused', code: 'no_application' } }
}

function ruleWithoutApplication(called: string): string {
  const later = laterTargets.find(({ prefix }) => called.startsWith(prefix))
  return later === undefined
    ? 'user call row 6: no device calling application'
    : `user call row 6: no device calling application; ${later.prefix} targets (row ${later.row}) are not served`
}
