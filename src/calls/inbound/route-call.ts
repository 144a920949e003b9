// The choice of the application for a call whose account is known. Each choice and refusal goes into the journal.
import { AppError, entryOf } from '../../lib/errors.ts'
import type { Origin } from './identity.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { AccountFacts, ApplicationFacts } from '../ports.ts'
import { toDecision } from '../journal/decision.ts'
import type { RuleName } from '../routing/rules.ts'
import { chooseApplication } from '../routing/user-call.ts'
import type { InboundNeeds } from './needs.ts'

export interface UserCall {
  readonly name: string
  readonly realm: string
  /** The calling user, as it authenticated. */
  readonly caller: string
}

/** The taker of a call. */
export type CallTarget =
  | {
      readonly kind: 'application'
      readonly application: ApplicationFacts
      /** True if the INVITE of a user names it. */
      readonly isNamed: boolean
    }
  /** A user of the caller's realm. */
  | ({ readonly kind: 'user' } & UserCall)
  /** A queue of the account. The call takes the queue's next caller. */
  | { readonly kind: 'queue'; readonly name: string }
  /** A conference of the account. */
  | { readonly kind: 'conference'; readonly name: string }

/** Throws AppError no_application, user_unavailable, direct_app_calling_off, direct_queue_calling_off or wrong_credentials. */
export async function routeCall(
  journal: JournalWriter,
  account: AccountFacts,
  origin: Origin,
  needs: Pick<InboundNeeds, 'directory' | 'sip'>,
): Promise<CallTarget> {
  const chosen = await choose(journal, account, origin, needs)
  const { rule } = chosen
  if ('room' in chosen) {
    const { name } = chosen.room
    journal.note(toDecision({ rule, outcome: name }))
    return chosen.room
  }
  if ('name' in chosen) {
    const { name, realm, caller } = chosen
    journal.note(toDecision({ rule, outcome: `${name}@${realm}` }))
    return { kind: 'user', name, realm, caller }
  }
  const { application_sid } = chosen
  const application = await needs.directory.application(account.account_sid, application_sid)
  const outcome = application === undefined ? 'no such application' : application_sid
  journal.note(toDecision({ rule, outcome }))
  if (application === undefined) throw new AppError('no_application', 'the account has no such application')
  return { kind: 'application', application, isNamed: rule === 'user-named-application' }
}

function choose(
  journal: JournalWriter,
  account: AccountFacts,
  origin: Origin,
  needs: Pick<InboundNeeds, 'directory' | 'sip'>,
): Promise<Chosen | ChosenUser | ChosenRoom> | Chosen {
  if (origin.kind === 'user') return routeUser(journal, account, origin, needs)
  if (origin.kind === 'carrier') return routeCarrier(journal, origin)
  const { application_sid } = origin.tenant
  if (application_sid === null) throw new AppError('no_application', refusalSentences.no_application)
  return { rule: 'teams-application', application_sid }
}

interface Chosen {
  readonly rule: RuleName
  readonly application_sid: string
}

interface ChosenUser extends UserCall {
  readonly rule: RuleName
}

interface ChosenRoom {
  readonly rule: RuleName
  readonly room: { readonly kind: 'queue' | 'conference'; readonly name: string }
}

async function routeUser(
  journal: JournalWriter,
  { account_sid, device_calling_application_sid }: AccountFacts,
  { user, named_application_sid }: Extract<Origin, { kind: 'user' }>,
  { directory, sip }: Pick<InboundNeeds, 'directory' | 'sip'>,
): Promise<Chosen | ChosenUser | ChosenRoom> {
  const client = await directory.client(account_sid, user.username)
  // The client was removed or switched off since its password was checked. A user of the registration hook needs no
  // client.
  if (user.judged === undefined && client?.is_active !== true)
    throw new AppError('wrong_credentials', 'Invalid credentials')
  const called = journal.facts.started.to
  const call = {
    called,
    allow_direct_app_calling: client?.allow_direct_app_calling ?? true,
    allow_direct_queue_calling: client?.allow_direct_queue_calling ?? true,
    allow_direct_user_calling: client?.allow_direct_user_calling ?? true,
    device_calling_application_sid,
    hook_application_sid: user.judged?.destination,
    named_application_sid,
  }
  const first = chooseApplication({ ...call, isUserCalled: false })
  const isLeft = first.rule === 'user-no-application'
  // The registrations are read only for a call that a registered user would take, and clients only for one that
  // nothing takes.
  const isOpen = isLeft || (first.rule === 'user-device-application' && call.allow_direct_user_calling)
  const isUserCalled = isOpen && (await sip().bindings.find(`${called}@${user.realm}`)).length > 0
  const isClientCalled =
    isLeft && !isUserCalled && (await directory.client(account_sid, called))?.is_active === true
  const { rule, target } = isOpen ? chooseApplication({ ...call, isUserCalled, isClientCalled }) : first
  if (target.kind === 'application') return { rule, application_sid: target.application_sid }
  if (target.kind === 'queue' || target.kind === 'conference') return { rule, room: target }
  if (target.kind === 'user') return { rule, name: target.name, realm: user.realm, caller: user.username }
  journal.note(toDecision({ rule, outcome: 'refused', code: target.code }))
  if (target.code === 'user_unavailable') throw new AppError(target.code, `${called} is not registered`)
  const isUnknown = rule === 'user-no-application' && !isUserCalled && !isClientCalled
  if (isUnknown && !isNumber.test(called)) throw noSuchUser(called)
  if (rule === 'user-dialled-application' && target.code === 'no_application') throw noSuchApplication(called)
  if (rule === 'user-named-application') throw noSuchApplication('the header X-Application-Sid')
  throw new AppError(target.code, refusalSentences[target.code])
}

/** No user has such a name: a caller that dials a number wants an application. */
const isNumber = /^\+?\d+$/

function noSuchUser(called: string): AppError {
  return new AppError('no_application', `no user ${called} in this realm, and no configured application`, {
    cure: `No client of the account has this name, and no phone has registered with it. Check the name, or create the client (POST /Clients). ${entryOf('no_application').cure}`,
  })
}

function noSuchApplication(name: string): AppError {
  return new AppError('no_application', `${name} names no application of the account`, {
    cure: 'The account has no application with this id: GET /Applications lists them. Dial app-<application_sid>.',
  })
}

const refusalSentences = {
  no_application: 'no configured application',
  direct_queue_calling_off: 'direct queue calling is not allowed for this client',
  direct_app_calling_off: 'direct application calling is not allowed for this client',
} as const

function routeCarrier(
  journal: JournalWriter,
  { application, isNumberKnown, isRecording }: Extract<Origin, { kind: 'carrier' }>,
): Chosen {
  if (application !== undefined) return application
  if (isRecording) {
    const code = 'no_siprec_application'
    journal.note(toDecision({ rule: 'siprec-no-application', outcome: 'refused', code }))
    throw new AppError(code, 'the account has no application for recording sessions')
  }
  if (!isNumberKnown) {
    const code = 'number_not_provisioned'
    journal.note(toDecision({ rule: 'carrier-number-unknown', outcome: 'refused', code }))
    const { to } = journal.facts.started
    throw new AppError(code, `${to} is no phone number of this carrier, which has no application either`)
  }
  const code = 'no_application'
  journal.note(toDecision({ rule: 'carrier-no-application', outcome: 'refused', code }))
  throw new AppError(code, refusalSentences[code], {
    cure: 'Set application_sid on the phone number, or on the carrier.',
  })
}
