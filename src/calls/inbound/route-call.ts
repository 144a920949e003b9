// Which application takes a call whose account is known: each choice and refusal goes into the journal.
import { AppError } from '../../lib/errors.ts'
import type { SipUser } from '../../sip/sip.ts'
import type { Origin } from './identity.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { AccountFacts, ApplicationFacts, Directory } from '../ports.ts'
import { toDecision } from '../journal/decision.ts'
import type { RuleName } from '../routing/rules.ts'
import { chooseApplication } from '../routing/user-call.ts'

/** Throws AppError no_application, direct_app_calling_off or wrong_credentials. */
export async function routeCall(
  journal: JournalWriter,
  account: AccountFacts,
  origin: Origin,
  directory: Directory,
): Promise<ApplicationFacts> {
  const { rule, application_sid } =
    origin.kind === 'user'
      ? await routeUser(journal, account, origin.user, directory)
      : routeCarrier(journal, origin)
  const application = await directory.application(account.account_sid, application_sid)
  const outcome = application === undefined ? 'no such application' : application_sid
  journal.note(toDecision({ rule, outcome }))
  if (application === undefined) throw new AppError('no_application', 'the account has no such application')
  return application
}

interface Chosen {
  readonly rule: RuleName
  readonly application_sid: string
}

async function routeUser(
  journal: JournalWriter,
  { account_sid, device_calling_application_sid }: AccountFacts,
  user: SipUser,
  directory: Directory,
): Promise<Chosen> {
  const client = await directory.client(account_sid, user.username)
  // Removed or switched off since its password was checked. A user that the registration hook knows needs no client.
  if (user.judged === undefined && client?.is_active !== true)
    throw new AppError('wrong_credentials', 'Invalid credentials')
  const { rule, target } = chooseApplication({
    called: journal.facts.started.to,
    allow_direct_app_calling: client?.allow_direct_app_calling ?? true,
    device_calling_application_sid,
    named_application_sid: user.judged?.destination,
  })
  if (target.kind === 'application') return { rule, application_sid: target.application_sid }
  journal.note(toDecision({ rule, outcome: 'refused', code: target.code }))
  throw new AppError(target.code, refusalSentences[target.code])
}

const refusalSentences = {
  no_application: 'no configured application',
  direct_app_calling_off: 'direct application calling is not allowed for this client',
} as const

function routeCarrier(journal: JournalWriter, { application }: Extract<Origin, { kind: 'carrier' }>): Chosen {
  if (application !== undefined) return application
  const code = 'no_application'
  journal.note(toDecision({ rule: 'carrier-no-application', outcome: 'refused', code }))
  throw new AppError(code, refusalSentences[code], {
    cure: 'Set application_sid on the phone number, or on the carrier.',
  })
}
