// The places to try for a call to a phone number: the gateways of the carriers that accept it, one after another.
import { createAddressGuard, literalOf } from '../../network/address-guard.ts'
import { AppError } from '../../lib/errors.ts'
import { parseNameAddr } from '../../sip/message/name-addr.ts'
import { serializeUri } from '../../sip/message/uri.ts'
import type { Resolved } from '../../sip/sip.ts'
import { transports } from '../../sip/transport/transports.ts'
import { behindTechPrefix, demandDialled, serializeDialled } from '../defence/dialled-number.ts'
import { dialledIn, toCarrierUri } from '../defence/dialled-uri.ts'
import type { OutboundCarrier, OutboundGateway, TrunkState } from '../ports.ts'
import { chooseCarriers, orAll } from '../routing/phone-call.ts'
import { toDecision } from '../journal/decision.ts'
import type { Attempt, Round, Search } from './attempt.ts'
import type { TargetOf } from '../verb/target.ts'
import { hostPortOf, nextHopOf, toDialled, toInvite, type PhoneAttempt } from './phone-attempt.ts'
import { apartFromPhones, isPhoneOfAnother } from '../reachable-places.ts'
import { signedCaller, type SignedCaller } from './signed-caller.ts'
import { parseTargetUri } from './target-uri.ts'
import { demandNoTeams, toSipUri } from './to-sip-uri.ts'

// The most places that are tried. No caller waits for more.
const maxAttempts = 20

// The most characters of an unknown name that the journal shows.
const maxNameChars = 64

const isPublic = createAddressGuard([])

/** Returns the gateways to try. Throws AppError unreadable_number, no_carrier, patterns_too_costly. */
export async function toPhone(
  { number: written, trunk, voip_carrier_sid, auth }: TargetOf<'phone'>,
  search: Search,
): Promise<readonly Round[]> {
  const { order, needs, journal } = search
  const number = readNumber(written, journal)
  const { directory, trunks, random } = needs
  const { account } = order
  const [carriers, plan, numbers, caller] = await Promise.all([
    directory.outboundCarriers(account),
    directory.dialPlan(account),
    directory.numbersCalled(order.from.replace(/^\+/, '')),
    signedCaller(order, account, directory),
  ])
  const mine = numbers.find(({ account_sid }) => account_sid === account.account_sid)
  const shared = numbers.find(({ account_sid }) => account_sid === null)
  const choice = chooseCarriers(
    { number: number.split(';')[0]?.replace(/^\+/, '') ?? '', trunk, voip_carrier_sid },
    {
      carriers,
      plan,
      carrierOfCaller: (mine ?? shared)?.voip_carrier_sid ?? undefined,
      isUp: ({ gateways }) => gateways.some(({ sip_gateway_sid }) => trunks.isUp(sip_gateway_sid)),
    },
    random,
  )
  if (isSet(trunk) && choice.rule !== 'phone-named-carrier')
    journal.note({
      type: 'note',
      sentence: `no carrier ${shown(trunk)} serves the account: the name is ignored`,
    })
  const names = choice.carriers.map(({ name }) => name).join(', ')
  const chosen = names === '' ? 'no carrier' : names
  const { rule, route } = choice
  journal.note(toDecision({ rule, outcome: route === undefined ? chosen : `${route}: ${chosen}` }))
  if (choice.carriers.length === 0) throw new AppError('no_carrier', 'no carrier takes calls to this number')
  const ways = choice.carriers.flatMap((carrier) =>
    inOrder(carrier, trunks).map((gateway) => ({ carrier, gateway })),
  )
  const usable = orAll(ways, ({ gateway }) => trunks.isUp(gateway.sip_gateway_sid))
  noteLeftOut(
    ways.filter((way) => !usable.includes(way)),
    journal,
  )
  const identity = signerOf(number.split(';')[0] ?? '', caller, search)
  return usable.slice(0, maxAttempts).map((way) => [toAttempt(way, { number, auth, identity }, search)])
}

/** Returns the number as carriers are sent it, and journals what of the written one is not sent. */
function readNumber(written: string, journal: Search['journal']): string {
  const read = demandDialled(written)
  const { number, dropped } = read
  if (dropped.length > 0) {
    const names = shortened(dropped.join(', '))
    journal.note({ type: 'note', sentence: `parameters of the number that are not sent: ${names}` })
  }
  if (written.split(';')[0] !== number)
    journal.note({ type: 'note', sentence: `the number was written ${shown(written)}` })
  return serializeDialled(read)
}

/** Returns a function that signs an INVITE as it is sent, since signatures that are a minute old are not accepted. */
function signerOf(
  called: string,
  { calling, attest }: SignedCaller,
  { order, needs, journal }: Search,
): PhoneAttempt['identity'] {
  const { account_sid } = order.account
  let isNoted = false
  return () => {
    const signed = needs.numberTrust.sign({ calling, called, attest, account_sid })
    if (signed !== undefined && !isNoted)
      journal.note({ type: 'note', sentence: `the calling number is signed with attestation ${attest}` })
    isNoted = true
    return signed
  }
}

function noteLeftOut(ways: readonly Way[], journal: Search['journal']): void {
  if (ways.length === 0) return
  const outcome = ways.map(({ carrier, gateway }) => `${gateway.host} of ${carrier.name}`).join(', ')
  journal.note(toDecision({ rule: 'phone-gateway-down', outcome }))
}

function toAttempt(
  way: Way,
  { number, auth, identity }: Pick<PhoneAttempt, 'number' | 'auth' | 'identity'>,
  search: Search,
): Attempt {
  const { order, needs } = search
  const { carrier, gateway } = way
  const routes = needs.trunks.routesOf(carrier.voip_carrier_sid)
  const mayReach = reachableBy(carrier, search)
  return {
    trunk: carrier.name,
    place: hostPortOf(gateway),
    gateway: gateway.sip_gateway_sid,
    protection: gateway.protection,
    protectionAgain: gateway.protectionAgain,
    dialled: behindTechPrefix(
      carrier.tech_prefix ?? '',
      toDialled(number, { ...carrier, tech_prefix: null }),
    ),
    keyWay: carrier.dtmf_type,
    invite: (host) => toInvite({ order, number, auth, carrier, gateway, routes, identity, host, mayReach }),
    // Not guarded, because many gateways are at private addresses, and an account that may write a carrier is trusted
    // with them (SECURITY.md).
    destination: () => placeOf(firstHopOf(routes) ?? nextHopOf(carrier, gateway), carrier, search),
    redirect: ({ uri }) => elsewhere(uri, way, { ...search, identity }),
  }
}

/** Returns a check of the places to which a carrier may direct a call. Only the operator's may name its own proxies. */
function reachableBy(
  { isShared }: OutboundCarrier,
  { order, needs }: Pick<Search, 'order' | 'needs'>,
): PhoneAttempt['mayReach'] {
  const isApart = apartFromPhones(order.account, needs)
  return isShared ? isApart : (place) => isApart(place) && !needs.isSipProxy(place.address)
}

/**
 * Resolves a hop to a carrier. Only the operator may lead calls by a carrier to Microsoft Teams, to its own proxies, or
 * to the address of a phone of another account.
 */
async function placeOf(
  hop: string,
  { isShared }: OutboundCarrier,
  { order, needs }: Pick<Search, 'order' | 'needs'>,
): Promise<Resolved> {
  const { sip, teams, isSipProxy } = needs
  const found = await sip().resolve(hop)
  if (isShared) return found
  const places = [found, ...(found.alternatives ?? [])]
  demandNoTeams(hop, places, teams)
  if (places.some(({ address }) => isSipProxy(address)))
    throw new AppError(
      'sip_refused_address',
      'the gateway or outbound_sip_proxy of the carrier is a SIP proxy of the operator',
    )
  for (const place of places)
    if (isPhoneOfAnother(await sip().bindings.findReachedAt(place), order.account))
      throw new AppError('sip_refused_address', 'the gateway is at the address of a phone of another account')
  return found
}

function firstHopOf([first]: readonly string[]): string | undefined {
  return first === undefined ? undefined : parseNameAddr(first).uri
}

interface Way {
  readonly carrier: OutboundCarrier
  readonly gateway: OutboundGateway
}

/** Follows a redirect of a carrier: to another one of its gateways, or to any address that a customer may call. */
async function elsewhere(
  uri: string,
  { carrier, gateway: first }: Way,
  { identity, ...search }: Search & Pick<PhoneAttempt, 'identity'>,
): Promise<Round> {
  const parsed = parseTargetUri(uri, 'the Contact of a redirect')
  const near = carrier.gateways.filter(({ host }) => host === parsed.host)
  if (near.length === 0) return (await toSipUri({ type: 'sip', sipUri: uri }, search)).flat()
  const { order } = search
  const sent = toCarrierUri(parsed)
  const dialled = dialledIn(sent)
  // Another port of the host may be anything, so its behaviour does not count for the gateway.
  const gateway = near.find((one) => portOf(one) === portOf({ ...one, port: parsed.port ?? null }))
  return [
    {
      trunk: carrier.name,
      place: parsed.host,
      gateway: gateway?.sip_gateway_sid,
      protection: first.protection,
      protectionAgain: first.protectionAgain,
      dialled,
      invite: (host) => ({
        ...toInvite({
          order,
          number: sent.user ?? '',
          auth: undefined,
          carrier,
          gateway: first,
          routes: [],
          identity,
          host,
          mayReach: reachableBy(carrier, search),
        }),
        uri: serializeUri(sent),
      }),
      destination: () => placeOf(serializeUri(sent), carrier, search),
    },
  ]
}

function portOf({ port, protocol }: Pick<OutboundGateway, 'port' | 'protocol'>): number {
  return port ?? transports[protocol].defaultPort
}

function isSet(trunk: string | undefined): trunk is string {
  return trunk !== undefined && trunk !== ''
}

function shown(name: string): string {
  return JSON.stringify(shortened(name))
}

function shortened(text: string): string {
  return text.slice(0, maxNameChars)
}

/** Sorts gateways: the one over which the platform is registered comes first, private destinations last. */
function inOrder(
  { voip_carrier_sid, gateways }: OutboundCarrier,
  trunks: TrunkState,
): readonly OutboundGateway[] {
  const registered = trunks.registeredOver(voip_carrier_sid)
  const rank = ({ host, sip_gateway_sid }: OutboundGateway): number => {
    if (sip_gateway_sid === registered) return 0
    return literalOf(host) !== undefined && !isPublic(host) ? 2 : 1
  }
  return gateways.toSorted((a, b) => rank(a) - rank(b))
}
