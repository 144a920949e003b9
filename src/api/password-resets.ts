// Links that let somebody back in who forgot the password: made, mailed, exchanged once for a session and once for a
// new password, within an hour.
import { createHash } from 'node:crypto'
import { systemTenancy } from '../lib/caller.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { randomToken } from '../lib/ids.ts'
import type { Logger } from '../lib/log.ts'
import type { Mailer } from '../lib/mail.ts'
import { createTokenBuckets } from '../lib/token-buckets.ts'
import type { Repositories, Row, Storage } from '../storage/storage.ts'
import type { PasswordResets } from './define/context.ts'
import { usersByEmail } from './find-users.ts'

export const linkLifetimeMs = 3_600_000
const linkBytes = 32
// A mailbox that somebody else has mails sent to stays usable.
const perMailbox = { capacity: 3, refillMs: 3_600_000 }
const maxWaiting = 100

export interface PasswordResetOptions {
  readonly storage: Pick<Storage, 'for' | 'transaction'>
  readonly mail: Mailer
  /** Where the portal is: the base of the link. */
  readonly portalUrl: () => string
  readonly clock: Clock
  readonly log: Logger
}

/** `idle` resolves when everything requested so far is done with. */
export function createPasswordResets(
  options: PasswordResetOptions,
): PasswordResets & { idle(): Promise<void> } {
  const { mail, clock, log } = options
  const mailboxes = createTokenBuckets(clock)
  let waiting = 0
  let last: Promise<void> = Promise.resolve()

  return {
    canMail: mail.isConfigured,
    request(email) {
      if (waiting >= maxWaiting) {
        log.warn({ waiting }, 'too many password resets at once: one was dropped')
        return
      }
      if (mailboxes.take(email.toLowerCase(), perMailbox) > 0) return
      waiting++
      last = last
        .then(() => mailLink(email, options))
        .catch((error: unknown) => log.error({ err: error }, 'password reset could not be mailed'))
        .finally(() => waiting--)
    },
    idle: () => last,
  }
}

async function mailLink(
  email: string,
  { storage, mail, portalUrl, clock, log }: PasswordResetOptions,
): Promise<void> {
  const all = storage.for(systemTenancy)
  const [user] = await usersByEmail(email, all)
  if (user === undefined || !(await mayReset(user, all))) return
  const { user_sid } = user
  const link = randomToken(linkBytes)
  await storage.transaction(systemTenancy, async (rows) => {
    // One link at a time: a newer one voids the older.
    await forgetLinks(rows, user_sid)
    await rows.password_resets.insert({
      user_sid,
      link_hash: hashLink(link),
      expires_at: clock.now() + linkLifetimeMs,
    })
  })
  const url = `${portalUrl()}/reset-password/${link}`
  await mail.send({ to: user.email, subject: 'Your new password', text: textOf(user.name, url) })
  log.info({ user_sid }, 'password reset mailed')
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
    'somebody, probably you, asked for a new password. To choose one, open this link within an hour:',
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

/** The reset that a link stands for, while it is valid. */
export async function resetOf(
  link: string,
  all: Repositories,
  clock: Clock,
): Promise<Row<'password_resets'> | undefined> {
  const [reset] = await all.password_resets.list({ where: { link_hash: hashLink(link) }, limit: 1 })
  return reset !== undefined && reset.expires_at > clock.now() ? reset : undefined
}

/** Within a transaction: marks the link as used to sign in. Throws wrong_credentials when it was before. */
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
