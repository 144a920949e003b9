// The expectations of the authorization matrix: rules that follow from the table of rights, and the few routes with
// other rules.
import type { ApiRoute } from '../../../src/api/define/route.ts'
import type { Level } from '../../../src/http/route.ts'
import { rightOf, type RouteRight } from './rights.ts'
import { parametersOf } from './valid-input.ts'
import { targetNames, type TargetName, type WorldCaller } from './world.ts'

/** The tenant that the path or body names, and the owner of the record that the rest of the path names. */
export interface Target {
  readonly tenant: TargetName
  readonly record: TargetName
}

export interface Expectation {
  readonly status: number
  /** The exact sentence; undefined permits any. */
  readonly msg?: string
}

export type Kind =
  /** The path contains an account or service provider. */
  | 'tenant'
  /** The path contains a record. */
  | 'record'
  /** The body names the owner of the new record. */
  | 'owner in body'
  /** No tenant is named: it is the client's own, or the platform. */
  | 'caller'
  | 'public'

type Rule = (caller: WorldCaller, target: Target) => Expectation | 'by the table'

const forUsers: Rule = ({ isUser }) => (isUser ? 'by the table' : { status: 403 })

/** The rule of users: the spec has no 404 for them, so hidden ones are refused. */
const refusedUser: Rule = ({ level, isViewOnly }, { record }) => {
  if (level === 'none' || isSeen(level, record, 'account')) return 'by the table'
  return isViewOnly ? 'by the table' : { status: 403, msg: 'no such user' }
}

/** The routes whose responses do not follow from the table of rights alone. */
const rules: Readonly<Record<string, Rule>> = {
  // The generated user does not exist.
  'POST /login': () => ({ status: 403, msg: 'the user name or the password is wrong' }),
  'POST /signin': () => ({ status: 400 }),
  // The response is the same for known and unknown addresses.
  'POST /forgot-password': () => ({ status: 204 }),
  'POST /logout': forUsers,
  'GET /Users/me': forUsers,
  // The generated password is not the user's.
  'POST /change-password': ({ isUser }) => (isUser ? { status: 400 } : { status: 403 }),
  'GET /Accounts/{AccountSid}/WebhookSecret': ({ isViewOnly, level }, { tenant }) =>
    isViewOnly && level !== 'none' && isSeen(level, tenant, 'account')
      ? { status: 403, msg: 'a view-only user cannot read the secret' }
      : 'by the table',
  // The generated application publishes nothing.
  'GET /AppEnv': () => ({ status: 204 }),
  // Clients distinguish these refusals from those of other resources.
  'POST /ApiKeys': ({ level }, { tenant }) => {
    if (level === 'none') return 'by the table'
    if (level === 'admin') return tenant === 'missing' ? { status: 404 } : 'by the table'
    return isSeen(level, tenant, 'account') ? 'by the table' : { status: 400 }
  },
  'POST /Users': ({ level }, { tenant }) =>
    level === 'admin' && tenant === 'missing' ? { status: 403 } : 'by the table',
  'GET /Users/{UserSid}': (caller, target) =>
    caller.isViewOnly && !isSeen('account', target.record, 'account')
      ? { status: 403, msg: 'no such user' }
      : refusedUser(caller, target),
  // View-only users may only change their own password.
  'PUT /Users/{UserSid}': (caller, target) =>
    caller.isViewOnly
      ? { status: 403, msg: 'a view-only user cannot make changes' }
      : refusedUser(caller, target),
}

interface Explanation {
  readonly isMeant: (caller: WorldCaller, target: Target) => boolean
  readonly why: string
}

/** Cells that would remove what the other cells need, each with the test that covers it. */
export const provenElsewhere: Readonly<Record<string, Explanation>> = {
  'POST /logout': { isMeant: ({ isUser }) => isUser, why: 'ends the session; src/api/logins/login.test.ts' },
  'DELETE /Accounts/{AccountSid}': {
    isMeant: ({ level, isViewOnly }, { tenant }) => level === 'account' && !isViewOnly && tenant === 'own',
    why: 'removes the caller with its account; src/api/accounts/account.test.ts',
  },
}

/** Parameters that name no record: any value of the right form gets a success. */
const names = new Set([
  ...['SipRealm', 'Client', 'PredefinedCarrierSid', 'SipCallId', 'Method'],
  ...['Year', 'Month', 'Day', 'Format'],
])
const isTenantParameter = (name: string): boolean => name === 'AccountSid' || name === 'ServiceProviderSid'

function tableSays(route: ApiRoute): RouteRight {
  const right = rightOf(route)
  if (right === undefined) throw new Error(`${route.method} ${route.path} is not in the table of rights`)
  return right
}

export function kindOf(route: ApiRoute): Kind {
  const { levels, owner } = tableSays(route)
  if (levels === undefined) return 'public'
  const [first] = parametersOf(route.path)
  if (first !== undefined) return isTenantParameter(first.name) ? 'tenant' : 'record'
  return owner === undefined ? 'caller' : 'owner in body'
}

export function targetsOf(route: ApiRoute): readonly Target[] {
  const kind = kindOf(route)
  if (kind === 'caller' || kind === 'public') return [{ tenant: 'own', record: 'own' }]
  const targets = targetNames.map((name) => ({ tenant: name, record: name }))
  if (kind !== 'tenant' || !hasRecord(route)) return targets
  // The client's own tenant with the record of another.
  const strays = targetNames
    .filter((name) => name !== 'own')
    .map((record) => ({ tenant: 'own', record }) as const)
  return [...targets, ...strays]
}

/** Returns the expected response, or undefined for cells that `provenElsewhere` explains. */
export function expectationOf(route: ApiRoute, caller: WorldCaller, target: Target): Expectation | undefined {
  const title = `${route.method} ${route.path}`
  const { levels } = tableSays(route)
  const rule = rules[title]?.(caller, target)
  if (levels === undefined) {
    if (rule === undefined || rule === 'by the table') throw new Error(`${title} needs a rule of its own`)
    return rule
  }
  if (caller.refusal !== undefined) return { status: caller.refusal }
  if (caller.level === 'none') throw new Error('a caller of no level is refused')
  if (caller.isViewOnly && route.method !== 'GET' && !route.openToViewOnly)
    return { status: 403, msg: 'a view-only user cannot make changes' }
  if (!levels.includes(caller.level)) return insufficient
  if (rule !== undefined && rule !== 'by the table') return rule
  const refusal = refusalOf(route, caller.level, target)
  if (refusal !== undefined) return refusal
  if (provenElsewhere[title]?.isMeant(caller, target) === true) return undefined
  return { status: route.reply.status }
}

const insufficient: Expectation = { status: 403, msg: 'insufficient permissions' }

function refusalOf(route: ApiRoute, level: Level, { tenant, record }: Target): Expectation | undefined {
  switch (kindOf(route)) {
    case 'tenant': {
      const scope = route.path.startsWith('/Accounts/') ? 'account' : 'service_provider'
      if (!isSeen(level, tenant, scope)) return level === 'admin' ? { status: 404 } : insufficient
      // The body of a new record below a provider names an account.
      if (scope === 'service_provider' && tableSays(route).owner === 'account')
        return isSeen(level, tenant, 'account') ? undefined : insufficient
      if (!hasRecord(route)) return undefined
      // A stray record is missing for every client: the tenant in the path does not have it.
      const isThere = scope === 'account' ? record === tenant : providerOf(record) === providerOf(tenant)
      return isThere && isSeen(level, record, 'account') ? undefined : { status: 404 }
    }
    case 'record':
      return isSeen(level, record, 'account') ? undefined : { status: 404 }
    case 'owner in body': {
      const { owner } = tableSays(route)
      if (owner === undefined || isSeen(level, tenant, owner)) return undefined
      return { status: level === 'admin' ? 400 : 403 }
    }
    case 'caller':
    case 'public':
      return undefined
  }
}

/** Returns whether the path names a record below its tenant. */
function hasRecord({ path }: ApiRoute): boolean {
  // The messages of an unknown call are an empty list, but its capture is a 404.
  if (path.endsWith('/pcap')) return true
  return parametersOf(path).some(({ name }) => !isTenantParameter(name) && !names.has(name))
}

function providerOf(target: TargetName): TargetName {
  return target === 'sibling' ? 'own' : target
}

/** Returns whether a client of this level, whose tenant is `own`, sees records of the target. */
function isSeen(level: Level, target: TargetName, scope: 'account' | 'service_provider'): boolean {
  switch (target) {
    case 'own':
      return true
    case 'missing':
      return false
    case 'sibling':
      // Siblings share the provider.
      return level !== 'account' || scope === 'service_provider'
    case 'foreign':
      return level === 'admin'
  }
}
