// The registration hook of an account, or of its service provider: an application that checks the credentials of a
// REGISTER or an INVITE, instead of the stored clients.
import { hash } from 'node:crypto'
import { toHeaderFields } from '../calls/application/app-headers.ts'
import type { Hook, Hooks } from '../contracts/hook.ts'
import { actingFor } from '../lib/acting-for.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { hookAlertType, type Alerts } from '../contracts/alert.ts'
import { isSid } from '../lib/ids.ts'
import { memberOf, textOf } from '../lib/members.ts'
import type { SipRequest } from '../sip/message/message.ts'
import { serializeHostPort } from '../sip/message/uri.ts'
import { refusal } from '../sip/refusal.ts'
import { secondsWanted } from '../sip/registrar/contact-wish.ts'
import type { DigestQuestion, Judgement, Reply, SipDirectory } from '../sip/sip.ts'

export interface RegistrationHookOptions {
  /** Returns the hook that decides for a realm, if any. */
  readonly hookOf: (realm: string) => Promise<RealmHook | undefined>
  readonly hooks: Hooks
  readonly alerts: Alerts
  readonly clock: Clock
}

export interface RealmHook {
  readonly account_sid: string
  readonly hook: Hook
}

// A retransmitted request, over UDP up to 32 seconds later (RFC 3261 §17.1.2.2), gets the same answer.
const rememberedMs = 32_000
const maxRemembered = 10_000
// A hook that hangs delays its own realm only, and a user has a few guesses.
const maxPerRealm = 100
const maxPerUser = 3
const maxHeaders = 64
const maxHeaderLength = 2048

type JudgeOf = NonNullable<SipDirectory['judgeOf']>

export function createRegistrationHook(options: RegistrationHookOptions): JudgeOf {
  const { hookOf, clock } = options
  const inFlight = createCounts()
  const answers = new Map<string, { readonly at: number; readonly judgement: Promise<Judgement> }>()

  const forgetOld = (): void => {
    for (const [key, { at }] of answers) {
      if (clock.monotonic() - at <= rememberedMs && answers.size <= maxRemembered) return
      answers.delete(key)
    }
  }

  const judgeBy = async (found: RealmHook, question: DigestQuestion): Promise<Judgement> => {
    const { realm, username } = question.credentials
    const key = keyOf(question)
    forgetOld()
    const known = answers.get(key)
    if (known !== undefined) return known.judgement
    const bounds = [
      { name: realm, max: maxPerRealm },
      { name: `${realm} ${username}`, max: maxPerUser },
    ]
    if (!inFlight.enter(bounds))
      return failed(
        new AppError('overloaded', 'Too many registrations are waiting for the registration hook'),
      )
    const judgement = ask(found, question, options).finally(() => inFlight.leave(bounds))
    answers.set(key, { at: clock.monotonic(), judgement })
    const { verdict } = await judgement
    // A failed hook is asked again for the next request, as it may have recovered.
    if (verdict === 'refused') answers.delete(key)
    return judgement
  }

  return async (realm) => {
    const found = await hookOf(realm)
    return found === undefined ? undefined : (question) => judgeBy(found, question)
  }
}

interface Bound {
  readonly name: string
  readonly max: number
}

function createCounts() {
  const counts = new Map<string, number>()
  const add = (name: string, more: 1 | -1): void => {
    const count = (counts.get(name) ?? 0) + more
    if (count === 0) counts.delete(name)
    else counts.set(name, count)
  }
  return {
    enter(bounds: readonly Bound[]): boolean {
      if (bounds.some(({ name, max }) => (counts.get(name) ?? 0) >= max)) return false
      for (const { name } of bounds) add(name, 1)
      return true
    },
    leave(bounds: readonly Bound[]): void {
      for (const { name } of bounds) add(name, -1)
    },
  }
}

/** Returns the credentials and their source, which no other request has. */
function keyOf({ request, remote, credentials }: DigestQuestion): string {
  return hash('sha256', JSON.stringify([request.method, remote.address, credentials]))
}

async function ask(
  { account_sid, hook }: RealmHook,
  question: DigestQuestion,
  { hooks, alerts }: RegistrationHookOptions,
): Promise<Judgement> {
  try {
    const payload = toPayload(question, hook)
    const { body } = await actingFor(account_sid, () => hooks.ask({ account_sid, hook, payload }))
    return judge(body, question)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const status = memberOf(error.detail, 'status')
    alerts.raise({
      account_sid,
      alert_type: hookAlertType({
        code: error.code,
        ...(typeof status === 'number' ? { status } : {}),
      }),
      message: `registration hook: ${error.message}`,
    })
    return typeof status === 'number' && isRefusal(status) ? refusedByStatus(error, status) : failed(error)
  }
}

/** The statuses that ask the platform to come again. */
const temporary: ReadonlySet<number> = new Set([408, 425, 429])

/** Reports whether an application refuses by its HTTP status, instead of with JSON. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && !temporary.has(status)
}

function refusedByStatus({ code, message }: AppError, status: number): Judgement {
  // 401 may mean that the hook did not accept the platform itself, so that it does not count as a guess.
  if (status === 403) return refused(refusal('wrong_credentials', 'Invalid credentials'), undefined)
  // The response carries no challenge.
  const told = status === 401 || status === 407 ? 403 : status
  return { verdict: 'refused', code, reply: refusal(code, message, { status: told }), isGuess: false }
}

/** Returns the digest as the phone wrote it, its source address and, for a POST, its headers. */
function toPayload({ request, remote, credentials }: DigestQuestion, { method }: Hook): object {
  const { username, realm, nonce, uri, response, algorithm, qop } = credentials
  return {
    method: request.method,
    realm,
    username,
    scheme: 'digest',
    nonce,
    uri,
    response,
    algorithm,
    ...(qop === undefined ? {} : { qop: 'auth', nc: qop.nc, cnonce: qop.cnonce }),
    expires: secondsWanted(request) ?? null,
    source_address: remote.address,
    source_port: remote.port,
    ...(method === 'POST' ? { headers: toHeaders(request) } : {}),
  }
}

/** Leaves out the credentials, which the payload has already. */
function toHeaders({ headers }: SipRequest): Readonly<Record<string, string>> {
  const shown = headers.filter(({ name }) => name !== 'authorization' && name !== 'proxy-authorization')
  return Object.fromEntries(
    shown.slice(0, maxHeaders).map(({ name, value }) => [name, value.slice(0, maxHeaderLength)]),
  )
}

function judge(body: unknown, { remote }: DigestQuestion): Judgement {
  const status = textOf(body, 'status')
  if (status === undefined)
    throw new AppError('hook_invalid_payload', 'the registration hook answered without a status', {
      cure: 'Answer 200 with JSON such as {"status": "ok"}; any other status refuses.',
    })
  if (memberOf(body, 'blacklist') === true) {
    const place = serializeHostPort({ host: remote.address, port: remote.port })
    return refused(refusal('not_permitted', `detected potential spammer from ${place}`), body)
  }
  if (status.toLowerCase() !== 'ok')
    return refused(refusal('wrong_credentials', textOf(body, 'msg') ?? 'Invalid credentials'), body)
  const seconds = memberOf(body, 'expires')
  const destination = textOf(body, 'application_sid')?.toLowerCase()
  return {
    verdict: 'accepted',
    ...(typeof seconds === 'number' && Number.isSafeInteger(seconds) && seconds > 0 ? { seconds } : {}),
    ...(destination !== undefined && isSid(destination) ? { destination } : {}),
  }
}

function refused(reply: Reply, body: unknown): Judgement {
  const given = memberOf(body, 'headers')
  const isObject = typeof given === 'object' && given !== null
  const { fields } = toHeaderFields(isObject ? (given as Readonly<Record<string, unknown>>) : undefined)
  const headers = [...(reply.headers ?? []), ...fields.filter(({ name }) => name !== 'x-reason')]
  return {
    verdict: 'refused',
    code: 'wrong_credentials',
    reply: { ...reply, status: 403, headers },
    isGuess: true,
  }
}

/**
 * Lets registered phones stay registered and try again soon: a hook that is down must not take an office off the air.
 */
function failed({ code, message }: AppError): Judgement {
  const headers = [{ name: 'retry-after', value: '10' }]
  return {
    verdict: 'refused',
    code,
    reply: refusal(code, message, { status: 503, headers }),
    isGuess: false,
  }
}
