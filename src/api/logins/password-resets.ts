// Links for users who forgot their password: made, mailed, and exchanged once for a session and once for a new
// password, within an hour.
import { createHash } from 'node:crypto'
import { systemTenancy } from '../../contracts/caller.ts'
import { sleep, type Clock, type Timer } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { randomToken } from '../../lib/ids.ts'
import type { Part } from '../../lib/lifecycle.ts'
import type { Logger } from '../../lib/log.ts'
import type { Mailer } from '../../outgoing/mail.ts'
import { createTokenBuckets } from '../../lib/bounds/token-buckets.ts'
import type { Repositories, Row } from '../../storage/storage.ts'
import type { ApiStorage, PasswordResets } from '../services.ts'
import { usersByEmail } from './find-users.ts'

export const linkLifetimeMs = 3_600_000
const linkBytes = 32
// Limits the mails that strangers can have sent to a mailbox.
const perMailbox = { capacity: 3, refillMs: 3_600_000 }
const maxWaiting = 100

const minuteMs = 60_000
/**
 * The waits between mails that failed; after the last one the request is dropped. The first outlasts a slow mail
 * server.
 */
const retryDelaysMs = [2 * minuteMs, 5 * minuteMs, 15 * minuteMs, 30 * minuteMs]
const stopGraceMs = 5000
/** The interval of the search for mails left by a node that was stopped for good. */
const othersEveryMs = 5 * minuteMs

export interface PasswordResetOptions {
  readonly storage: Pick<ApiStorage, 'for' | 'transaction' | 'isShared'>
  readonly mail: Mailer
  /** Returns the base of the link. */
  readonly portalUrl: () => string
  readonly clock: Clock
  readonly log: Logger
}

export function createPasswordResets(options: PasswordResetOptions): PasswordResets & Part {
  const { storage, mail, clock, log } = options
  const mailboxes = createTokenBuckets(clock)
  const idleMs = storage.isShared ? othersEveryMs : Infinity
  let serving: Promise<void> | undefined
  let isAskedAgain = false
  let isStopped = false
  let timer: Timer | undefined

  function serve(): void {
    isAskedAgain = serving !== undefined
    if (isAskedAgain || isStopped || !mail.isConfigured) return
    timer?.cancel()
    serving = serveDue()
      .catch((error: unknown) => {
        log.error({ err: error }, 'password resets could not be read')
        return clock.now() + minuteMs
      })
      .then((nextAt) => {
        serving = undefined
        if (isAskedAgain) return serve()
        const waitMs = Math.min(nextAt === undefined ? Infinity : nextAt - clock.now(), idleMs)
        if (waitMs < Infinity && !isStopped) timer = clock.after(Math.max(0, waitMs), serve)
      })
  }

  /** Resolves with the time of the next work; undefined if nothing is left. */
  async function serveDue(): Promise<number | undefined> {
    for (;;) {
      const waiting = storage.for(systemTenancy).password_reset_requests
      const [next] = await waiting.list({ orderBy: ['due_at'], limit: 1 })
      if (next === undefined || next.due_at > clock.now() || isStopped) return next?.due_at
      await serveOne(next, options)
    }
  }

  return {
    name: 'password resets',
    canMail: mail.isConfigured,
    async request(email, within) {
      if (mailboxes.take(email.toLowerCase(), perMailbox) > 0) return
      const waiting = within.for(systemTenancy).password_reset_requests
      if ((await waiting.count()) >= maxWaiting)
        throw new AppError('overloaded', 'too many requests for a new password are waiting')
      await waiting.insert({ email, due_at: clock.now() })
    },
    serve,
    /** Serves the requests that the last run left. */
    start: () => Promise.resolve(serve()),
    async stop() {
      isStopped = true
      timer?.cancel()
      await Promise.race([serving, sleep(stopGraceMs, clock)])
    },
  }
}

async function serveOne(
  request: Row<'password_reset_requests'>,
  { storage, mail, portalUrl, clock, log }: PasswordResetOptions,
): Promise<void> {
  const { email, attempts } = request
  const made = await storage.transaction(systemTenancy, async (rows) => {
    // The process that removes it serves it: another one may be at it too.
    if (!(await rows.password_reset_requests.remove(request.password_reset_request_sid))) return undefined
    const [user] = await usersByEmail(email, rows)
    if (user === undefined || !(await mayReset(user, rows))) return undefined
    const link = await makeLink(user.user_sid, rows, clock)
    const delayMs = retryDelaysMs[attempts]
    // Removed when the mail is sent, and due if the mail fails or this process ends meanwhile.
    const retry =
      delayMs === undefined
        ? undefined
        : await rows.password_reset_requests.insert({
            email,
            attempts: attempts + 1,
            due_at: clock.now() + delayMs,
          })
    return { user, link, retry }
  })
  if (made === undefined) return
  const { user, link, retry } = made
  const { user_sid } = user
  const url = `${portalUrl()}/reset-password/${link}`
  try {
    await mail.send({ to: user.email, subject: 'Your new password', text: textOf(user.name, url) })
  } catch (error) {
    const nextAt = retry === undefined ? null : new Date(retry.due_at).toISOString()
    log.error({ err: error, user_sid, attempts: attempts + 1, nextAt }, 'password reset could not be mailed')
    return
  }
  log.info({ user_sid }, 'password reset mailed')
  if (retry !== undefined)
    await storage.for(systemTenancy).password_reset_requests.remove(retry.password_reset_request_sid)
}

async function makeLink(user_sid: string, rows: Repositories, clock: Clock): Promise<string> {
  const link = randomToken(linkBytes)
  // One link at a time: a newer one voids the older.
  await forgetLinks(rows, user_sid)
  await rows.password_resets.insert({
    user_sid,
    link_hash: hashLink(link),
    expires_at: clock.now() + linkLifetimeMs,
  })
  return link
}

async function mayReset(user: Row<'users'>, all: Repositories): Promise<boolean> {
  if (user.is_active !== 1 || user.provider !== 'local') return false
  if (user.account_sid === null) return true
  return (await all.accounts.find(user.account_sid))?.is_active === 1
}

function textOf(name: string, url: string): string {
  return [
    `Hello ${name},`,
    '',
    'a new password was asked for, probably by you. To choose one, open this link within an hour:',
    '',
    url,
    '',
    'It works once. If it was not you, do nothing: your password stays as it is.',
    '',
  ].join('\n')
}

function hashLink(link: string): string {
  return createHash('sha256').update(link).digest('base64url')
}

/** Returns the reset of a link, while it is valid. */
export async function resetOf(
  link: string,
  all: Repositories,
  clock: Clock,
): Promise<Row<'password_resets'> | undefined> {
  const [reset] = await all.password_resets.list({ where: { link_hash: hashLink(link) }, limit: 1 })
  return reset !== undefined && reset.expires_at > clock.now() ? reset : undefined
}

/** Marks the link as used to sign in, within a transaction. Throws wrong_credentials if it was used before. */
export async function signInWith(
  { password_reset_sid }: Row<'password_resets'>,
  all: Repositories,
  now: number,
) {
  const reset = await all.password_resets.find(password_reset_sid)
  if (reset?.signed_in_at !== null) throw noSuchLink()
  await all.password_resets.update(password_reset_sid, { signed_in_at: now })
}

export async function forgetLinks(all: Repositories, user_sid: string): Promise<void> {
  for (const { password_reset_sid } of await all.password_resets.list({ where: { user_sid } }))
    await all.password_resets.remove(password_reset_sid)
}

export function noSuchLink(): AppError {
  return new AppError('wrong_credentials', 'the link is unknown, was used or has expired')
}
