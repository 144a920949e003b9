// Secrets set through the API, in every secret field: they are found neither in the database, nor in the log, nor in a
// response that should mask them.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../support/covers.ts'
import type { FieldFacts } from '../../src/api/define/field.ts'
import type { ApiRoute } from '../../src/api/define/route.ts'
import { apiRoutes } from '../../src/api/index.ts'
import { createLogger } from '../../src/lib/log.ts'
import { createUser, testPassword } from '../support/api-tenants.ts'
import { parametersOf } from './api/valid-input.ts'
import { openWorld, type World } from './api/world.ts'

interface Planted {
  readonly where: string
  readonly value: string
}

/** Fields returned in clear: a client that may read the record edits it in a form that sends all fields back. */
const shown = new Set([
  'createWebhook.password',
  'call_hook.password',
  'createApplication.env_vars',
  'createApplicationOfAccount.env_vars',
])
const isSecretName = (name: string): boolean =>
  /password|secret|token|api_key|auth_key|private_key|client_key|env_vars|credential/.test(name) &&
  !/_sid$|_url$|_uri$|require|length|min_/.test(name)

let world: World
let log = ''
const planted: Planted[] = []
/** Secrets that the platform made, found in its responses. */
const issued: Planted[] = []

function plant(where: string): string {
  const value = `Pl4nt!${(planted.length + 1).toString().padStart(4, '0')}${Math.random().toString(16).slice(2, 10)}`
  planted.push({ where, value })
  return value
}

beforeAll(async () => {
  world = await openWorld({ log: createLogger('debug', { write: (line) => (log += line) }) })
  const { own, adminKey } = world.api
  for (const route of apiRoutes.filter(isMaker)) {
    const body = (await world.input.body(route, own)) as Record<string, unknown>
    for (const [name, { facts }] of Object.entries(route.body ?? {})) {
      const value = secretFor(`${route.operationId}.${name}`, name, facts)
      if (value !== undefined) body[name] = value
    }
    const path = await world.input.path(route, own)
    const made = await world.send('POST', path, { authorization: `Bearer ${adminKey}`, body })
    expect(made.status, `${route.operationId}: ${made.text}`).toBeLessThan(300)
    noteIssued(route, made.body)
    // The same secrets in a body that is refused: refusals are logged too.
    await world.send('POST', path, {
      authorization: `Bearer ${adminKey}`,
      body: { ...body, name: 5, account_sid: 'x' },
    })
    await world.send('POST', path, { authorization: 'Bearer wrong', body })
  }
  await signIn()
  const secret = await world.api.get(`/Accounts/${own.account_sid}/WebhookSecret`, adminKey)
  issued.push({
    where: 'account.webhook_secret',
    value: (secret.body as { webhook_secret: string }).webhook_secret,
  })
})
afterAll(() => world.close())

function isMaker({ method, body, bodyIs, isPartial, access, reply }: ApiRoute): boolean {
  return (
    method === 'POST' &&
    reply.status !== 204 &&
    body !== undefined &&
    isPartial !== true &&
    bodyIs === undefined &&
    access !== 'public'
  )
}

function secretFor(where: string, name: string, { presence, isHook, schema }: FieldFacts): unknown {
  if (presence === 'read-only') return undefined
  if (isHook === true)
    return { url: 'https://app.example.com/a', username: 'u', password: plant(`${name}.password`) }
  if (!isSecretName(name)) return undefined
  if (name === 'env_vars') return { greeting: plant(where) }
  if (name === 'bucket_credential')
    return {
      vendor: 'aws_s3',
      name: 'b',
      region: 'eu-west-1',
      access_key_id: 'AKIA',
      secret_access_key: `${plant(where)}-and-more`,
    }
  return [schema['type']].flat().includes('string') && schema['enum'] === undefined ? plant(where) : undefined
}

function noteIssued({ operationId }: ApiRoute, body: unknown): void {
  for (const [name, value] of Object.entries((body ?? {}) as Record<string, unknown>))
    if (isSecretName(name) && typeof value === 'string')
      issued.push({ where: `${operationId}.${name}`, value })
}

/** Logs in with a right and a wrong password, and notes the token. */
async function signIn(): Promise<void> {
  const name = await createUser(world.api.storage)
  planted.push({ where: 'login.password', value: testPassword })
  const right = await world.send('POST', '/login', { body: { username: name, password: testPassword } })
  expect(right.status).toBe(200)
  issued.push({ where: 'login.token', value: (right.body as { token: string }).token })
  await world.send('POST', '/login', { body: { username: name, password: plant('login.wrong password') } })
  await world.send('POST', '/login', { body: { username: 5, password: plant('login.refused password') } })
}

/** Returns a value as text, and in the encodings in which text is stored. */
function formsOf(value: string): Buffer[] {
  const bytes = Buffer.from(value)
  return [
    bytes,
    Buffer.from(value, 'utf16le'),
    Buffer.from(bytes.toString('hex')),
    Buffer.from(bytes.toString('base64').replace(/=+$/, '').slice(0, -1)),
    Buffer.from(JSON.stringify(value).slice(1, -1)),
  ]
}

function foundIn(haystack: Buffer, secrets: readonly Planted[]): string[] {
  return secrets
    .filter(({ value }) => formsOf(value).some((form) => haystack.includes(form)))
    .map(({ where }) => where)
}

/** Returns the contents of the database and of every file of the data folder. */
async function storedBytes(): Promise<Buffer> {
  const names = await readdir(world.api.dataDir)
  // The key decrypts the secrets, so it is left out.
  const files = names.filter((name) => name !== 'secret.key')
  return Buffer.concat([
    Buffer.from(await world.api.contents(), 'latin1'),
    ...(await Promise.all(files.map((name) => readFile(join(world.api.dataDir, name))))),
  ])
}

describe('secrets', () => {
  it('secrets are planted in every secret field', () => {
    const fields = planted.map(({ where }) => where)
    expect(fields).toEqual(
      expect.arrayContaining([
        'createWebhook.password',
        'createClient.password',
        'createApplication.env_vars',
        'createAccount.bucket_credential',
        'call_hook.password',
        'registration_hook.password',
      ]),
    )
    expect(issued.map(({ where }) => where)).toEqual(
      expect.arrayContaining(['createApiKey.token', 'account.webhook_secret', 'login.token']),
    )
  })

  it('secrets are not in the files of the database, though the records are', async () => {
    const stored = await storedBytes()
    expect(stored.includes('https://app.example.com/a')).toBe(true)
    expect(foundIn(stored, planted)).toEqual([])
    expect(foundIn(stored, issued)).toEqual([])
  })

  it('secrets are not in the log at its most verbose level, though the requests are', () => {
    const text = Buffer.from(log)
    expect(log).toContain('request answered')
    expect(foundIn(text, planted)).toEqual([])
    expect(foundIn(text, issued)).toEqual([])
  })

  it(
    'secrets are masked in every response that is not a form to be sent back',
    covers({
      section: 'Not shown',
      says: 'The body of POST /Users and the fields of a user.',
      chosen: '`{user_sid}`; the record never has the hash of the password.',
    }),
    async () => {
      const masked = [...planted, ...issued].filter(
        ({ where }) =>
          !shown.has(where) && !/_hook\.password$/.test(where) && where !== 'account.webhook_secret',
      )
      const { own, adminKey } = world.api
      for (const route of apiRoutes.filter(({ method }) => method === 'GET')) {
        for (const token of [adminKey, own.providerKey, own.accountKey]) {
          const path = (await world.input.path(route, own)) + (await world.input.query(route, own))
          const answer = await world.send('GET', path, { authorization: `Bearer ${token}` })
          expect(foundIn(Buffer.from(answer.text), masked), `${route.method} ${route.path}`).toEqual([])
          await eachRecord(route, answer.body, async (recordPath) => {
            const record = await world.send('GET', recordPath, { authorization: `Bearer ${token}` })
            expect(foundIn(Buffer.from(record.text), masked), recordPath).toEqual([])
          })
        }
      }
    },
  )
})

/** Visits the records of a list one by one: the planted records are not the ones that the paths name. */
async function eachRecord(
  route: ApiRoute,
  body: unknown,
  visit: (path: string) => Promise<void>,
): Promise<void> {
  const one = apiRoutes.find(({ method, path }) => method === 'GET' && path.startsWith(`${route.path}/{`))
  const [parameter] = one === undefined ? [] : parametersOf(one.path)
  if (
    !Array.isArray(body) ||
    one === undefined ||
    parameter === undefined ||
    one.path !== `${route.path}/{${parameter.name}}`
  )
    return
  const key = `${parameter.name
    .replace(/Sid$/, '')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()}_sid`
  for (const record of body as Record<string, unknown>[])
    if (typeof record[key] === 'string') await visit(`${route.path}/${record[key]}`)
}
