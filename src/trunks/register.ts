// One round of REGISTER with a carrier: its registrars in turn, until one has accepted or refused.
import type { RegistrationCause } from '../contracts/carrier-registration.ts'
import { AppError } from '../lib/errors.ts'
import { contactAt } from '../sip/contact.ts'
import { redirectTargets } from '../sip/message/redirect.ts'
import { escapeUser, serializeHostPort } from '../sip/message/uri.ts'
import type { OutsideOutcome, Remote, Sip } from '../sip/sip.ts'
import type { SipResponse } from '../sip/message/message.ts'
import { hopOf, isSips, placeOf, reach, uriOf } from './gateway-uri.ts'
import { grantedSeconds, minExpires, retryAfterSeconds } from './registrar-response.ts'
import { askedSeconds } from './registration-pace.ts'
import type { TrunkGateway, TrunkLogin } from './trunks.ts'

/** The parts of the SIP stack that a registration uses. */
export type RegisteringSip = Pick<Sip, 'request' | 'resolve' | 'open' | 'addressFor'>

export interface RegisterWish {
  readonly login: TrunkLogin
  /** The registrars in the order of the tries. If empty, the realm is the registrar. */
  readonly gateways: readonly TrunkGateway[]
  readonly callId: string
  readonly cseq: number
  /** The address in Contact, if the login requires that. */
  readonly publicAddress: string | undefined
}

export type RegisterOutcome = { readonly cseq: number } & (
  | {
      readonly kind: 'registered'
      readonly response: SipResponse
      readonly contact: string
      readonly grantedSeconds: number
      readonly destination: Remote
      readonly gateway: TrunkGateway | undefined
    }
  | {
      readonly kind: 'failed'
      readonly reason: string
      readonly cause: RegistrationCause
      readonly retryAfterSeconds: number | undefined
    }
)

// Enough for four retransmissions over UDP. A registrar that has not responded by then is down, and the next one is
// tried.
const registrarMs = 8_000
const leaveMs = 2_000
const maxTries = 4

interface Registrar {
  readonly gateway: TrunkGateway | undefined
  /** The address for sentences. */
  readonly place: string
  readonly uri: string
  /** The URI that requests go to. */
  readonly hop: string
}

export async function register(wish: RegisterWish, sip: RegisteringSip): Promise<RegisterOutcome> {
  let { cseq } = wish
  let last: RegisterOutcome = failed(
    cseq,
    'no_registrar',
    'the carrier has neither an outbound gateway nor register_sip_realm',
  )
  for (const registrar of registrarsOf(wish)) {
    last = await tryRegistrar(registrar, { ...wish, cseq }, sip)
    ;({ cseq } = last)
    if (last.kind === 'registered' || last.cause === 'refused') return last
  }
  return last
}

/** Removes one Contact. Resolves with the CSeq that was used, whatever the outcome. */
export async function unregister(wish: RegisterWish, contact: string, sip: RegisteringSip): Promise<number> {
  const [registrar] = registrarsOf(wish)
  if (registrar === undefined) return wish.cseq
  try {
    const destination = await reach(registrar.hop, sip)
    const asked = { contact, seconds: 0, limitMs: leaveMs, cseq: wish.cseq }
    return (await send(registrar, destination, wish, asked, sip)).cseq
  } catch (error) {
    if (error instanceof AppError) return wish.cseq
    throw error
  }
}

function registrarsOf({ login, gateways }: RegisterWish): readonly Registrar[] {
  if (gateways.length === 0 && login.realm !== null) {
    return [{ gateway: undefined, place: login.realm, uri: `sip:${login.realm}`, hop: `sip:${login.realm}` }]
  }
  return gateways.map((gateway) => ({
    gateway,
    place: placeOf(gateway),
    uri: uriOf(gateway),
    hop: hopOf(gateway),
  }))
}

async function tryRegistrar(
  registrar: Registrar,
  wish: RegisterWish,
  sip: RegisteringSip,
): Promise<RegisterOutcome> {
  let { cseq } = wish
  let seconds = askedSeconds
  let { hop } = registrar
  const silent = new Set<string>()
  for (let tries = 1; ; tries++) {
    let destination: Remote
    let hasOthers: boolean
    try {
      ;({ destination, hasOthers } = await nextPlace(hop, silent, sip))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return failed(cseq, 'unreachable', `${registrar.place} cannot be reached: ${error.message}`)
    }
    const contact = contactOf(registrar, destination, wish, sip)
    const asked = { contact, seconds, limitMs: registrarMs, cseq }
    const outcome = await send(registrar, destination, wish, asked, sip)
    const { response } = outcome
    ;({ cseq } = outcome)
    if (response.status < 300) {
      const granted = grantedSeconds(response, contact, seconds)
      // The refresh would follow immediately, and so would each one after it.
      if (granted === 0)
        return failed(cseq, 'unavailable', `${registrar.place} accepted the Contact for no time`)
      const { gateway } = registrar
      return { kind: 'registered', cseq, response, contact, grantedSeconds: granted, destination, gateway }
    }
    // RFC 3263 §4.3: the next address of the name is tried.
    if (outcome.isSilent && hasOthers && tries < maxTries) {
      silent.add(textOf(destination))
      continue
    }
    const least = response.status === 423 ? minExpires(response) : undefined
    const [redirect] = redirectTargets(response)
    if (tries === maxTries || (least === undefined && redirect === undefined))
      return toFailure(registrar, outcome)
    // RFC 3261 §10.2.8 and §8.1.3.4.
    if (least !== undefined) seconds = Math.max(least, seconds)
    if (redirect !== undefined) ({ uri: hop } = redirect)
  }
}

/**
 * Returns the next place of the URI that was not silent in this round. Resting places come last, and are tried too, as
 * they may be back.
 */
async function nextPlace(
  hop: string,
  silent: ReadonlySet<string>,
  sip: RegisteringSip,
): Promise<{ readonly destination: Remote; readonly hasOthers: boolean }> {
  const { alternatives = [], ...first } = await sip.resolve(hop)
  const left = [first, ...alternatives].filter((place) => !silent.has(textOf(place)))
  const [destination = first, ...others] = left
  if (destination.name !== undefined) await sip.open(destination)
  return { destination, hasOthers: others.length > 0 }
}

function textOf({ transport, address, port }: Remote): string {
  return `${transport} ${address} ${port}`
}

interface Asked {
  readonly contact: string
  readonly seconds: number
  readonly limitMs: number
  readonly cseq: number
}

function send(
  { place, gateway }: Registrar,
  destination: Remote,
  { login, callId }: RegisterWish,
  { contact, seconds, limitMs, cseq }: Asked,
  sip: RegisteringSip,
): Promise<OutsideOutcome> {
  const { username, password, realm, fromUser, fromDomain } = login
  // RFC 3261 §19.1.1 table 1: From and To have no port.
  const domain = realm ?? serializeHostPort({ host: gateway?.host ?? place })
  const host = fromDomain === null || fromDomain === '' ? domain : fromDomain
  const scheme = gateway !== undefined && isSips(gateway) ? 'sips' : 'sip'
  return sip.request({
    method: 'REGISTER',
    uri: `${scheme}:${realm ?? place}`,
    from: `${scheme}:${escapeUser(fromUser ?? username)}@${host}`,
    to: `${scheme}:${escapeUser(username)}@${domain}`,
    callId,
    cseq,
    headers: [
      { name: 'contact', value: `${contact};expires=${seconds}` },
      { name: 'expires', value: String(seconds) },
      // RFC 3327 §5.1: a proxy may add itself to the path of calls to the platform.
      { name: 'supported', value: 'path' },
    ],
    destination,
    credentials: { username, password },
    limitMs,
  })
}

function contactOf(
  { gateway }: Registrar,
  destination: Remote,
  { login, publicAddress }: RegisterWish,
  sip: RegisteringSip,
): string {
  const place = sip.addressFor(destination)
  const isPublic = login.hasPublicContact && publicAddress !== undefined
  return contactAt(isPublic ? { ...place, host: publicAddress } : place, destination.transport, {
    user: login.username,
    isSips: gateway !== undefined && isSips(gateway),
  })
}

// 408, 480 and 5xx describe the state of the registrar, not the credentials of the client.
function causeOf({ isSilent, response: { status } }: OutsideOutcome): RegistrationCause {
  if (isSilent || status === 408 || status === 480) return 'silent'
  return status >= 500 && status < 600 ? 'unavailable' : 'refused'
}

function toFailure({ place }: Registrar, outcome: OutsideOutcome): RegisterOutcome {
  const { response, cseq, isSilent } = outcome
  const { status, reason } = response
  const isPassword = status === 401 || status === 407
  const said = isSilent ? `no response from ${place}` : `${status} ${reason} from ${place}`
  return {
    kind: 'failed',
    cseq,
    reason: isPassword ? `${said}: register_username or register_password is wrong` : said,
    cause: causeOf(outcome),
    retryAfterSeconds: retryAfterSeconds(response),
  }
}

function failed(cseq: number, cause: RegistrationCause, reason: string): RegisterOutcome {
  return { kind: 'failed', cseq, reason, cause, retryAfterSeconds: undefined }
}
