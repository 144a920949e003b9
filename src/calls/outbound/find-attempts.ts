// The places to try for an outbound call, by the type of its target, in rounds that are tried one after another.
import { AppError } from '../../lib/errors.ts'
import { escapeUser, tryParseUri, unescapeUri } from '../../sip/message/uri.ts'
import type { Binding, Remote, Resolved } from '../../sip/sip.ts'
import { heardByEdge, phoneOf } from '../../sip/registrar/binding.ts'
import { transports } from '../../sip/transport/transports.ts'
import { toDecision } from '../journal/decision.ts'
import { reachableFor } from '../reachable-places.ts'
import type { Attempt, Round, Search } from './attempt.ts'
import { callerFields } from './caller-identity.ts'
import { carriersAt } from './carriers-at.ts'
import type { TargetOf } from '../verb/target.ts'
import { dialogUser } from '../leg/dialog-user.ts'
import { toPhone } from './to-phone.ts'
import { demandNoTeams, toSipUri } from './to-sip-uri.ts'
import { toTeams } from './to-teams.ts'

/** Returns the rounds. Throws AppError when there is no place to try. */
export function findAttempts(search: Search): Promise<readonly Round[]> {
  const { to } = search.order
  switch (to.type) {
    case 'user':
      return toUser(to, search)
    case 'sip':
      return toSipUri(to, search)
    case 'phone':
      return toPhone(to, search)
    case 'teams':
      return toTeams(to, search)
    default:
      return to satisfies never
  }
}

async function toUser({ name, realm }: TargetOf<'user'>, search: Search): Promise<readonly Round[]> {
  const { order, needs, journal } = search
  const { directory, sip } = needs
  const aor = `${name}@${realm}`
  const client = await directory.client(order.account.account_sid, name)
  // A switched-off client keeps its bindings until they expire. A user of the registration hook has no stored client.
  const mayRing = client?.is_active === true || (await directory.registrationHook(realm)) !== undefined
  const phones = mayRing ? onePerPhone(await sip().bindings.find(aor)) : []
  const places = phones.map(({ remote }) => placeOf(remote)).join(', ')
  const outcome = phones.length === 0 ? `${aor} is not registered` : `${aor} at ${places}`
  journal.note(toDecision({ rule: 'registrar', outcome }))
  if (phones.length === 0) throw new AppError('user_not_registered', `${aor} is not registered`)
  return [
    phones.map((binding) => ({
      trunk: 'user',
      isPhone: true,
      place: placeOf(binding.remote),
      ...protectionOver(binding.remote),
      invite: (host) => ({
        ...callerFields(order, host),
        uri: binding.contact,
        to: `sip:${escapeUser(name)}@${realm}`,
        routes: binding.path,
        user: dialogUser({ username: name, realm, place: heardByEdge(binding) }, { journal, needs }),
        mayReach: reachableFor(binding.remote.address, { sip_realm: realm }, needs),
      }),
      destination: () => reachPhone(binding, realm, needs),
      redirect: async ({ uri }) => {
        const { host } = sip().addressFor(binding.remote)
        return (await toUser({ type: 'user', name: userAt(uri, [realm, host]), realm }, search)).flat()
      },
    })),
  ]
}

/**
 * Resolves to the place of the phone. Throws AppError if its Contact leads to a carrier or to Microsoft Teams: calls to
 * users do not pass the fraud defence, and the user of the Contact would be a number there.
 */
async function reachPhone(binding: Binding, sip_realm: string, needs: Search['needs']): Promise<Resolved> {
  const { remote, contact } = binding
  const found = await needs.sip().reach(binding, reachableFor(remote.address, { sip_realm }, needs))
  const elsewhere = [found, ...(found.alternatives ?? [])].filter(
    ({ address }) => address !== remote.address && !needs.isSipProxy(address),
  )
  if (elsewhere.length === 0) return found
  demandNoTeams(contact, elsewhere, needs.teams)
  const [at] = await carriersAt(new Set(elsewhere.map(({ address }) => address)), needs)
  if (at !== undefined)
    throw new AppError('sip_refused_address', `the Contact of the phone leads to a carrier at ${at.address}`)
  return found
}

/** Returns the user in the URI. Throws not_permitted for another realm: a phone must not redirect calls elsewhere. */
function userAt(text: string, hosts: readonly string[]): string {
  const uri = tryParseUri(text)
  const name = uri !== undefined && uri.scheme !== 'tel' && hosts.includes(uri.host) ? uri.user : undefined
  if (name === undefined)
    throw new AppError('not_permitted', 'a user may send its callers to users of its realm only')
  return unescapeUri(name)
}

/** Returns one binding for each phone. One with two flows (RFC 5626 §4.2.1) rings once, over the flow it used last. */
function onePerPhone(bindings: readonly Binding[]): readonly Binding[] {
  const phones = new Map<string, Binding>()
  for (const binding of bindings) {
    const phone = phoneOf(binding)
    if (!phones.has(phone)) phones.set(phone, binding)
  }
  return [...phones.values()]
}

export function placeOf({ transport, address, port }: Remote): string {
  return `${transport}:${address}:${port}`
}

/**
 * Returns SRTP offers for phones over TLS only, since the keys in other signalling can be read on the way. A phone
 * without SRTP ignores the keys of the first offer. A browser has its own encryption.
 */
function protectionOver({ transport }: Remote): Pick<Attempt, 'protection' | 'protectionAgain'> {
  const { isSecure, isOpenedHere } = transports[transport]
  if (!isSecure || !isOpenedHere) return {}
  return { protection: { sdes: 'possible' }, protectionAgain: { sdes: 'required' } }
}
