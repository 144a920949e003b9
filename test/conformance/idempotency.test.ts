// Every POST of the OpenAPI document, sent three times with one Idempotency-Key, the third time to another server: it
// has one effect, and the same response each time. No route is left out.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiRoute } from '../../src/api/define/route.ts'
import { apiRoutes } from '../../src/api/index.ts'
import { createSid } from '../../src/lib/ids.ts'
import { createUser, testPassword } from '../support/api-tenants.ts'
import type { ApiAnswer } from '../support/api-request.ts'
import { documented } from '../support/documented.ts'
import { serveLocally, type LocalServer } from '../support/local-http.ts'
import { localS3 } from '../support/s3-bucket.ts'
import { marks, openWorld, type World } from './api/world.ts'

const posts = apiRoutes.filter(({ method }) => method === 'POST')

let world: World
let vendor: LocalServer
let spoken = 0
beforeAll(async () => {
  world = await openWorld()
  vendor = await serveLocally((request, response) => {
    spoken++
    request.resume()
    response.setHeader('content-type', 'audio/l16;rate=8000').end(Buffer.alloc(1600))
  })
})
afterAll(async () => {
  await world.close()
  await vendor.close()
})

/** The user of one request. */
interface Person {
  readonly name: string
  readonly email: string
}

const newPassword = 'another horse, another battery'

/** The bodies that cannot be derived from a declaration. */
const bodies: Readonly<Record<string, (person: Person) => Promise<object>>> = {
  login: async ({ name }) => ({ username: name, password: testPassword }),
  signIn: async ({ email }) => ({ email, password: testPassword }),
  forgotPassword: async ({ email }) => ({ email }),
  changePassword: async () => ({ old_password: testPassword, new_password: newPassword }),
  synthesizeForAccount: async () => ({
    speech_credential_sid: await countedCredential(),
    text: 'Once is enough.',
    language: 'en-US',
    voice: 'anna',
  }),
}

function countedCredential(): Promise<string> {
  const collection = '/Accounts/{AccountSid}/SpeechCredentials'
  return world.input.id({ name: 'SpeechCredentialSid', collection }, world.api.own, false, {
    vendor: 'custom:counted',
    auth_token: 'a-token',
    custom_tts_url: vendor.url,
  })
}

/** The operations whose body cannot have every field: each request is one command of a call. */
const takesNoWhole = new Set(['updateCallByPost'])
/** The operations that change nothing, with or without a key. */
const onlyReads = new Set(['createDryRun', 'findRegisteredSipUsers'])
/** The operations for users: API keys have no session and no password. */
const forUsers = new Set(['logout', 'changePassword'])

/** Returns the token of the lowest permitted level. A user logs in each time, since the request may end its session. */
async function tokenFor(
  { access, operationId }: ApiRoute,
  { name }: Person,
  isFirst: boolean,
): Promise<string | undefined> {
  const { api } = world
  const { own, adminKey } = api
  if (access === 'public') return undefined
  if (forUsers.has(operationId)) {
    const password = isFirst || operationId === 'logout' ? testPassword : newPassword
    const answer = await api.post('/login', undefined, { username: name, password })
    return (answer.body as { readonly token: string }).token
  }
  if (access.includes('account')) return own.accountKey
  return access.includes('service_provider') ? own.providerKey : adminKey
}

/** Returns all traces that a request can leave, in the database and outside it; sessions are in the audit log. */
async function effects(): Promise<object> {
  const { storage, placed, commands, mails, hungUp } = world.api
  const { received } = await localS3()
  const rows = await marks(world.api)
  // The newest entry too: a checkpoint removes entries and adds one.
  const { total, rows: newest } = await storage.audit.page({ level: 'admin' }, { page: 1, count: 1 })
  return {
    rows,
    audited: total,
    newest,
    placed: placed.length,
    commands: commands.length,
    mails: mails.length,
    hungUp: hungUp.length,
    spoken,
    stored: received.length,
  }
}

/** Returns the parts of a response that are the same for the same request. */
function said({ status, headers, bytes }: ApiAnswer): object {
  const { 'x-request-id': _request, 'idempotency-replayed': _replayed, date: _date, ...rest } = headers
  return { status, headers: rest, body: bytes.toString('base64') }
}

describe.each(posts.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_title, route) => {
    it('repeated requests with one Idempotency-Key have one effect and one response', async () => {
      const { api, input } = world
      const name = await createUser(api.storage, {
        account_sid: api.own.account_sid,
        service_provider_sid: api.own.service_provider_sid,
      })
      const person = { name, email: `${name}@example.com` }
      const { operationId } = route
      const path = (await input.path(route, api.own)) + (await input.query(route, api.own))
      const body = await (bodies[operationId]?.(person) ??
        input.body(route, api.own, !takesNoWhole.has(operationId)))
      const headers = { 'idempotency-key': createSid() }

      const ask = async (server: Pick<typeof api, 'request'>, isFirst = false) => {
        const token = await tokenFor(route, person, isFirst)
        const before = await effects()
        const answer = await server.request('POST', path, token, { body, headers })
        return { answer, before, after: await effects() }
      }

      const { answer, before, after } = await ask(api, true)
      expect(answer.status, answer.text).toBe(route.reply.status)
      expect(answer.headers).not.toHaveProperty('idempotency-replayed')
      if (onlyReads.has(operationId)) expect(after).toEqual(before)
      else expect(after).not.toEqual(before)

      for (const server of [api, api.startAnother()]) {
        const again = await ask(server)
        expect(said(again.answer), again.answer.text).toEqual(said(answer))
        expect(again.answer.headers).toHaveProperty('idempotency-replayed', 'true')
        expect(again.after).toEqual(again.before)
      }
    })
  },
)

describe('what is tried here', () => {
  it('the tested routes are all POSTs of the OpenAPI document', () => {
    const { paths } = documented().document
    const written = Object.entries(paths).filter(([, methods]) => 'post' in methods)
    expect(posts.map(({ path }) => path).sort()).toEqual(written.map(([path]) => path).sort())
  })
})
