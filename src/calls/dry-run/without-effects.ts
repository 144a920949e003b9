// The needs of a dry run: those of real calls, without effects that are visible outside.
import { isIP } from 'node:net'
import { AppError } from '../../lib/errors.ts'
import { silentLogger } from '../../lib/log.ts'
import type { SipRequest } from '../../sip/message/message.ts'
import { parseUri, serializeUri } from '../../sip/message/uri.ts'
import { refusal } from '../../sip/refusal.ts'
import type { BindingStore, Resolved, Sip } from '../../sip/sip.ts'
import type { AccountFacts } from '../ports.ts'
import { createUnservedCalls } from '../inbound/unserved-calls.ts'
import type { InboundNeeds } from '../inbound/needs.ts'
import type { OutboundNeeds } from '../outbound/needs.ts'
import type { Admission } from '../admission.ts'

export interface DryNeeds extends InboundNeeds, OutboundNeeds {
  readonly admission: Admission
}

/** Looks up, learns and logs nothing. A user is treated as authenticated. */
export function withoutEffects(account: AccountFacts, needs: DryNeeds): DryNeeds {
  const { sip, directory } = needs
  const proven = async (request: SipRequest): ReturnType<ReturnType<typeof sip>['authenticate']> => {
    const uri = parseUri(request.uri)
    const realm = uri.scheme === 'tel' ? '' : uri.host
    const username = callerOf(request)
    const client = await directory.client(account.account_sid, username)
    const isJudged = (await directory.registrationHook(realm)) !== undefined
    const user = { username, realm, password: '' }
    if (isJudged) return { verdict: 'accepted', user: { ...user, judged: {} } }
    if (client?.is_active === true) return { verdict: 'accepted', user }
    const code = 'wrong_credentials'
    const reply = refusal(code, 'Invalid credentials')
    return { verdict: 'refused', code, reply, isWorthRecord: true }
  }
  return {
    ...needs,
    carrierCalled: () => undefined,
    unserved: createUnservedCalls(needs.clock),
    log: silentLogger,
    sip: () => {
      const real = sip()
      return {
        authenticate: proven,
        bindings: withoutOthers(real.bindings),
        listening: real.listening,
        hasUserAt: (realm, address) => real.hasUserAt(realm, address),
        addressFor: (peer) => real.addressFor(peer),
        resolve: (uri) => resolveWithoutNames(uri, real),
        reach: (binding) => Promise.resolve(binding.remote),
        drain: () => undefined,
        rest: () => undefined,
        slow: () => undefined,
        byeIn: () => Promise.reject(notLookedUp()),
        open: () => Promise.resolve(),
        invite: () => {
          throw notLookedUp()
        },
      }
    },
  }
}

/**
 * Returns the bindings by address of record only, and changes none. A dry run is free and leaves no trace. Without this,
 * it could be used to search for the phones of other accounts.
 */
function withoutOthers(real: BindingStore): BindingStore {
  const nothing = (): Promise<void> => Promise.resolve()
  return {
    get: (aor) => real.get(aor),
    find: (aor) => real.find(aor),
    list: (realm) => real.list(realm),
    put: nothing,
    touch: () => undefined,
    remove: nothing,
    forget: nothing,
    boundTo: () => [],
    reachedAt: () => [],
    findReachedAt: () => Promise.resolve([]),
  }
}

// RFC 5737 §3. Nothing is sent to it.
const someAddress = '192.0.2.1'

/** Refuses a name for the same reasons as an address in its place, for example an unsupported transport. */
async function resolveWithoutNames(text: string, sip: Pick<Sip, 'resolve'>): Promise<Resolved> {
  if (isLiteral(text)) return sip.resolve(text)
  const uri = parseUri(text)
  if (uri.scheme !== 'tel') await sip.resolve(serializeUri({ ...uri, host: someAddress }))
  throw notLookedUp()
}

const reason = Symbol('a dry run looks up no names and sends nothing')

function notLookedUp(): AppError {
  return new AppError('sip_unreachable', reason.description ?? '', { cause: reason })
}

/** Reports whether a place failed only because names are not looked up. */
export function isNotLookedUp(error: unknown): boolean {
  return error instanceof AppError && error.cause === reason
}

export function isLiteral(text: string): boolean {
  const uri = parseUri(text)
  return uri.scheme !== 'tel' && isIP(uri.host.replace(/^\[|\]$/g, '')) !== 0
}

function callerOf({ headers }: SipRequest): string {
  return /<sip:([^@>]*)/.exec(headers.find(({ name }) => name === 'from')?.value ?? '')?.[1] ?? ''
}
