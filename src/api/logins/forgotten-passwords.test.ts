import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemTenancy } from '../../contracts/caller.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { createMailer } from '../../outgoing/mail.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { createUser, testPassword, type TestUser } from '../../../test/support/api-tenants.ts'
import { until } from '../../../test/support/wait.ts'
import { openSmtpServer, type SmtpServer } from '../../../test/support/smtp.ts'

const clock = createFakeClock()
let smtp: SmtpServer
let api: TestApi
let mailer: ReturnType<typeof createMailer>
beforeAll(async () => {
  smtp = await openSmtpServer()
  mailer = createMailer({ url: `smtp://127.0.0.1:${smtp.port}`, from: 'no-reply@example.com' })
  api = await openTestApi({ clock, mail: mailer })
})
afterAll(async () => {
  await api.close()
  await mailer.stop()
  await smtp.close()
})
afterEach(async () => {
  expect(smtp.faults).toEqual([])
  // A mail that has arrived may not be noted as sent yet; then it would be sent again an hour later.
  const { password_reset_requests } = api.storage.for(systemTenancy)
  await until('the mails to be noted', async () => (await password_reset_requests.count()) === 0)
  // In a new hour the address may request again.
  clock.advance(3_600_000)
})

const forget = (email: unknown) => api.post('/forgot-password', undefined, { email })
const signIn = (body: object) => api.post('/signin', undefined, body)
const change = (token: string | undefined, old_password: unknown, new_password: unknown = 'brand new 1') =>
  api.post('/change-password', token, { old_password, new_password })
const accountUser = (): TestUser => ({
  account_sid: api.own.account_sid,
  service_provider_sid: api.own.service_provider_sid,
})

async function mailedLink(name: string): Promise<string> {
  const coming = smtp.nextMail()
  expect((await forget(`${name}@example.com`)).status).toBe(204)
  const { to, body } = await coming
  expect(to).toEqual([`${name}@example.com`])
  // Quoted-printable if the text is longer than a line.
  const text = body.replaceAll('=\r\n', '')
  const link = /https:\/\/portal\.example\.com\/reset-password\/([\w-]{43})\r\n/.exec(text)?.[1]
  return link ?? expect.unreachable(`no link in ${body}`)
}

async function tokenBy(link: string): Promise<string> {
  const answer = await signIn({ link })
  expect(answer.status).toBe(200)
  return (answer.body as { jwt: string }).jwt
}

async function logIn(name: string, password = testPassword) {
  return api.post('/login', undefined, { username: name, password })
}

describe('a forgotten password', () => {
  it('is replaced by way of a mailed link; all sessions end', async () => {
    const name = await createUser(api.storage, accountUser())
    const before = (await logIn(name)).body as { token: string }
    const link = await mailedLink(name)
    const signedIn = await signIn({ link })
    expect(signedIn.body).toEqual({
      jwt: expect.any(String),
      user_sid: expect.any(String),
      name,
      email: `${name}@example.com`,
      phone: null,
      ...accountUser(),
      force_change: false,
      provider: 'local',
      provider_userid: null,
      scope: 'account',
      phone_validated: false,
      email_validated: false,
      is_active: true,
      tutorial_completion: 0,
      pristine: false,
    })
    const { jwt } = signedIn.body as { jwt: string }
    const changed = await change(jwt, link)
    expect([changed.status, changed.text]).toEqual([204, ''])
    for (const token of [before.token, jwt]) expect((await api.get('/Accounts', token)).status).toBe(401)
    expect((await logIn(name)).status).toBe(403)
    expect((await logIn(name, 'brand new 1')).status).toBe(200)
  })

  it('needs no account: administrators forget too', async () => {
    const name = await createUser(api.storage)
    const link = await mailedLink(name.toUpperCase().toLowerCase())
    expect((await signIn({ link })).body).toMatchObject({ scope: 'admin', account_sid: null })
  })
})

describe('a new password ends the lock-out', () => {
  async function lockedOut(): Promise<string> {
    const name = await createUser(api.storage, accountUser())
    for (let count = 0; count < 6; count++) await logIn(name, 'wrong')
    expect((await logIn(name)).body).toHaveProperty('code', 'locked_out')
    return name
  }

  it('when it was chosen by way of a mailed link', async () => {
    const name = await lockedOut()
    const link = await mailedLink(name)
    expect((await change(await tokenBy(link), link)).status).toBe(204)
    expect((await logIn(name, 'brand new 1')).status).toBe(200)
  })

  it('when a user above gave it', async () => {
    const name = await lockedOut()
    const [user] = await api.storage.for(systemTenancy).users.list({ where: { name } })
    const initial_password = 'given by us 1'
    const changed = await api.put(`/Users/${user!.user_sid}`, api.own.accountKey, { initial_password })
    expect(changed.status).toBe(204)
    expect((await logIn(name, initial_password)).status).toBe(200)
  })
})

describe('a mailed link', () => {
  it('signs in once and changes the password once', async () => {
    const name = await createUser(api.storage, accountUser())
    const link = await mailedLink(name)
    const token = await tokenBy(link)
    expect((await signIn({ link })).status).toBe(403)
    expect((await change(token, link)).status).toBe(204)
    const { token: next } = (await logIn(name, 'brand new 1')).body as { token: string }
    expect((await change(next, link, 'another one 2')).status).toBe(400)
    expect((await logIn(name, 'brand new 1')).status).toBe(200)
  })

  it('lets only one of many in that use it at the same time', async () => {
    const name = await createUser(api.storage, accountUser())
    const link = await mailedLink(name)
    const answers = await Promise.all(Array.from({ length: 5 }, () => signIn({ link })))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.sort((a, b) => a - b)).toEqual([200, 403, 403, 403, 403])
  })

  it('is void after an hour', async () => {
    const name = await createUser(api.storage, accountUser())
    const link = await mailedLink(name)
    clock.advance(3_599_999)
    const token = await tokenBy(link)
    clock.advance(1)
    expect((await change(token, link)).status).toBe(400)
    expect((await signIn({ link })).status).toBe(403)
  })

  it('is void once a newer one was mailed', async () => {
    const name = await createUser(api.storage, accountUser())
    const older = await mailedLink(name)
    const newer = await mailedLink(name)
    expect((await signIn({ link: older })).status).toBe(403)
    await tokenBy(newer)
  })

  it('is void once its user is switched off, and changes no other user’s password', async () => {
    const name = await createUser(api.storage, accountUser())
    const other = await createUser(api.storage, accountUser())
    const link = await mailedLink(name)
    const { token } = (await logIn(other)).body as { token: string }
    expect((await change(token, link)).status).toBe(400)
    const rows = api.storage.for(systemTenancy)
    const [user] = await rows.users.list({ where: { name } })
    await rows.users.update(user!.user_sid, { is_active: 0 })
    expect((await signIn({ link })).status).toBe(403)
  })

  it.each<[string, (name: string) => object]>([
    ['the user was given another password', () => ({ initial_password: 'given by us 1' })],
    ['the user has another address', (name) => ({ email: `other-${name}@example.com` })],
    ['the user was switched off, even if only for a while', () => ({ is_active: false })],
  ])('is void once %s', async (_name, changesOf) => {
    const name = await createUser(api.storage, accountUser())
    const [user] = await api.storage.for(systemTenancy).users.list({ where: { name } })
    const link = await mailedLink(name)
    for (const changes of [changesOf(name), { is_active: true }])
      expect((await api.put(`/Users/${user!.user_sid}`, api.own.accountKey, changes)).status).toBe(204)
    expect((await signIn({ link })).status).toBe(403)
  })

  it('outlives a change of its user that has nothing to do with it', async () => {
    const name = await createUser(api.storage, accountUser())
    const [user] = await api.storage.for(systemTenancy).users.list({ where: { name } })
    const link = await mailedLink(name)
    const changes = { name: `${name}-renamed`, email: user!.email, force_change: true }
    expect((await api.put(`/Users/${user!.user_sid}`, api.own.accountKey, changes)).status).toBe(204)
    await tokenBy(link)
  })

  it('is stored as a hash only', async () => {
    const name = await createUser(api.storage, accountUser())
    const link = await mailedLink(name)
    const stored = await api.storage.for(systemTenancy).password_resets.list()
    expect(JSON.stringify(stored)).not.toContain(link)
  })
})

describe('POST /forgot-password', () => {
  it('answers 204 alike for unknown, foreign, disabled and strange addresses, and sends no mail', async () => {
    const disabled = await createUser(api.storage, { is_active: 0 })
    const known = await createUser(api.storage)
    const sent = smtp.mails.length
    for (const email of ['unknown@example.com', `${disabled}@example.com`, 'no address', '%@example.com']) {
      const answer = await forget(email)
      expect([answer.status, answer.text]).toEqual([204, ''])
    }
    // Requests are served in their order: once this mail has come, none came before it.
    await mailedLink(known)
    expect(smtp.mails).toHaveLength(sent + 1)
  })

  it('mails one mailbox three times an hour, and answers the same after that', async () => {
    const name = await createUser(api.storage)
    for (let count = 0; count < 3; count++) await mailedLink(name)
    const sent = smtp.mails.length
    expect((await forget(`${name}@EXAMPLE.com`)).status).toBe(204)
    await mailedLink(await createUser(api.storage))
    expect(smtp.mails).toHaveLength(sent + 1)
  })

  it('answers 429 with Retry-After to an address that asks without end', async () => {
    const answers = []
    for (let count = 0; count < 21; count++) answers.push(await forget(`someone${count}@example.com`))
    expect(answers.slice(0, 20).every(({ status }) => status === 204)).toBe(true)
    expect(answers[20]?.status).toBe(429)
    expect(Number(answers[20]?.headers['retry-after'])).toBe(180)
  })

  it.each([
    [{}, 'email is required'],
    [{ email: 5 }, 'email must be text'],
    [{ email: 'a\nb' }, 'email must not contain control characters'],
  ])('answers 400 naming the field for %j', async (body, msg) => {
    const answer = await api.post('/forgot-password', undefined, body)
    expect([answer.status, answer.body]).toEqual([400, expect.objectContaining({ msg })])
  })

  it('answers 422 where no mail server is set', async () => {
    const mail = createMailer({ url: undefined, from: 'a@example.com' })
    const silent = await openTestApi({ mail })
    const answer = await silent.post('/forgot-password', undefined, { email: 'a@example.com' })
    expect([answer.status, answer.body]).toEqual([
      422,
      expect.objectContaining({ code: 'mail_not_configured' }),
    ])
    await silent.close()
  })

  it('answers before the mail server does, and survives its failure', async () => {
    const failing = await openTestApi({
      mail: { isConfigured: true, send: () => Promise.reject(new Error('connection refused')) },
    })
    const name = await createUser(failing.storage)
    const answer = await failing.post('/forgot-password', undefined, { email: `${name}@example.com` })
    expect(answer.status).toBe(204)
    const rows = failing.storage.for(systemTenancy)
    await until('the row of the reset', async () => (await rows.password_resets.count()) === 1)
    expect((await failing.get('/Accounts', failing.adminKey)).status).toBe(200)
    await failing.close()
  })
})

describe('POST /signin', () => {
  it('takes address and password', async () => {
    const name = await createUser(api.storage, accountUser())
    const answer = await signIn({ email: `${name}@Example.com`, password: testPassword })
    expect([answer.status, answer.body]).toEqual([200, expect.objectContaining({ name, scope: 'account' })])
  })

  it('answers one 403 for a wrong password and an unknown address, and locks guessing out', async () => {
    const name = await createUser(api.storage, accountUser())
    const wrong = await signIn({ email: `${name}@example.com`, password: 'wrong' })
    const unknown = await signIn({ email: 'unknown@example.com', password: testPassword })
    expect([wrong.status, unknown.status]).toEqual([403, 403])
    expect((wrong.body as { msg: string }).msg).toBe((unknown.body as { msg: string }).msg)
    for (let count = 0; count < 5; count++) await signIn({ email: `${name}@example.com`, password: 'wrong' })
    const locked = await signIn({ email: `${name}@example.com`, password: testPassword })
    expect(locked.body).toHaveProperty('code', 'locked_out')
  })

  it('refuses a user who is locked out of /login, and counts with it', async () => {
    const name = await createUser(api.storage, accountUser())
    for (let count = 0; count < 3; count++) {
      await logIn(name, 'wrong')
      await signIn({ email: `${name}@example.com`, password: 'wrong' })
    }
    for (const locked of [
      await signIn({ email: `${name}@example.com`, password: testPassword }),
      await logIn(name),
    ]) {
      expect(locked.body).toHaveProperty('code', 'locked_out')
      expect(locked.headers['retry-after']).toBe('1800')
    }
  })

  it.each([
    [{}, 'email and password, or link, are required'],
    [{ email: 'a@example.com' }, 'email and password, or link, are required'],
    [{ link: 'a b' }, 'link must be the end of a mailed link'],
    [{ email: 1, password: 'p' }, 'email must be text'],
  ])('answers 400 for %j', async (body, msg) => {
    const answer = await signIn(body)
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.objectContaining({ msg: expect.stringContaining(msg) }),
    ])
  })
})

describe('POST /change-password', () => {
  it('changes the password, also of a view-only user, clears force_change and ends all sessions', async () => {
    const name = await createUser(api.storage, { ...accountUser(), permissions: ['VIEW_ONLY'] })
    const { token } = (await logIn(name)).body as { token: string }
    expect((await change(token, testPassword)).status).toBe(204)
    expect((await api.get('/Accounts', token)).status).toBe(401)
    expect((await logIn(name, 'brand new 1')).body).toMatchObject({ force_change: false })
  })

  it('answers 400 for what is missing, wrong or against the policy, and changes nothing', async () => {
    const name = await createUser(api.storage)
    const { token } = (await logIn(name)).body as { token: string }
    for (const [old, next, msg] of [
      [undefined, 'brand new 1', 'old_password is required'],
      [testPassword, null, 'new_password must be text'],
      ['wrong', 'brand new 1', 'old_password is wrong'],
      [testPassword, testPassword, 'must differ'],
      [testPassword, 'short', 'new_password must have 8 to 20 characters'],
    ] as const) {
      const answer = await change(token, old, next)
      expect([answer.status, answer.body]).toEqual([
        400,
        expect.objectContaining({ msg: expect.stringContaining(msg) }),
      ])
    }
    expect((await logIn(name)).status).toBe(200)
  })

  it('answers 403 to an API key', async () => {
    expect((await change(api.adminKey, 'a', 'brand new 1')).status).toBe(403)
  })
})
