// The call that an INVITE asks for, read in one place: who calls, who is called, where it comes from, and whether it is a
// recording session.
// Identification, routing and a dry run take this in place of the message.
import { sdpOf } from '../../sip/message/body.ts'
import { splitList } from '../../sip/message/list.ts'
import { headerOf, headersOf, type SipRequest } from '../../sip/message/message.ts'
import { parseNameAddr, type NameAddr } from '../../sip/message/name-addr.ts'
import { realmOf } from '../../sip/message/realm.ts'
import { requires } from '../../sip/message/session-expires.ts'
import { telephoneNumber, telephoneUser, tryParseUri, unescapeUri } from '../../sip/message/uri.ts'
import type { IncomingInvite } from '../../sip/sip.ts'
import { forwardedSource } from '../../sip/transport/forwarded-source.ts'
import { transports } from '../../sip/transport/transports.ts'
import { isRecordingSession } from './recorded-parties.ts'

export interface Parties {
  /** The user of From, a leading + kept. */
  readonly from: string
  /** The result of `calledParty`. */
  readonly to: string
  readonly caller_name: string
  /** The number of P-Asserted-Identity if the sender is trusted, else that of From. */
  readonly calling_number: string
}

export interface Trust {
  /** The sender is within our trust domain (RFC 3325 §4): a carrier, which vouches for what it asserts. */
  readonly believesAsserted: boolean
  /** The user that the platform is registered as with the sender. */
  readonly registeredAs?: string | undefined
}

/** The proxies of the operator. */
export interface Proxies {
  readonly isSipProxy: (address: string) => boolean
}

const anonymous = 'anonymous'

export class Asked {
  readonly #request: SipRequest
  readonly #remote: IncomingInvite['remote']
  /** The address that the call comes from: the one that the operator's proxy names, if there is one. */
  readonly source: string
  #caller: NameAddr | 'none' | undefined

  constructor({ request, remote }: Pick<IncomingInvite, 'request' | 'remote'>, { isSipProxy }: Proxies) {
    this.#request = request
    this.#remote = remote
    this.source = forwardedSource(request, remote.address, isSipProxy)
  }

  /** Whether far ends open connections of this transport to us as carriers do. Any web page may open a WebSocket. */
  get isFromServer(): boolean {
    return transports[this.#remote.transport].isOpenedHere
  }

  /** Whether TLS shows that the far end is at its address. A datagram may claim any address. */
  get isProvenAddress(): boolean {
    return transports[this.#remote.transport].isSecure && this.isFromServer
  }

  /** Whether it has credentials, so that it is no first try. */
  get hasCredentials(): boolean {
    return headerOf(this.#request, 'authorization') !== undefined
  }

  /** Whether a recording client sends the streams of a call that is up elsewhere (RFC 7866). */
  get isRecording(): boolean {
    return isRecordingSession(this.#request)
  }

  /** Whether it must be served as a recording session, or be refused. */
  get demandsRecording(): boolean {
    return requires(this.#request, 'siprec')
  }

  /** Whether the SDP offers keys, or there is none yet. */
  get mayBeEncrypted(): boolean {
    const offer = sdpOf(this.#request)
    return offer === undefined || /^a=crypto:/m.test(offer)
  }

  /** The domain that the caller is known by: `realmOf`. */
  get realm(): string | undefined {
    return realmOf(this.#request)
  }

  /** The application that it names in X-Application-Sid. */
  get named_application_sid(): string | undefined {
    return headerOf(this.#request, 'x-application-sid')
  }

  /** The values of Identity (RFC 8224). */
  get identities(): readonly string[] {
    return headersOf(this.#request, 'identity')
  }

  /** The user of To, which Identity signs; an empty text if there is none. */
  get signedUser(): string {
    return numberIn(headerOf(this.#request, 'to'))
  }

  /** The user part of the Request-URI, or the number of a tel URI. */
  get calledUser(): string {
    return userOf(this.#request.uri)
  }

  /** The host of the Request-URI in lower case, the realm that a carrier calls. Undefined for a tel URI. */
  get calledHost(): string | undefined {
    return hostOf(this.#request.uri)
  }

  /** The host of From in lower case. */
  get callerHost(): string | undefined {
    return hostOf(this.#from?.uri ?? '')
  }

  get #from(): NameAddr | undefined {
    this.#caller ??= addressOf(headerOf(this.#request, 'from')) ?? 'none'
    return this.#caller === 'none' ? undefined : this.#caller
  }

  /**
   * Returns the user part of the Request-URI. A registrar sends calls to the platform's Contact, whose user is the same
   * for each number; the called number is then in P-Called-Party-ID (RFC 7315 §4.2) or, without one, in To.
   */
  calledParty(isOurContact: (user: string) => boolean): string {
    const user = this.calledUser
    if (!isOurContact(user)) return user
    const named = [headerOf(this.#request, 'p-called-party-id'), headerOf(this.#request, 'to')]
    for (const value of named) {
      const called = numberIn(value)
      if (called !== '') return called
    }
    return user
  }

  parties({ believesAsserted, registeredAs }: Trust): Parties {
    const caller = this.#from
    const asserted = believesAsserted
      ? headersOf(this.#request, 'p-asserted-identity').flatMap(splitList)[0]
      : undefined
    const from = userOf(caller?.uri)
    return {
      from,
      to: this.calledParty((user) => user === registeredAs),
      caller_name: caller?.displayName ?? '',
      calling_number: asserted === undefined ? from : userOf(addressOf(asserted)?.uri, from),
    }
  }
}

function hostOf(text: string): string | undefined {
  const uri = tryParseUri(text)
  return uri === undefined || uri.scheme === 'tel' ? undefined : uri.host
}

/** Returns the user part of the address in a header field, or an empty text if there is none. */
export function numberIn(value: string | undefined): string {
  return userOf(addressOf(value)?.uri, '')
}

function addressOf(value: string | undefined): NameAddr | undefined {
  if (value === undefined) return undefined
  try {
    return parseNameAddr(value)
  } catch {
    return undefined
  }
}

/**
 * Returns the user of a URI. That of a telephone number is without the parameters of RFC 3966 §3 and RFC 4904, which
 * are no part of it; the journal has the request as it came.
 */
function userOf(text: string | undefined, fallback = anonymous): string {
  const uri = text === undefined ? undefined : tryParseUri(text)
  if (uri === undefined) return fallback
  const user =
    uri.scheme === 'tel'
      ? telephoneNumber(uri.number, uri.params.get('phone-context'))
      : withoutParameters(unescapeUri(uri.user ?? ''))
  return user === '' ? fallback : user
}

function withoutParameters(user: string): string {
  return (user.includes(';') ? telephoneUser(user) : undefined) ?? user
}
