// Where an outbound call goes, by the type of its target: the places to try, one round after another.
import { AppError } from '../../lib/errors.ts'
import { escapeUser, serializeUri } from '../../sip/message/uri.ts'
import type { Binding, Remote } from '../../sip/sip.ts'
import { phoneOf } from '../../sip/registrar/binding.ts'
import type { CallServices } from '../call-services.ts'
import { toDecision } from '../journal/decision.ts'
import type { AccountFacts } from '../ports.ts'
import type { Round, Search } from './attempt.ts'
import { callerFields } from './caller-identity.ts'
import type { TargetOf } from '../calls.ts'
import { dialogUser } from '../leg/dialog-user.ts'
import { parseTargetUri } from './target-uri.ts'
import { toPhone } from './to-phone.ts'

/** Throws AppError when there is no place to try. */
export function findAttempts(search: Search): Promise<readonly Round[]> {
  const { to } = search.order
  switch (to.type) {
    case 'user':
      return toUser(to, search)
    case 'sip':
      return toSipUri(to, search)
    case 'phone':
      return toPhone(to, search)
    default:
      return to satisfies never
  }
}

async function toUser(
  { name, realm }: TargetOf<'user'>,
  { order, services, journal }: Search,
): Promise<readonly Round[]> {
  const { directory, sip } = services
  const aor = `${name}@${realm}`
  const client = await directory.client(order.account.account_sid, name)
  // A client that was switched off keeps its bindings until they expire; a user that the registration hook knows has none.
  const mayRing = client?.is_active === true || (await directory.registrationHook(realm)) !== undefined
  const phones = mayRing ? onePerPhone(await sip().bindings.get(aor)) : []
  const places = phones.map(({ remote }) => placeOf(remote)).join(', ')
  const outcome = phones.length === 0 ? `${aor} is not registered` : `${aor} at ${places}`
  journal.note(toDecision({ rule: 'registrar', outcome }))
  if (phones.length === 0) throw new AppError('user_not_registered', `${aor} is not registered`)
  return [
    phones.map((binding) => ({
      trunk: 'user',
      place: placeOf(binding.remote),
      invite: (host) => ({
        ...callerFields(order, host),
        uri: binding.contact,
        to: `sip:${escapeUser(name)}@${realm}`,
        routes: binding.path,
        user: dialogUser({ username: name, realm }, { journal, services }),
        mayReach: (address) => address === binding.remote.address || services.isAllowedHop(address),
      }),
      destination: () => sip().reach(binding, services.isAllowedHop),
    })),
  ]
}

/** A phone that has registered by two ways (RFC 5626 §4.2.1) rings once, by the one it used last. */
function onePerPhone(bindings: readonly Binding[]): readonly Binding[] {
  const phones = new Map<string, Binding>()
  for (const binding of bindings) {
    const phone = phoneOf(binding)
    if (!phones.has(phone)) phones.set(phone, binding)
  }
  return [...phones.values()]
}

async function toSipUri(
  { sipUri, proxy, auth }: TargetOf<'sip'>,
  { order, services }: Search,
): Promise<readonly Round[]> {
  const { directory } = services
  const uri = parseTargetUri(sipUri, 'to.sipUri')
  if ((await directory.accountByRealm(uri.host)) !== undefined) throw loop()
  // The headers of a URI do not belong into the start line (RFC 3261 §19.1.1).
  const text = serializeUri({ ...uri, headers: new Map() })
  return [
    [
      {
        trunk: 'sipUri',
        place: proxy ?? text,
        invite: (host) => ({
          ...callerFields(order, host),
          uri: text,
          to: text,
          // A redirect of the far end must not lead to an address that the customer may not call.
          mayReach: (address) => services.isAllowedHop(address),
          ...(proxy === undefined ? {} : { routes: [`<${toLooseRoute(proxy)}>`] }),
          ...(auth === undefined ? {} : { credentials: auth }),
        }),
        destination: () => guarded(proxy ?? text, order.account, services),
      },
    ],
  ]
}

/** RFC 3261 §16.12.1.1: a proxy that is named without lr would have the Request-URI rewritten. */
function toLooseRoute(proxy: string): string {
  const uri = parseTargetUri(proxy, 'to.proxy')
  return serializeUri({ ...uri, headers: new Map(), params: new Map([...uri.params, ['lr', undefined]]) })
}

/** Checks the address that the name led to, and returns that address: a second look-up could find another one. */
async function guarded(
  uri: string,
  account: AccountFacts,
  { sip, isAllowedAddress }: CallServices,
): Promise<Remote> {
  const remote = await sip().resolve(uri)
  const { host, port } = sip().addressFor(remote)
  if (!isAllowedAddress(remote.address) || isPhoneOfAnother(sip().bindings.boundTo(remote), account))
    throw new AppError('sip_refused_address', 'the SIP URI leads to an address that may not be called')
  if (remote.port === port && [host, sip().listening.address].includes(remote.address)) throw loop()
  return remote
}

/**
 * A phone that registered here lets in what comes from here, through NAT and past its own rules: only for those who may call
 * its user. The address of a proxy stands for no phone.
 */
function isPhoneOfAnother(bindings: readonly Binding[], { sip_realm }: AccountFacts): boolean {
  const phones = bindings.filter(({ path }) => path.length === 0)
  return phones.length > 0 && !phones.some(({ aor }) => aor.endsWith(`@${sip_realm}`))
}

function loop(): AppError {
  return new AppError('loop_detected', 'the SIP URI leads back into this platform', {
    cure: 'Call a registered phone with a target of type user.',
  })
}

export function placeOf({ transport, address, port }: Remote): string {
  return `${transport}:${address}:${port}`
}
