// The handling of REGISTER, RFC 3261 §10.3: each phone of a user is reached at the source of its REGISTER.
import { isIP } from 'node:net'
import { AppError } from '../../lib/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import { accountRefusal, credentialsRefusal, type Authenticate } from '../auth/authenticator.ts'
import { registrationLimits } from '../limits.ts'
import { cseqOf } from '../message/cseq.ts'
import { splitList } from '../message/list.ts'
import { headerOf, headersOf, type SipRequest } from '../message/message.ts'
import { nameAddrsOf, parseNameAddr } from '../message/name-addr.ts'
import { parseUri, unescapeUri } from '../message/uri.ts'
import { realmOf } from '../message/realm.ts'
import { refusal, unknownRealm } from '../refusal.ts'
import type { Binding, BindingStore } from './binding-store.ts'
import type { Reply } from '../message/reply.ts'
import type { SipDirectory, SipUser } from '../auth/directory.ts'
import { isSamePhone, isWithoutNat } from './binding.ts'
import { withinBounds } from './expires.ts'
import { readContacts, type ContactWish, type PhoneWish, isSaneValue } from './contact-wish.ts'
import { createRefusalLog } from './refusal-log.ts'
import { keepAliveSeconds, registered, unregistered } from './registered.ts'
import { isReliable, type Remote } from '../transport/transports.ts'

export interface RegistrarOptions {
  readonly authenticate: Authenticate
  readonly bindings: BindingStore
  readonly directory: Pick<SipDirectory, 'realmState' | 'findUser' | 'judgeOf' | 'admitDevice'>
  readonly clock: Clock
  readonly log: Pick<Logger, 'info'>
}

export type Register = (request: SipRequest, remote: Remote) => Promise<Reply>

export function createRegistrar(options: RegistrarOptions): Register {
  const noteRefusal = createRefusalLog(options)
  return async (request, remote) => {
    const reply = await register(request, remote, options).catch(toReply)
    noteRefusal(request, remote, reply)
    return reply
  }
}

function toReply(error: unknown): Reply {
  if (!(error instanceof AppError)) throw error
  if (error.code === 'bad_request') return { ...refusal(error.code, error.message), isUnproven: true }
  return error.code === 'overloaded' ? overloaded(error.message) : refusal(error.code, error.message)
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
  const wish = readContacts(request)

  const standing = await bindings.get(aor)
  const kept = standing.find((binding) => isKeepAlive(wish, binding, { request, remote, now: clock.now() }))
  const isKept = kept !== undefined && (await mayStay({ realm, username }, options.directory))
  if (isKept) {
    bindings.touch(kept)
    return registered({ bound: standing, own: [kept], request, seconds: keepAliveSeconds, now: clock.now() })
  }
  // The phone has lost the right to its bindings, and another node has removed those that it had. This node removes
  // its own too, and then challenges or refuses the phone, as that node would.
  if (kept !== undefined) for (const { key } of standing) await bindings.remove(aor, key)

  const authentication = await authenticate(request, remote)
  if (authentication.verdict !== 'accepted') return authentication.reply
  // RFC 3261 §10.3 step 4: the right password of one user must not move another user's calls.
  if (authentication.user.username !== username) {
    return refusal('not_permitted', 'These credentials are not for this address of record')
  }
  // Read again, since a later REGISTER may have overtaken this one meanwhile.
  const bound = await bindings.get(aor)
  return change({ aor, user: authentication.user, wish, bound, request, remote }, options)
}

interface ChangeInput {
  readonly aor: string
  readonly user: SipUser
  readonly wish: ContactWish
  readonly bound: readonly Binding[]
  readonly request: SipRequest
  readonly remote: Remote
}

async function change(input: ChangeInput, options: RegistrarOptions): Promise<Reply> {
  const { bindings, clock } = options
  const { aor, wish, bound, request } = input
  const now = clock.now()
  if (wish.kind === 'query') return registered({ bound, own: [], request, now })
  const callId = headerOf(request, 'call-id') ?? ''
  const cseq = cseqOf(request).sequence
  // A delayed older request must not undo a newer one: RFC 3261 §10.3 step 7.
  const toWanted = (phone: PhoneWish): Binding => toBinding(phone, input, now)
  const isAffected = (there: Binding): boolean =>
    wish.kind === 'remove-all' || wish.phones.some((phone) => isSamePhone(there, toWanted(phone)))
  if (bound.some((there) => there.callId === callId && cseq <= there.cseq && isAffected(there))) {
    return refusal('sip_out_of_order', 'A later REGISTER of this Call-ID was handled already', {
      status: 500,
    })
  }
  if (wish.kind === 'remove-all') {
    await bindings.remove(aor)
    return unregistered()
  }
  const tooBrief = wish.phones.find(({ tooBriefFor }) => tooBriefFor !== undefined)?.tooBriefFor
  if (tooBrief !== undefined) {
    const minimum = String(tooBrief)
    const headers = [{ name: 'min-expires', value: minimum }]
    return refusal('bad_request', `Register for ${minimum} seconds or more`, { status: 423, headers })
  }
  const unwanted = wish.phones.filter(({ seconds }) => seconds === 0).map(toWanted)
  for (const there of bound)
    if (unwanted.some((binding) => isSamePhone(there, binding))) await bindings.remove(aor, there.key)
  const wanted = wish.phones.filter(({ seconds }) => seconds > 0).map(toWanted)
  const refused = (await bindAll(wanted, input, options)) ?? (await confirm(wanted, input.user, options))
  if (refused !== undefined) return refused
  const left = await bindings.get(aor)
  if (left.length === 0) return unregistered()
  return registered({ bound: left, own: wanted, request, now, isRemoval: wanted.length === 0 })
}

/** Binds all phones. If one is refused, returns its refusal, and the bindings are as before: RFC 3261 §10.3 step 7. */
async function bindAll(
  wanted: readonly Binding[],
  input: ChangeInput,
  options: RegistrarOptions,
): Promise<Reply | undefined> {
  try {
    for (const binding of wanted) {
      const refused = await bind(binding, input, options)
      if (refused === undefined) continue
      await restore(wanted, input, options)
      return refused
    }
    return undefined
  } catch (error) {
    await restore(wanted, input, options)
    throw error
  }
}

/** Leaves alone what a later REGISTER has bound meanwhile. */
async function restore(
  wanted: readonly Binding[],
  { aor, bound }: ChangeInput,
  { bindings }: RegistrarOptions,
): Promise<void> {
  for (const binding of wanted) await withdraw(binding, bindings)
  for (const before of bound.toReversed()) {
    const there = await bindings.get(aor)
    if (!there.some((binding) => isSamePhone(binding, before))) await bindings.put(before)
  }
}

/** Returns the refusal; undefined when the phone is bound. */
async function bind(
  binding: Binding,
  { user, bound }: ChangeInput,
  options: RegistrarOptions,
): Promise<Reply | undefined> {
  const { bindings, directory } = options
  const put = (): Promise<void> => bindings.put(binding)
  const isKnown = bound.some((there) => isSamePhone(there, binding))
  if (isKnown || directory.admitDevice === undefined) await put()
  else {
    const { username, realm } = user
    const refused = await directory.admitDevice({ username, realm, key: binding.key }, put)
    if (refused !== undefined) return { ...refusal('device_limit', refused), reason: refused }
  }
  return undefined
}

function toBinding({ uri, seconds, key, instance, q }: PhoneWish, input: ChangeInput, now: number): Binding {
  const { aor, request, remote, user } = input
  const lastsSeconds = user.judged?.seconds === undefined ? seconds : withinBounds(user.judged.seconds)
  return {
    aor,
    key,
    contact: uri,
    instance,
    q,
    expiresAt: now + lastsSeconds * 1000,
    registeredAt: now,
    remote,
    path: readPath(request),
    callId: headerOf(request, 'call-id') ?? '',
    cseq: cseqOf(request).sequence,
    userAgent: headerOf(request, 'user-agent')?.slice(0, registrationLimits.maxContactChars),
  }
}

/**
 * Withdraws bindings if their user has lost the right to them since authentication. A right is taken away in two steps:
 * the directory changes, then the bindings are removed. A binding made before the second step is removed by that step;
 * one made after it is found here.
 */
async function confirm(
  made: readonly Binding[],
  user: SipUser,
  { bindings, directory }: RegistrarOptions,
): Promise<Reply | undefined> {
  if (made.length === 0) return undefined
  let isConfirmed = false
  try {
    const refused = await refusalOf(user, directory)
    isConfirmed = refused === undefined
    return refused
  } finally {
    if (!isConfirmed) for (const binding of made) await withdraw(binding, bindings)
  }
}

async function withdraw(binding: Binding, bindings: BindingStore): Promise<void> {
  const { aor, key, callId, cseq } = binding
  const bound = (await bindings.get(aor)).find((there) => there.key === key)
  // The binding may be another by now: of another owner of the realm, or of the same phone with a new password.
  if (bound?.callId === callId && bound.cseq === cseq) await bindings.remove(aor, key)
}

/** Returns the refusal of a user who authenticated a moment ago; undefined while nothing has changed. */
async function refusalOf(
  { realm, username, password, judged }: SipUser,
  directory: RegistrarOptions['directory'],
): Promise<Reply | undefined> {
  const state = await directory.realmState(realm)
  if (state === 'unknown') return refuseRealm()
  if (state === 'inactive') return accountRefusal('REGISTER')
  // The judge of the realm accepted this user a moment ago. The directory has no such user.
  if (judged !== undefined) return undefined
  const user = await directory.findUser(realm, username)
  return user?.password === password ? undefined : credentialsRefusal()
}

/**
 * Reports whether a user who registered before may still do so, as far as that is possible without the password:
 * another node may have taken the right away, which does not change the bindings in this node's memory.
 */
async function mayStay(
  { realm, username }: Pick<SipUser, 'realm' | 'username'>,
  directory: RegistrarOptions['directory'],
): Promise<boolean> {
  try {
    if ((await directory.realmState(realm)) !== 'active') return false
    if ((await directory.judgeOf?.(realm)) !== undefined) return true
    return (await directory.findUser(realm, username)) !== undefined
  } catch {
    // Without a result nothing is taken away: a database that is unavailable for a while unregisters no phone.
    return true
  }
}

/**
 * Returns the Path. It becomes the Route set towards the phone, so every element must be a URI that we can send to:
 * RFC 3327 §5.3.
 */
function readPath(request: SipRequest): string[] {
  const isUsable = nameAddrsOf(request, 'path').every(({ uri }) => parseUri(uri).scheme !== 'tel')
  const path = pathOf(request)
  if (!isUsable || !isSaneValue(path.join(','), registrationLimits.maxPathChars)) {
    throw new AppError('bad_request', 'Path is not a list of SIP URIs of a reasonable length')
  }
  return path
}

function pathOf(request: SipRequest): string[] {
  return headersOf(request, 'path').flatMap(splitList)
}

/** Reports whether a REGISTER only keeps the NAT open. It changes nothing, so it needs no challenge. */
function isKeepAlive(
  wish: ContactWish,
  current: Binding,
  { request, remote, now }: { readonly request: SipRequest; readonly remote: Remote; readonly now: number },
): boolean {
  const phone = wish.kind === 'phones' && wish.phones.length === 1 ? wish.phones[0] : undefined
  return (
    !isReliable(remote) &&
    !isWithoutNat(current, request) &&
    current.remote.transport === remote.transport &&
    current.remote.address === remote.address &&
    current.remote.port === remote.port &&
    current.expiresAt - now > keepAliveSeconds * 1000 &&
    phone !== undefined &&
    phone.seconds > 0 &&
    phone.uri === current.contact &&
    // Behind a proxy, the Path contains the address that NAT gives the phone.
    pathOf(request).join() === current.path.join() &&
    phone.instance === current.instance
  )
}

function refuseRealm(): Reply {
  return { ...refusal('unknown_realm', unknownRealm, { status: 403 }), isUnproven: true }
}

function overloaded(sentence: string): Reply {
  return refusal('overloaded', sentence, { headers: [{ name: 'retry-after', value: '30' }] })
}
