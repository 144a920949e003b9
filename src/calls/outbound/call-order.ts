// The order for a call that the platform makes: the target, the caller, and the script that runs it after the answer.
import { AppError } from '../../lib/errors.ts'
import { createSid, randomHex } from '../../lib/ids.ts'
import { readDialled } from '../defence/dialled-number.ts'
import { demandFromHost } from './caller-identity.ts'
import type { CallRequest, CallWishes } from '../call-request.ts'
import type { Target } from '../verb/target.ts'
import type { StartedFact } from '../journal/journal.ts'
import type { AccountFacts, CallScript, Directory } from '../ports.ts'

/** A call request with everything looked up, and with the identifiers of the call. */
export interface CallOrder extends CallWishes {
  readonly call_sid: string
  /** The Call-ID of its INVITEs. */
  readonly call_id: string
  readonly account: AccountFacts
  /** Undefined when the client gave hooks of its own. */
  readonly application_sid: string | undefined
  /** The call that dials this one. */
  readonly parent?: StartedFact
  /** The Max-Forwards of the INVITE: for a dialled leg, one fewer than the dialling call has left. */
  readonly maxForwards?: number
  /** How often the call has passed through the platform, with this leg. 1 if left out. */
  readonly passages?: number
}

/** A call that a script runs once it is answered. */
export interface ScriptedOrder extends CallOrder {
  readonly script: CallScript
}

/** Looks up a request. Throws AppError if the account or application does not exist or cannot run a call. */
export async function toOrder(
  { account_sid, runs, ...wishes }: CallRequest,
  directory: Pick<Directory, 'account' | 'accountByRealm' | 'application'>,
): Promise<ScriptedOrder> {
  const account = await directory.account(account_sid)
  if (account === undefined) throw new AppError('not_found', 'no such account')
  if (!account.is_active) throw new AppError('account_inactive', 'Account exists but is inactive')
  await demandFromHost(wishes.fromHost, account, directory)
  const order = { ...wishes, call_sid: createSid(), call_id: randomHex(16), account }
  if ('script' in runs) return { ...order, application_sid: undefined, script: usable(runs.script) }
  const { application_sid } = runs
  const application = await directory.application(account_sid, application_sid)
  if (application === undefined)
    throw new AppError('bad_request', 'application_sid names no application of the account')
  return { ...order, application_sid, script: usable(application) }
}

function usable(script: CallScript): CallScript {
  const { app_json, call_hook } = script
  if (app_json !== null) return script
  if (call_hook === null)
    throw new AppError('no_application', 'the application has neither a call hook nor app_json')
  return script
}

/** Returns the called party as hooks and records name it. */
export function calledPartyOf(to: Target): string {
  switch (to.type) {
    case 'phone':
      return readDialled(to.number)?.number ?? to.number
    case 'teams':
      return to.number
    case 'user':
      return `${to.name}@${to.realm}`
    case 'sip':
      return to.sipUri
    default:
      return to satisfies never
  }
}
