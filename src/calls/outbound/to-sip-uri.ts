// The place to try for a call to a SIP URI. It is guarded, because a customer wrote the URI.
import { AppError } from '../../lib/errors.ts'
import { hasSips } from '../../sip/contact.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import { serializeUri, tryParseUri, unescapeUri, type SipUri } from '../../sip/message/uri.ts'
import type { Remote, Resolved } from '../../sip/sip.ts'
import { transports } from '../../sip/transport/transports.ts'
import { toHeaderFields } from '../application/app-headers.ts'
import { dialledIn } from '../defence/dialled-uri.ts'
import type { AccountFacts, TeamsFacts, TeamsProxy } from '../ports.ts'
import type { Round, Search } from './attempt.ts'
import { localPlaceOf } from '../local-place.ts'
import { isPhoneOfAnother, reachableFor } from '../reachable-places.ts'
import { callerFields } from './caller-identity.ts'
import type { TargetOf } from '../verb/target.ts'
import { parseProxyUri, parseTargetUri } from './target-uri.ts'
import type { OutboundNeeds } from './needs.ts'

const offered = { sdes: { sdes: 'required' }, dtls: { dtls: 'ice' } } as const

/** Returns the place to try. Throws AppError when there is none. */
export async function toSipUri(
  { sipUri, proxy, auth, srtpEncryption }: TargetOf<'sip'>,
  search: Search,
): Promise<readonly Round[]> {
  const { order, needs } = search
  const { directory } = needs
  const uri = parseTargetUri(sipUri, 'to.sipUri')
  if ((await directory.accountByRealm(uri.host)) !== undefined) throw loop()
  // The headers of a URI belong in the header of the request, not in the start line (RFC 3261 §19.1.1, §19.1.5).
  const text = serializeUri({ ...uri, headers: new Map() })
  const headers = [...order.headers, ...embeddedHeaders(sipUri, search)]
  const dialled = dialledIn(uri)
  const route = proxy === undefined ? undefined : `<${toLooseRoute(proxy)}>`
  return [
    [
      {
        trunk: 'sipUri',
        place: proxy ?? text,
        ...(srtpEncryption === undefined ? {} : { protection: offered[srtpEncryption] }),
        dialled,
        invite: (host) => ({
          ...callerFields({ ...order, headers }, host),
          uri: text,
          to: text,
          mustLeave: true,
          // A redirect of the far end must not lead to an address that the customer may not call.
          mayReach: reachableFor(undefined, order.account, needs),
          ...(route === undefined ? {} : { routes: [route] }),
          ...(auth === undefined ? {} : { credentials: auth }),
        }),
        destination: async () => secured(await guardedPlace(proxy ?? text, order.account, needs), text),
        // The proxy and the password are not meant for another place.
        redirect: async ({ uri: next }) =>
          (
            await toSipUri({ type: 'sip', sipUri: next, ...(srtpEncryption && { srtpEncryption }) }, search)
          ).flat(),
      },
    ],
  ]
}

/** Returns the headers of the URI that `headers` may set and does not, and journals them and the others. */
function embeddedHeaders(sipUri: string, { order, journal }: Search): readonly HeaderField[] {
  const query = sipUri.includes('?') ? sipUri.slice(sipUri.indexOf('?') + 1) : ''
  if (query === '') return []
  const given = query.split('&').map((part) => {
    const [name = '', ...value] = part.split('=')
    return [unescapeUri(name), unescapeUri(value.join('='))] as const
  })
  const set = new Set(order.headers.map(({ name }) => name))
  // `body` stands for a body, and the caller may not be changed by a URI.
  const isOpen = ([name]: readonly [string, string]): boolean => !closedInUri.has(name.toLowerCase())
  const { fields, refused } = toHeaderFields(Object.fromEntries(given.filter(isOpen)))
  const left = [...refused, ...given.filter((one) => !isOpen(one)).map(([name]) => name)]
  const sent = fields.filter(({ name }) => !set.has(name))
  const names = given.map(([name]) => name).filter((name) => !left.includes(name))
  if (names.length > 0) journal.note({ type: 'note', sentence: sentenceOf('are sent', names) })
  if (left.length > 0)
    journal.note({ type: 'note', sentence: sentenceOf('may not be set and were left out', left) })
  return sent
}

const closedInUri: ReadonlySet<string> = new Set(['body', 'p-asserted-identity', 'p-preferred-identity'])
const maxNameChars = 256

function sentenceOf(what: string, names: readonly string[]): string {
  return `these headers of the SIP URI ${what}: ${names.join(', ').slice(0, maxNameChars)}`
}

/** Demands that each hop to a sips URI is secure, including a named proxy: RFC 3261 §26.2.2. */
function secured(remote: Resolved, uri: string): Resolved {
  const places = [remote, ...(remote.alternatives ?? [])]
  if (hasSips(uri) && !places.every(({ transport }) => transports[transport].isSecure))
    throw new AppError('bad_request', 'to.proxy of a sips URI must be one that is reached over TLS')
  return remote
}

/** Adds lr to the proxy, since without it the Request-URI would have to be rewritten: RFC 3261 §16.12.1.1. */
function toLooseRoute(proxy: string): string {
  const { params, ...uri } = parseProxyUri(proxy, 'to.proxy')
  const transport = params.get('transport')
  const kept = transport === undefined ? [] : ([['transport', transport]] as const)
  return serializeUri({ ...uri, params: new Map([...kept, ['lr', undefined]]) })
}

/** Resolves the URI and checks its addresses. Returns these addresses, because a second look-up could find others. */
export async function guardedPlace(
  uri: string,
  account: Pick<AccountFacts, 'sip_realm'>,
  needs: Pick<OutboundNeeds, 'sip' | 'isAllowedAddress' | 'isAllowedHop' | 'isSipProxy' | 'teams'>,
): Promise<Resolved> {
  const { sip, teams } = needs
  const mayReach = reachableFor(undefined, account, needs)
  demandNoTeams(uri, [], teams)
  const { alternatives = [], ...first } = await sip().resolve(uri)
  const demand = (remote: Remote): void => {
    const { host, port } = localPlaceOf(sip(), remote)
    if (!mayReach(remote)) throw refused()
    if (remote.port === port && [host, sip().listening.address].includes(remote.address)) throw loop()
  }
  for (const place of [first, ...alternatives]) {
    demand(place)
    if (isPhoneOfAnother(await sip().bindings.findReachedAt(place), account)) throw refused()
  }
  demandNoTeams(uri, [first, ...alternatives], teams)
  return alternatives.length === 0 ? first : { ...first, alternatives }
}

/**
 * Throws AppError teams_by_tenant_only for a place of Microsoft Teams. Microsoft identifies a tenant by our Contact and
 * our certificate, which all accounts share, so only a target of type teams, which names the tenant, may lead there.
 */
export function demandNoTeams(uri: string, places: readonly Remote[], teams: TeamsFacts): void {
  const parsed = tryParseUri(uri)
  const isProxy = parsed?.scheme !== 'tel' && teams.proxies.some((one) => isSamePlace(one, parsed))
  if (isProxy || places.some(({ address }) => teams.isAddress(address)))
    throw new AppError('teams_by_tenant_only', 'Microsoft Teams can be called only by a target of type teams')
}

function isSamePlace({ host, port }: TeamsProxy, uri: Pick<SipUri, 'host' | 'port'> | undefined): boolean {
  return uri?.host === host && (uri.port ?? transports.tls.defaultPort) === port
}

function refused(): AppError {
  return new AppError('sip_refused_address', 'the SIP URI leads to an address that may not be called')
}

function loop(): AppError {
  return new AppError('loop_detected', 'the SIP URI leads back into this platform', {
    cure: 'Call a registered phone with a target of type user.',
  })
}
