// Logging in without the password: a mailed link, a sign-in with it, a new password.
import { placeOfTenant } from '../../http/limits/password-queue.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { AppError } from '../../lib/errors.ts'
import { hashPassword } from '../../passwords/password.ts'
import type { Row } from '../../storage/storage.ts'
import type { Services } from '../services.ts'
import type { WireOf } from '../define/field.ts'
import { boolean, text } from '../define/fields.ts'
import { ofAddress, ofUser } from '../define/idempotency.ts'
import { createRecordForm } from '../define/record.ts'
import { whole, word } from '../define/reply-fields.ts'
import { defineRoute, everyone } from '../define/route.ts'
import type { ApiRequest } from '../define/request.ts'
import { usersByEmail } from './find-users.ts'
import { verifyUser } from './login.ts'
import { endSessions, startSession, type Login } from './login-session.ts'
import { forgetLinks, noSuchLink, resetOf, signInWith } from './password-resets.ts'
import { demandOldPassword, demandPolicy, demandUnchanged, password } from './passwords.ts'

const link = text({ min: 1, max: 128, pattern: '^[A-Za-z0-9_-]+$', rule: 'must be the end of a mailed link' })

const forgotPassword = defineRoute({
  method: 'POST',
  path: '/forgot-password',
  access: 'public',
  operationId: 'forgotPassword',
  tag: 'Login',
  summary: 'Mails a link to choose a new password with, valid for an hour.',
  description: 'The reply does not show whether a user has the address.',
  body: {
    email: text({ min: 1, max: 255 })
      .describe('The address that the link is mailed to.')
      .example('ann@example.com'),
  },
  reply: { status: 204, description: 'If a user has the address, a mail is on its way.' },
  errors: ['mail_not_configured', 'overloaded'],
  keepsKey: true,
  async handle({ body: { email }, services: { resets, throttle }, address, once }) {
    if (!resets.canMail)
      throw new AppError('mail_not_configured', 'this platform has no mail server to send a link with')
    throttle.limitRequests(address)
    await once(ofAddress(address), async ({ storage }) => {
      await resets.request(email, storage)
      return { answer: undefined, afterwards: async () => resets.serve() }
    })
  },
})

const signedInForm = createRecordForm({
  jwt: word('To be sent as the bearer token.'),
  user_sid: word('The id of the user.'),
  name: word('The name that the user logs in with.'),
  email: word('The e-mail address of the user.'),
  phone: word('A telephone number of the person.').nullable(),
  account_sid: word('The account of the user; null: a whole service provider, or the platform.').nullable(),
  service_provider_sid: word('The service provider of the user; null: an administrator.').nullable(),
  force_change: boolean().describe('The password must be changed first.'),
  provider: word('local, or the service that authenticates the user.'),
  provider_userid: word('The id of the user there.').nullable(),
  scope: word('The level of the token: admin, service_provider or account.'),
  phone_validated: boolean().describe('The telephone number has been confirmed.'),
  email_validated: boolean().describe('The e-mail address has been confirmed.'),
  is_active: boolean().describe('Always true: others are refused.'),
  tutorial_completion: whole('Always 0; kept for older clients.'),
  pristine: boolean().describe('Always false; kept for older clients.'),
})
type SignedIn = WireOf<typeof signedInForm.field>

const signIn = defineRoute({
  method: 'POST',
  path: '/signin',
  access: 'public',
  operationId: 'signIn',
  tag: 'Login',
  summary: 'Exchanges a mailed link, once, or an address and password for a token.',
  body: {
    email: text({ min: 1, max: 255 }).optional().describe('The e-mail address of the user.'),
    password: password().optional().describe('Goes with email.'),
    link: link
      .optional()
      .describe('The part of a mailed link after the last "/"; instead of email and password.'),
  },
  reply: {
    status: 200,
    description: 'The token, and its user.',
    component: 'SignInToken',
    body: signedInForm.field,
  },
  errors: ['wrong_credentials', 'locked_out', 'account_inactive', 'clock_wrong'],
  keepsKey: true,
  async handle({ body, services, address, whenGone, once }) {
    if (body.link !== undefined && body.link !== null) return signInByLink(body.link, services, once)
    const { email, password: given } = body
    if (typeof email !== 'string' || typeof given !== 'string')
      throw new AppError('bad_request', 'email and password, or link, are required')
    const { throttle } = services
    throttle.demandOpen(address)
    const [user] = await usersByEmail(email, services.storage.for(systemTenancy))
    // Counted by name, as in /login: a user who is locked out there is locked out here too.
    const attempt = { username: user?.name ?? email, address, signal: whenGone() }
    const isRight = await throttle.judge(attempt, (derive) => verifyUser(user, given, derive))
    if (user === undefined || !isRight)
      throw new AppError('wrong_credentials', 'the address or the password is wrong')
    return once(ofUser(user.user_sid), async (unit) => ({
      answer: toSignedIn(user, await startSession(user, unit)),
    }))
  },
})

async function signInByLink(given: string, services: Services, once: ApiRequest['once']): Promise<SignedIn> {
  const { storage, clock } = services
  const all = storage.for(systemTenancy)
  const reset = await resetOf(given, all, clock)
  const user = reset === undefined ? undefined : await all.users.find(reset.user_sid)
  if (reset === undefined || user?.is_active !== 1) throw noSuchLink()
  return once(ofUser(user.user_sid), async (unit) => {
    const session = await startSession(user, unit, (rows) => signInWith(reset, rows, clock.now()))
    return { answer: toSignedIn(user, session) }
  })
}

function toSignedIn(user: Row<'users'>, { token, scope }: Login): SignedIn {
  return signedInForm.toWire({ ...user, jwt: token, scope, tutorial_completion: 0, pristine: 0 })
}

const changePassword = defineRoute({
  method: 'POST',
  path: '/change-password',
  access: everyone,
  openToViewOnly: true,
  openToForcedChange: true,
  operationId: 'changePassword',
  tag: 'Login',
  summary: 'Changes one’s own password and ends all sessions.',
  body: {
    old_password: password().describe('Or a mailed link that was not used for this yet.'),
    new_password: password().describe('Must follow /PasswordSettings and differ from the old one.'),
  },
  reply: { status: 204, description: 'Changed; log in again.' },
  errors: ['locked_out'],
  // The interface has one status for all faults here.
  asRefusal: (error) =>
    error.code === 'wrong_credentials' ? new AppError('bad_request', error.message, { cause: error }) : error,
  async handle({ body: { old_password, new_password }, caller, services, address }) {
    const { principal } = caller
    if (principal.kind !== 'user') throw new AppError('not_permitted', 'an API key has no password')
    const { user_sid } = principal
    const { storage, clock } = services
    const all = storage.for(systemTenancy)
    const user = await all.users.find(user_sid)
    if (user === undefined) throw new AppError('not_authenticated', 'the session has ended')
    if (user.provider !== 'local')
      throw new AppError('bad_request', 'the password of this user is kept elsewhere')
    if (new_password === old_password)
      throw new AppError('bad_request', 'new_password must differ from old_password')
    await demandPolicy(new_password, 'new_password', services)
    const reset = await resetOf(old_password, all, clock)
    const isByLink = reset?.user_sid === user_sid
    if (!isByLink) await demandOldPassword({ given: old_password, user, caller, address }, services)
    const hashed_password = await services.throttle.hashing(placeOfTenant(caller), (derive) =>
      hashPassword(new_password, derive),
    )
    await storage.transaction(systemTenancy, async (rows) => {
      if (!isByLink) demandUnchanged(await rows.users.find(user_sid), user)
      else if (!(await rows.password_resets.remove(reset.password_reset_sid))) throw noSuchLink()
      await forgetLinks(rows, user_sid)
      await rows.users.update(user_sid, { hashed_password, force_change: 0 })
      await endSessions(rows, user_sid)
    })
    services.throttle.forgive(user.name)
    services.log.info({ user_sid }, 'password changed')
  },
})

export const forgottenPasswordRoutes = [forgotPassword, signIn, changePassword]
