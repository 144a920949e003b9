// A phone that talks with another one sends it elsewhere: REFER (RFC 3515). The application decides where its dial has a
// referHook; without one a user may send the other side to users of the same realm, and nowhere else.
import { AppError } from '../../lib/errors.ts'
import { headerOf } from '../../sip/message/message.ts'
import { tryParseUri } from '../../sip/message/uri.ts'
import type { IncomingReferral, Reply } from '../../sip/sip.ts'
import type { HookForm } from '../application/hook-form.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import type { CallContext } from '../call-context.ts'
import { toDecision } from '../journal/decision.ts'
import type { Leg } from '../leg/leg.ts'
import { toAppError, toProblem, toRefusal } from '../leg/refusals.ts'
import type { AccountFacts } from '../ports.ts'
import type { RunnableVerb } from '../verb.ts'

export interface TransferOptions {
  readonly referral: IncomingReferral
  /** The leg whose far end sent the REFER. */
  readonly by: Leg
  /** The leg that is sent elsewhere. */
  readonly other: Leg
  readonly hook: HookForm | undefined
  readonly account: AccountFacts
  readonly context: CallContext
  readonly nested: NestedVerbs
  /** Parts the two; these verbs run on the other leg from now on. */
  readonly start: (verbs: readonly RunnableVerb[]) => void
}

/** Never rejects. */
export async function transfer(options: TransferOptions): Promise<void> {
  const { referral, by, other, start } = options
  try {
    const verbs = await verbsFor(options)
    if (by.hasEnded || other.hasEnded) return referral.reject({ status: 481 })
    by.journal.note(toDecision({ rule: 'transfer', outcome: referral.referTo }))
    other.journal.note(toDecision({ rule: 'transfer', outcome: referral.referTo }))
    const subscription = referral.accept()
    const stop = other.events.watch((event) => {
      if (event === 'bridged') subscription.notify(200)
    })
    other.signal.addEventListener(
      'abort',
      () => {
        stop()
        subscription.notify(487)
      },
      { once: true },
    )
    start(verbs)
  } catch (error) {
    const failure = toAppError(error, by.log)
    by.journal.note(toProblem(failure))
    referral.reject(replyTo(failure))
  }
}

async function verbsFor(options: TransferOptions): Promise<readonly RunnableVerb[]> {
  const { hook, referral, nested, by } = options
  if (referral.replaces !== undefined)
    throw new AppError('not_served', 'an attended transfer is not served yet')
  if (hook !== undefined) return await nested.ask(by, hook, 'refer', { refer_details: detailsOf(options) })
  return await dialUser(options)
}

async function dialUser({
  referral,
  by,
  account,
  context,
}: TransferOptions): Promise<readonly RunnableVerb[]> {
  const uri = tryParseUri(referral.referTo)
  const name = uri?.scheme === 'sip' ? uri.user : undefined
  const host = uri?.scheme === 'sip' ? uri.host : ''
  const { sip, verbs } = context.services
  const { started, attempt } = by.journal.facts
  const isUser = (attempt?.trunk ?? started.trunk) === 'user'
  const isOurs = host === account.sip_realm || host === started.host || host === attempt?.host
  if (!isUser || !isOurs || name === undefined || account.sip_realm === null)
    throw new AppError('not_permitted', 'a user may send the other side to users of its realm only', {
      cure: 'Give the dial a referHook: then the application decides where a call may be sent.',
    })
  const aor = `${name}@${account.sip_realm}`
  if ((await sip().bindings.get(aor)).length === 0)
    throw new AppError('user_not_registered', `${aor} is not registered`)
  return verbs([{ verb: 'dial', target: [{ type: 'user', name }] }])
}

function detailsOf({ referral, by, other }: TransferOptions): object {
  const { referTo, referredBy, request } = referral
  const agent = headerOf(request, 'user-agent')
  const extensions = request.headers.filter(({ name }) => name.startsWith('x-'))
  return {
    sip_refer_to: headerOf(request, 'refer-to') ?? referTo,
    refer_to_user: userOf(referTo),
    ...(referredBy === undefined
      ? {}
      : { sip_referred_by: referredBy, referred_by_user: userOf(referredBy) }),
    ...(agent === undefined ? {} : { sip_user_agent: agent }),
    referring_call_sid: by.call_sid,
    referred_call_sid: other.call_sid,
    ...Object.fromEntries(extensions.map(({ name, value }) => [name.replaceAll('-', '_'), value])),
  }
}

/** The user part of a SIP address; the whole text where it has none. */
function userOf(address: string): string {
  return /sips?:([^@;>?]+)@/i.exec(address)?.[1] ?? address
}

/** A hook that answers with an error chooses the status of the refusal. */
function replyTo(error: AppError): Reply {
  const { reply } = toRefusal(error)
  const { detail } = error
  const status = detail !== undefined && 'status' in detail ? detail.status : undefined
  return typeof status === 'number' && status >= 400 && status <= 699 ? { ...reply, status } : reply
}
