// Requests every declared route once over the real API and records requests and responses: the examples of the
// reference. The tour ends at a route whose response is not the declared one.
import type { Example, Examples } from '../../../src/api/openapi/examples.ts'
import type { FieldFacts } from '../../../src/api/define/field.ts'
import type { ApiRoute } from '../../../src/api/define/route.ts'
import { apiRoutes } from '../../../src/api/index.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { openTestApi, type TestApi } from '../../support/api.ts'
import { createUser, testPassword } from '../../support/api-tenants.ts'
import { createSteady } from './steady.ts'
import { createValidInput, type ValidInput } from './valid-input.ts'
import type { Values } from './known-values.ts'

const start = Date.parse('2026-11-21T08:30:00.000Z')

interface Tour {
  readonly api: TestApi
  readonly input: ValidInput
  /** Returns the token of a user, for the routes that only users may request. */
  readonly userToken: () => Promise<string>
}

/** Routes that API keys cannot use. */
const forUsers = new Set(['getMe', 'logout', 'changePassword'])

/** The bodies that cannot be derived from a declaration. */
const bodies: Readonly<Record<string, (tour: Tour) => Values | Promise<Values>>> = {
  login: async ({ api }) => ({
    username: await createUser(api.storage, { name: 'carol' }),
    password: testPassword,
  }),
  signIn: async ({ api }) => {
    const name = await createUser(api.storage, { name: 'ben' })
    return { email: `${name}@example.com`, password: testPassword }
  },
  createApplicationOfAccount: () => ({
    name: 'night desk',
    call_hook: { url: 'https://app.example.com/call_hook' },
    call_status_hook: { url: 'https://app.example.com/call_status_hook' },
  }),
  updateUser: () => ({ force_change: 1 }),
  forgotPassword: () => ({ email: 'ann@example.com' }),
  changePassword: () => ({ old_password: testPassword, new_password: 'correct horse 2' }),
}

export async function takeTour(): Promise<Examples> {
  const api = await openTestApi({
    clock: createFakeClock(start),
    appEnv: {
      ask: async () => ({
        outcome: 'schema',
        schema: { greeting: { type: 'string', description: 'What callers hear first.', required: true } },
      }),
    },
  })
  try {
    const { accountKey, account_sid, service_provider_sid } = api.own
    const steady = createSteady()
    steady.toShown({ service_provider_sid, account_sid })
    const input = createValidInput(api, async (method, path, token, body) => {
      const answer = await api.request(method, path, token, { body })
      // Records are made in a known order, so their numbers are the same in each run.
      steady.toShown(JSON.parse(answer.text))
      return answer
    })
    const userToken = (): Promise<string> => api.logIn({ account_sid, service_provider_sid })
    await seed(api, (value) => steady.toShown(value))
    const tour: Tour = { api, input, userToken }
    const examples: Record<string, Example> = {}
    for (const route of apiRoutes.filter(({ method }) => method !== 'DELETE').sort(byTurn)) {
      const token = tokenFor(route, api, accountKey)
      const asked = await ask(route, forUsers.has(route.operationId) ? await userToken() : token, tour)
      const example = steady.toShown(asked) as Example
      if (Object.keys(example).length > 0) examples[route.operationId] = example
    }
    return examples
  } finally {
    await api.close()
  }
}

/** Orders routes so that records are made before they are read, and lists are read when they have members. */
function byTurn(a: ApiRoute, b: ApiRoute): number {
  const turnOf = ({ method, path }: ApiRoute): number =>
    method === 'POST' ? 0 : method === 'PUT' ? 3 : path.endsWith('}') ? 1 : 2
  return turnOf(a) - turnOf(b)
}

/** Returns the token of the lowest permitted level, which sees few records, all its own. */
function tokenFor({ access }: ApiRoute, api: TestApi, accountKey: string): string | undefined {
  if (access === 'public') return undefined
  if (access.includes('account')) return accountKey
  return access.includes('service_provider') ? api.own.providerKey : api.adminKey
}

async function ask(route: ApiRoute, token: string | undefined, tour: Tour): Promise<Example> {
  const { api, input } = tour
  const path = (await input.path(route, api.own)) + (await input.query(route, api.own))
  const body = await bodyOf(route, tour)
  const answer = await api.request(route.method, path, token, { body })
  if (answer.status !== route.reply.status)
    throw new Error(
      `${route.method} ${path} answered ${answer.status} ${answer.text} to ${JSON.stringify(body)}`,
    )
  const isJson = String(answer.headers['content-type']).startsWith('application/json')
  return {
    ...(body === undefined ? {} : { request: body }),
    ...(isJson && answer.text !== '' ? { reply: answer.body as unknown } : {}),
  }
}

/** Returns the smallest body that the route accepts, with the declaration's example values where it has some. */
async function bodyOf(route: ApiRoute, tour: Tour): Promise<unknown> {
  const special = bodies[route.operationId]
  if (special !== undefined) return special(tour)
  const { body: fields = {}, bodyIs, isPartial = false } = route
  const body = await tour.input.body(route, tour.api.own, isPartial)
  if (bodyIs !== undefined || typeof body !== 'object' || body === null) return body
  if (isPartial) return oneOf(body)
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, inItsWords(fields[name]?.facts, value)]),
  )
}

function inItsWords(facts: FieldFacts | undefined, value: unknown): unknown {
  // A bare URL is accepted too; the declared form is more informative.
  if (facts?.schema['type'] === 'object' && typeof value === 'string') return { url: value }
  const mayBeText = [facts?.schema['type']].flat().includes('string')
  const isWord = mayBeText && facts?.schema['format'] === undefined
  return isWord && typeof facts?.example === 'string' ? facts.example : value
}

/** Returns one of the changes, which is enough to show how changes are made. */
function oneOf(changes: object): object {
  const names = Object.keys(changes)
  const told = ['name', 'application_sid', 'use_for_tts', 'priority', 'port'].find((name) =>
    names.includes(name),
  )
  return Object.fromEntries(Object.entries(changes).filter(([name]) => name === (told ?? names[0])))
}

/** Makes the records that no endpoint makes: a call that has ended, a phone, an alert. */
async function seed(api: TestApi, note: (value: unknown) => unknown): Promise<void> {
  const { account_sid, service_provider_sid, realm } = api.own
  const call_sid = '5f0c4e9a-2f3b-4c55-9d0e-7b1a3c2d4e5f'
  note(call_sid)
  const ended = {
    account_sid,
    service_provider_sid,
    call_sid,
    application_sid: null,
    sip_call_id: 'a84b4c76e66710@example.com',
    sip_parent_call_id: null,
    parent_call_sid: null,
    from: '+15551230001',
    to: '+15551230002',
    direction: 'inbound',
    answered: true,
    sip_status: 200,
    duration: 7,
    attempted_at: start - 60_000,
    answered_at: start - 59_000,
    terminated_at: start - 52_000,
    termination_reason: 'caller hungup',
    host: '192.0.2.1',
    remote_host: '192.0.2.2',
    trunk: 'user',
    trace_id: call_sid.replaceAll('-', ''),
    recording_url: null,
    attempts: null,
    stir_shaken: null,
    failure: null,
    media_failure: null,
  } as const
  const received = {
    seq: 1,
    at: ended.attempted_at,
    type: 'sip',
    direction: 'received',
    summary: 'INVITE',
    remote: 'udp 192.0.2.2:5060',
    raw: 'INVITE sip:+15551230002@acme.sip.example.com SIP/2.0\r\n\r\n',
  }
  api.storage.calls.write(
    { call_sid, account_sid, events: [received], notifications: [], record: ended },
    'now',
  )
  await api.storage.calls.flush()
  api.phones.push({
    aor: `reception@${realm}`,
    contact: 'sip:reception@192.0.2.2:5060',
    expiresAt: start + 3_600_000,
    remote: { transport: 'udp', address: '192.0.2.2', port: 5060 },
  })
  api.storage.alerts.raise({ account_sid, alert_type: 'no-tts', message: 'no voice', vendor: 'google' })
}
