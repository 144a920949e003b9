// REGISTER, RFC 3261 §10.3: one contact per address of record, reached where its REGISTER came from.
import { isIP } from 'node:net'
import { AppError } from '../../lib/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { accountRefusal, credentialsRefusal } from '../authenticator.ts'
import type { Authenticate } from '../authenticator.ts'
import { cseqOf } from '../message/cseq.ts'
import { splitList } from '../message/list.ts'
import { headerOf, headersOf } from '../message/message.ts'
import type { HeaderField, SipRequest } from '../message/message.ts'
import { nameAddrsOf, parseNameAddr } from '../message/name-addr.ts'
import { parseUri, unescapeUri } from '../message/uri.ts'
import { realmOf } from '../realm.ts'
import { refusal } from '../refusal.ts'
import type { Binding, BindingStore, Remote, Reply, SipDirectory, SipUser } from '../sip.ts'
import { grantExpires, parseDeltaSeconds } from './expires.ts'

export interface RegistrarOptions {
  readonly authenticate: Authenticate
  readonly bindings: BindingStore
  readonly directory: Pick<SipDirectory, 'realmState' | 'findUser' | 'admitDevice'>
  readonly clock: Clock
}

export type Register = (request: SipRequest, remote: Remote) => Promise<Reply>

// User agents on UDP come back this often, which keeps the hole in their NAT open.
const keepAliveSeconds = 30
// A Contact, or all of Path, longer than this is no address a phone has.
const longestContact = 512
const longestPath = 2048

export function createRegistrar(options: RegistrarOptions): Register {
  return async (request, remote) => {
    try {
      return await register(request, remote, options)
    } catch (error) {
      if (error instanceof AppError && error.code === 'bad_request')
        return { ...refusal(error.code, error.message), isUnproven: true }
      if (error instanceof AppError && error.code === 'overloaded') return overloaded(error.message)
      throw error
    }
  }
}

async function register(request: SipRequest, remote: Remote, options: RegistrarOptions): Promise<Reply> {
  const { authenticate, bindings, clock } = options
  const target = parseUri(request.uri)
  const to = parseUri(parseNameAddr(headerOf(request, 'to') ?? '').uri)
  const realm = realmOf(request)
  if (target.scheme === 'tel' || realm === undefined || isIP(realm) !== 0) return refuseRealm()
  if (to.scheme === 'tel' || to.user === undefined || to.host !== realm) return refuseRealm()
  const username = unescapeUri(to.user)
  const aor = `${username}@${realm}`
  const wish = readContact(request)

  const current = await bindings.get(aor)
  if (current !== undefined && isKeepAlive(wish, current, remote, clock.now())) {
    return registered(current, keepAliveSeconds, request)
  }

  const authentication = await authenticate(request, remote)
  if (authentication.verdict !== 'accepted') return authentication.reply
  // RFC 3261 §10.3 step 4: the right password of one user moves no other user's calls.
  if (authentication.user.username !== username) {
    return refusal('not_permitted', 'These credentials are not for this address of record')
  }
  return bind({ aor, user: authentication.user, wish, current, request, remote }, options)
}

interface BindInput {
  readonly aor: string
  readonly user: SipUser
  readonly wish: ContactWish
  readonly current: Binding | undefined
  readonly request: SipRequest
  readonly remote: Remote
}

async function bind(input: BindInput, options: RegistrarOptions): Promise<Reply> {
  const { bindings, directory, clock } = options
  const { aor, user, wish, current, request, remote } = input
  if (wish.kind === 'query') {
    if (current === undefined) return { status: 200 }
    return registered(current, Math.ceil((current.expiresAt - clock.now()) / 1000), request)
  }
  const callId = headerOf(request, 'call-id') ?? ''
  const cseq = cseqOf(request).sequence
  // An older request that was overtaken must not undo a newer one: RFC 3261 §10.3 step 7.
  if (current?.callId === callId && cseq <= current.cseq) {
    return refusal('internal', 'A later REGISTER of this Call-ID was handled already', { status: 500 })
  }
  if (wish.kind === 'remove-all' || wish.seconds === 0) {
    await bindings.remove(aor)
    return { status: 200, headers: [{ name: 'expires', value: '0' }] }
  }
  if (wish.tooBriefFor !== undefined) {
    const minimum = String(wish.tooBriefFor)
    const headers = [{ name: 'min-expires', value: minimum }]
    return refusal('bad_request', `Register for ${minimum} seconds or more`, { status: 423, headers })
  }
  const binding: Binding = {
    aor,
    contact: wish.uri,
    expiresAt: clock.now() + wish.seconds * 1000,
    remote,
    path: readPath(request),
    callId,
    cseq,
    userAgent: headerOf(request, 'user-agent')?.slice(0, longestContact),
  }
  const put = (): Promise<void> => bindings.put(binding)
  if (current !== undefined || directory.admitDevice === undefined) await put()
  else {
    const refused = await directory.admitDevice(user, put)
    if (refused !== undefined) return { ...refusal('device_limit', refused), reason: refused }
  }
  const revoked = await confirm(binding, user, options)
  if (revoked !== undefined) return revoked
  // Deviation from RFC 3261 §10.3 step 8: on UDP the answer is shorter than the binding, to keep NAT open.
  const answered = remote.transport === 'udp' ? Math.min(keepAliveSeconds, wish.seconds) : wish.seconds
  return registered(binding, answered, request)
}

/**
 * Withdraws a binding when its user has lost the right to it since authentication. Whoever takes the right away changes
 * what the directory says first, and removes the bindings then: a binding made before that is found there, one made after
 * it is found here.
 */
async function confirm(
  binding: Binding,
  user: SipUser,
  { bindings, directory }: RegistrarOptions,
): Promise<Reply | undefined> {
  let isConfirmed = false
  try {
    const refused = await refusalOf(user, directory)
    isConfirmed = refused === undefined
    return refused
  } finally {
    if (!isConfirmed) await withdraw(binding, bindings)
  }
}

async function withdraw({ aor, callId, cseq }: Binding, bindings: BindingStore): Promise<void> {
  const bound = await bindings.get(aor)
  // Another owner of the realm may have a phone there already, or the same phone may have come with a new password.
  if (bound?.callId === callId && bound.cseq === cseq) await bindings.remove(aor)
}

/** What a user is answered who has authenticated a moment ago; undefined while nothing has changed. */
async function refusalOf(
  { realm, username, password }: SipUser,
  directory: RegistrarOptions['directory'],
): Promise<Reply | undefined> {
  const state = await directory.realmState(realm)
  if (state === 'unknown') return refuseRealm()
  if (state === 'inactive') return accountRefusal('REGISTER')
  const user = await directory.findUser(realm, username)
  return user?.password === password ? undefined : credentialsRefusal()
}

type ContactWish =
  | { readonly kind: 'query' }
  | { readonly kind: 'remove-all' }
  | {
      readonly kind: 'contact'
      readonly uri: string
      readonly seconds: number
      /** Set when less was asked than is granted: the least there is. */
      readonly tooBriefFor: number | undefined
    }

function readContact(request: SipRequest): ContactWish {
  const contacts = headersOf(request, 'contact').flatMap(splitList)
  const expires = headerOf(request, 'expires')
  const first = contacts[0]
  if (first === undefined) return { kind: 'query' }
  if (contacts.includes('*')) {
    // RFC 3261 §10.3 step 6.
    if (contacts.length > 1 || parseDeltaSeconds(expires) !== 0) {
      throw new AppError('bad_request', 'Contact "*" stands alone and with Expires: 0')
    }
    return { kind: 'remove-all' }
  }
  const { uri, params } = parseNameAddr(first)
  if (parseUri(uri).scheme === 'tel' || !isSaneValue(uri, longestContact)) {
    throw new AppError('bad_request', 'Contact is not a SIP URI of a reasonable length')
  }
  const granted = grantExpires(params.get('expires'), expires)
  return granted.kind === 'granted'
    ? { kind: 'contact', uri, seconds: granted.seconds, tooBriefFor: undefined }
    : { kind: 'contact', uri, seconds: granted.minSeconds, tooBriefFor: granted.minSeconds }
}

/** Later this is the Route set towards the phone, so every element must be a URI we could send to: RFC 3327 §5.3. */
function readPath(request: SipRequest): string[] {
  const isUsable = nameAddrsOf(request, 'path').every(({ uri }) => parseUri(uri).scheme !== 'tel')
  const path = headersOf(request, 'path').flatMap(splitList)
  if (!isUsable || !isSaneValue(path.join(','), longestPath)) {
    throw new AppError('bad_request', 'Path is not a list of SIP URIs of a reasonable length')
  }
  return path
}

function isSaneValue(text: string, longest: number): boolean {
  return text.length <= longest && !/\p{Cc}/u.test(text)
}

/** A REGISTER that only keeps the NAT open changes nothing, so it is answered without a challenge. */
function isKeepAlive(wish: ContactWish, current: Binding, remote: Remote, now: number): boolean {
  return (
    remote.transport === 'udp' &&
    current.remote.transport === 'udp' &&
    current.remote.address === remote.address &&
    current.remote.port === remote.port &&
    current.expiresAt - now > keepAliveSeconds * 1000 &&
    wish.kind === 'contact' &&
    wish.seconds > 0 &&
    wish.uri === current.contact
  )
}

function registered(binding: Binding, seconds: number, request: SipRequest): Reply {
  const headers: HeaderField[] = [
    { name: 'contact', value: `<${binding.contact}>;expires=${seconds}` },
    { name: 'expires', value: String(seconds) },
  ]
  const supported = headersOf(request, 'supported').flatMap(splitList)
  if (supported.includes('path')) {
    for (const value of binding.path) headers.push({ name: 'path', value })
  }
  return { status: 200, headers }
}

function refuseRealm(): Reply {
  return { ...refusal('unknown_realm', 'Unknown or invalid realm', { status: 403 }), isUnproven: true }
}

function overloaded(sentence: string): Reply {
  return refusal('overloaded', sentence, { headers: [{ name: 'retry-after', value: '30' }] })
}
