// A call from a SIP user, or from a carrier that authenticates as users do.
import { AppError } from '../../lib/errors.ts'
import { unknownRealm } from '../../sip/refusal.ts'
import { settleCarrierCall } from './identify-carrier.ts'
import { inactiveAccount, type Identity, type UnknownInvite } from './identity.ts'
import { toRefusal, toStackRefusal } from '../journal/refusals.ts'
import type { Decision } from '../journal/decision.ts'
import type { InboundNeeds } from './needs.ts'

export async function identifyUser(invite: UnknownInvite, needs: InboundNeeds): Promise<Identity> {
  const { directory } = needs
  const checked = await needs.sip().authenticate(invite.request, invite.remote)
  if (checked.verdict === 'challenge') {
    invite.reject(checked.reply)
    return { kind: 'turned-away' }
  }
  if (checked.verdict === 'refused' && !checked.isWorthRecord) {
    // A stranger that tries repeatedly would fill the disk with records.
    invite.reject(checked.reply)
    const { code } = checked
    return {
      kind: 'turned-away',
      logged: code === 'unknown_realm' || code === 'locked_out' ? code : undefined,
    }
  }
  const { realm, named_application_sid } = invite.asked
  const account = realm === undefined ? undefined : await directory.accountByRealm(realm)
  if (account === undefined) {
    const unknown = new AppError('unknown_realm', unknownRealm)
    invite.reject(checked.verdict === 'refused' ? checked.reply : toRefusal(unknown).reply)
    return { kind: 'turned-away' }
  }
  const decisions: Decision[] = [{ rule: 'caller-realm', outcome: account.account_sid }]
  const refused = { kind: 'refused', account, decisions, carrier: undefined } as const
  if (checked.verdict === 'refused')
    return { ...refused, refusal: toStackRefusal(checked.code, checked.reply) }
  if (!account.is_active) return { ...refused, refusal: inactiveAccount() }
  const { user } = checked
  const rule = user.judged === undefined ? 'caller-digest' : 'caller-registration-hook'
  decisions.push({ rule, outcome: `${user.username}@${user.realm}` })
  if (checked.note !== undefined) decisions.push({ rule: 'caller-digest-uri', outcome: checked.note })
  if (user.peer === undefined) {
    return { kind: 'known', account, decisions, origin: { kind: 'user', user, named_application_sid } }
  }
  const carrier = await directory.carrier(user.peer)
  // The carrier was removed or switched off since its password was checked.
  if (carrier === undefined)
    return { ...refused, refusal: toRefusal(new AppError('wrong_credentials', 'Invalid credentials')) }
  return await settleCarrierCall(invite, needs, {
    decisions,
    account,
    matches: [{ carrier, netmask: 32 }],
  })
}
