// Logging in and out: a password is exchanged for a token and the session that it depends on.
import { placeOfLogin } from '../../http/limits/password-queue.ts'
import { maxFailures, lockOutMs } from '../../http/limits/login-throttle.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { AppError } from '../../lib/errors.ts'
import {
  hashPassword,
  needsRehash,
  verifyAgainstNothing,
  verifyPassword,
  type Derive,
} from '../../passwords/password.ts'
import type { Row } from '../../storage/storage.ts'
import { boolean, choice, text } from '../define/fields.ts'
import { ofUser } from '../define/idempotency.ts'
import { list, object, word } from '../define/reply-fields.ts'
import { defineRoute, everyone } from '../define/route.ts'
import { startSession } from './login-session.ts'

export const login = defineRoute({
  method: 'POST',
  path: '/login',
  access: 'public',
  operationId: 'login',
  tag: 'Login',
  summary: 'Exchanges a user name and password for a token that is valid for 60 minutes.',
  description: `After ${maxFailures} failures of one user from one address (IPv6: one /64; more from a larger network), further attempts are refused for ${lockOutMs / 60_000} minutes.`,
  body: {
    username: text({ min: 1, max: 255 }).describe('The name of the user.').example('admin'),
    password: text({ min: 1, max: 1024, anyCharacters: true })
      .describe('The password of the user, any characters.')
      .example('correct horse battery'),
  },
  reply: {
    status: 200,
    description: 'The token, and its user.',
    component: 'LoginToken',
    body: object({
      token: word('A JWT, to be sent as the bearer token.'),
      user_sid: word('The id of the user.'),
      scope: choice(['admin', 'service_provider', 'account']).describe('The level of the token.'),
      force_change: boolean().describe('The password must be changed first.'),
      permissions: list(word()).describe('The permissions of the user; VIEW_ONLY alone: may only read.'),
      service_provider_sid: word('The service provider of the user; left out for administrators.').optional(),
      service_provider_name: word('The name of that service provider.').optional(),
      account_sid: word('The account of the user; left out if there is none.').optional(),
      account_name: word('The name of that account.').optional(),
    }),
  },
  errors: ['wrong_credentials', 'locked_out', 'account_inactive', 'clock_wrong'],
  keepsKey: true,
  async handle({ body: { username, password }, services, address, whenGone, once }) {
    const { throttle } = services
    throttle.demandOpen(address)
    const rows = services.storage.for(systemTenancy)
    const [user] = await rows.users.list({ where: { name: username }, limit: 1 })
    const isRight = await throttle.judge({ username, address, signal: whenGone() }, (derive) =>
      verifyUser(user, password, derive),
    )
    // The same refusal for an unknown, a disabled and a foreign user and for a wrong password.
    if (user === undefined || !isRight)
      throw new AppError('wrong_credentials', 'the user name or the password is wrong')
    return once(ofUser(user.user_sid), async (unit) => {
      const hashed_password = needsRehash(user.hashed_password ?? '')
        ? await unit.throttle.hashing(placeOfLogin(address), (derive) => hashPassword(password, derive))
        : undefined
      const session = await startSession(user, unit, async ({ users }) => {
        if (hashed_password !== undefined) await users.update(user.user_sid, { hashed_password })
      })
      return { answer: { ...session, force_change: user.force_change === 1 } }
    })
  },
})

export const logout = defineRoute({
  method: 'POST',
  path: '/logout',
  access: everyone,
  openToViewOnly: true,
  openToForcedChange: true,
  operationId: 'logout',
  tag: 'Login',
  summary: 'Ends the session of the token that the request carries.',
  reply: { status: 204, description: 'The token is refused from now on.' },
  async handle({ caller: { principal }, services }) {
    if (principal.kind !== 'user') throw new AppError('not_permitted', 'an API key has no session to end')
    await services.storage.for(systemTenancy).user_sessions.remove(principal.session_sid)
  },
})

/** Takes the same time for users that exist and for those that do not. */
export function verifyUser(
  user: Row<'users'> | undefined,
  password: string,
  derive: Derive,
): Promise<boolean> {
  if (
    user === undefined ||
    user.is_active !== 1 ||
    user.provider !== 'local' ||
    user.hashed_password === null
  )
    return verifyAgainstNothing(password, derive)
  return verifyPassword(password, user.hashed_password, derive)
}
