// A platform with data behind a real socket: three tenants with a record of every kind, and a client of every kind.
import { Agent, request as httpRequest } from 'node:http'
import { apiRoutes } from '../../../src/api/index.ts'
import { documented } from '../../support/documented.ts'
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts'
import { apiKeyColumns, hashApiKey } from '../../../src/lib/api-key.ts'
import { systemTenancy } from '../../../src/contracts/caller.ts'
import type { Level } from '../../../src/http/route.ts'
import { createSid, randomUuid } from '../../../src/lib/ids.ts'
import { descriptors } from '../../../src/storage/rows/descriptors.ts'
import { openTestApi, type TestApi, type TestApiOptions } from '../../support/api.ts'
import type { TestTenant } from '../../support/api-tenants.ts'
import { until } from '../../support/wait.ts'
import { createValidInput, type ValidInput } from './valid-input.ts'

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly body: unknown
}

export interface SendOptions {
  /** The whole value of the Authorization header. */
  readonly authorization?: string | undefined
  /** The body. A string is sent unchanged. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A client, with the level of its rights; with `none` its token is invalid. */
export interface WorldCaller {
  readonly name: string
  readonly authorization: string | undefined
  readonly level: Level | 'none'
  readonly isViewOnly: boolean
  readonly isUser: boolean
  /** The status with which every guarded route refuses it. */
  readonly refusal?: 400 | 401
}

export type TargetName = 'own' | 'sibling' | 'foreign' | 'missing'
export const targetNames: readonly TargetName[] = ['own', 'sibling', 'foreign', 'missing']

export interface World {
  readonly api: TestApi
  readonly clock: FakeClock
  readonly input: ValidInput
  readonly callers: readonly WorldCaller[]
  /** Sends a request over the socket and checks the response against the OpenAPI document. `path` is below /v1. */
  send(method: string, path: string, options?: SendOptions): Promise<HttpAnswer>
  tenant(target: TargetName): TestTenant
  close(): Promise<void>
}

export async function openWorld(options: Omit<TestApiOptions, 'clock'> = {}): Promise<World> {
  const clock = createFakeClock()
  const api = await openTestApi({ ...options, clock })
  await api.http.start()
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const send = createSender(agent, api.http.address.port)
  const input = createValidInput(api, (method, path, token, body) =>
    send(method, path, { authorization: `Bearer ${token}`, body }),
  )
  const missing: TestTenant = { ...api.foreign, account_sid: createSid(), service_provider_sid: createSid() }
  return {
    api,
    clock,
    input,
    send,
    callers: await createCallers(api, clock),
    tenant: (target) => (target === 'missing' ? missing : api[target]),
    async close() {
      agent.destroy()
      await api.close()
    },
  }
}

function createSender(agent: Agent, port: number): World['send'] {
  return (method, path, { authorization, body, headers = {} } = {}) =>
    new Promise((resolve, reject) => {
      const payload = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
      const request = httpRequest(
        {
          agent,
          port,
          host: '127.0.0.1',
          method,
          path: `/v1${path}`,
          headers: {
            'content-type': 'application/json',
            ...(authorization === undefined ? {} : { authorization }),
            ...(payload === undefined ? {} : { 'content-length': Buffer.byteLength(payload) }),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8')
            const contentType = response.headers['content-type']
            const isJson = contentType?.startsWith('application/json') === true
            const parsed: unknown = text === '' ? undefined : isJson ? JSON.parse(text) : text
            const answer = { status: response.statusCode ?? 0, headers: response.headers, text, body: parsed }
            const fault = documented().faultOf(method, path, { ...answer, contentType })
            if (fault === undefined) resolve(answer)
            else
              reject(
                new Error(`${method} ${path} answered ${answer.status}, undocumented: ${fault}\n${text}`),
              )
          })
        },
      )
      request.on('error', reject)
      request.end(payload)
    })
}

async function createCallers(api: TestApi, clock: FakeClock): Promise<WorldCaller[]> {
  const { account_sid, service_provider_sid, accountKey, providerKey } = api.own
  const keys = api.storage.for(systemTenancy).api_keys
  const makeKey = async (row: object): Promise<string> => {
    const token = randomUuid()
    await keys.insert({ ...apiKeyColumns(token), ...row })
    return token
  }
  const expiredJwt = await api.logIn({ account_sid, service_provider_sid })
  clock.advance(2 * 3_600_000)
  const expiredKey = await makeKey({ expires_at: clock.now() - 1 })
  const revokedKey = await makeKey({ account_sid })
  const [row] = await keys.list({ where: { token_hash: hashApiKey(revokedKey) } })
  const answer = await api.delete(`/ApiKeys/${row?.api_key_sid}`, api.adminKey)
  if (answer.status !== 204) throw new Error(`revoking a key answered ${answer.status}`)

  const noCaller = { level: 'none', isViewOnly: false, isUser: false } as const
  const key = { isViewOnly: false, isUser: false } as const
  const user = { isViewOnly: false, isUser: true } as const
  const ofAccount = { account_sid, service_provider_sid }
  const bearer = (token: string): string => `Bearer ${token}`
  return [
    { name: 'no token', authorization: undefined, ...noCaller, refusal: 401 },
    { name: 'a malformed header', authorization: 'Bearer a b', ...noCaller, refusal: 400 },
    { name: 'an unknown key', authorization: bearer(createSid()), ...noCaller, refusal: 401 },
    { name: 'an expired key', authorization: bearer(expiredKey), ...noCaller, refusal: 401 },
    { name: 'a revoked key', authorization: bearer(revokedKey), ...noCaller, refusal: 401 },
    { name: 'an expired JWT', authorization: bearer(expiredJwt), ...noCaller, refusal: 401 },
    {
      name: 'a view-only user',
      authorization: bearer(await api.logIn({ ...ofAccount, permissions: ['VIEW_ONLY'] })),
      level: 'account',
      isViewOnly: true,
      isUser: true,
    },
    { name: 'an account key', authorization: bearer(accountKey), level: 'account', ...key },
    { name: 'an account user', authorization: bearer(await api.logIn(ofAccount)), level: 'account', ...user },
    { name: 'a provider key', authorization: bearer(providerKey), level: 'service_provider', ...key },
    {
      name: 'a provider user',
      authorization: bearer(await api.logIn({ service_provider_sid })),
      level: 'service_provider',
      ...user,
    },
    { name: 'an admin key', authorization: bearer(api.adminKey), level: 'admin', ...key },
    { name: 'an admin user', authorization: bearer(await api.logIn({})), level: 'admin', ...user },
  ]
}

/** Makes a record of every kind that an endpoint makes, in every tenant, so that a leak could show. */
export async function seedEverything(world: World): Promise<void> {
  for (const target of ['own', 'sibling', 'foreign'] as const) {
    const { api, input } = world
    const owner = world.tenant(target)
    for (const route of apiRoutes) if (route.path.endsWith('}')) await input.path(route, owner)
    // These are made below a tenant, and no path names them directly.
    const makers = apiRoutes.filter(({ method, reply }) => method === 'POST' && reply.status === 201)
    for (const route of makers.filter(({ path }) => path.includes('{')))
      await world.send('POST', await input.path(route, owner), {
        authorization: `Bearer ${api.adminKey}`,
        body: await input.body(route, owner),
      })
  }
}

/** A row of the platform, its mark `table/key/version`, and its owner. A changed row has another version. */
export interface StoredRow {
  readonly table: string
  readonly sid: string
  readonly mark: string
  readonly account_sid: string | null
  readonly service_provider_sid: string | null
}

/** Tables that change by use, or when the test itself logs in. */
const restless = new Set(['api_keys', 'user_sessions', 'settings'])

interface Stored {
  readonly version: string
  readonly rows: readonly StoredRow[]
}

const lastStored = new WeakMap<TestApi, Stored>()

/**
 * Returns the rows of the database itself. It runs before and after every cell of a table, and most cells only read, so
 * the same array is returned until a transaction has been committed.
 */
export async function storedRows(api: TestApi): Promise<readonly StoredRow[]> {
  const version = await dataVersion(api)
  const last = lastStored.get(api)
  if (last?.version === version) return last.rows
  const rows = await readRows(api)
  lastStored.set(api, { version, rows })
  return rows
}

/** Returns a version that each commit changes. It is read before the rows, so a commit in between shows next time. */
async function dataVersion(api: TestApi): Promise<string> {
  const ask =
    api.databaseUrl === undefined
      ? 'pragma data_version'
      : 'select pg_current_snapshot()::text as data_version'
  const [row] = await api.query(ask)
  return String(row?.['data_version'])
}

async function readRows(api: TestApi): Promise<StoredRow[]> {
  const rows = await api.query(await everyRow(api))
  return rows.map((row) => {
    const [table, sid] = [String(row['name']), String(row['sid'])]
    const version = restless.has(table) ? '' : `/${String(row['version'])}`
    return {
      table,
      sid,
      mark: `${table}/${sid}${version}`,
      account_sid: row['account_sid'] as string | null,
      service_provider_sid: row['service_provider_sid'] as string | null,
    }
  })
}

const statements = new WeakMap<TestApi, Promise<string>>()

function everyRow(api: TestApi): Promise<string> {
  const known = statements.get(api) ?? composeEveryRow(api)
  statements.set(api, known)
  return known
}

const columnsOfSqlite =
  'select tables.name as name, columns.name as column_name from sqlite_master tables, pragma_table_info(tables.name) columns'
const columnsOfPostgres =
  "select table_name as name, column_name from information_schema.columns where table_schema = 'public'"

/** Returns a query for the rows of every table. Tables differ in which of these columns they have. */
async function composeEveryRow(api: TestApi): Promise<string> {
  const columns = await api.query(api.databaseUrl === undefined ? columnsOfSqlite : columnsOfPostgres)
  const present = new Set(columns.map((row) => `${String(row['name'])}.${String(row['column_name'])}`))
  const textOf = (table: string, column: string): string =>
    `cast(${present.has(`${table}.${column}`) ? column : 'null'} as text)`
  return Object.entries(descriptors)
    .map(
      ([table, { key }]) =>
        `select '${table}' as name, ${textOf(table, key)} as sid, ${textOf(table, 'version')} as version, ` +
        `${textOf(table, 'account_sid')} as account_sid, ${textOf(table, 'service_provider_sid')} as service_provider_sid from ${table}`,
    )
    .join(' union all ')
}

/** Returns the marks of all rows, once no answered request has unfinished work. */
export async function marks(api: TestApi): Promise<string[]> {
  const rows = await until('password resets to be mailed', async () => {
    const found = await storedRows(api)
    return found.every(({ table }) => table !== 'password_reset_requests') && found
  })
  return rows
    .filter(({ table }) => table !== 'user_sessions')
    .map(({ mark }) => mark)
    .sort()
}
