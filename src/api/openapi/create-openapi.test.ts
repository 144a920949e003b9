import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isSid } from '../../lib/ids.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import type { ApiAnswer } from '../../../test/support/api-request.ts'
import { apiRoutes } from '../index.ts'

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly security?: unknown[]
  readonly requestBody?: object
  readonly responses: Record<string, { content?: Record<string, { schema: object }> }>
}

interface Document {
  readonly openapi: string
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { readonly schemas: Record<string, object> }
}

let api: TestApi
let document: Document
const ajv = new Ajv2020({ strict: false, formats: { uuid: isSid, 'date-time': /^\d{4}-.*Z$/ } })
beforeAll(async () => {
  api = await openTestApi()
  const answer = await api.get('/openapi.json')
  expect(answer.status).toBe(200)
  document = answer.body
  ajv.addSchema(document, 'document')
})
afterAll(() => api.close())

function operationOf(method: string, path: string): Operation {
  return document.paths[path]![method.toLowerCase()]!
}

/** Returns the faults of a response, compared with its schema in the document. */
function faultsOf(method: string, path: string, { status, body }: ApiAnswer): unknown {
  const reply = operationOf(method, path).responses[status]
  if (reply === undefined) return `status ${status} is not documented`
  if (reply.content === undefined) return body === undefined ? undefined : 'a body is not documented'
  const pointer = [path, method.toLowerCase(), 'responses', String(status), 'content', 'application/json']
  const escaped = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
  const validate = ajv.getSchema(`document#/paths/${escaped.join('/')}/schema`)
  if (validate === undefined) return 'no schema'
  return validate(body) === true ? undefined : validate.errors
}

describe('/v1/openapi.json', () => {
  it('is OpenAPI 3.1, served without authentication, with every route in it', () => {
    expect(document.openapi).toBe('3.1.0')
    for (const { method, path } of apiRoutes) expect(operationOf(method, path), path).toBeDefined()
  })

  it('names each operation once, with a summary and its errors', () => {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { operationId, summary, security, responses } of operations) {
      expect(summary, operationId).toMatch(/\.$/)
      expect(responses, operationId).toHaveProperty('500')
      if (security === undefined) expect(responses, operationId).toHaveProperty('401')
    }
  })

  it('refers to nothing that is not there', () => {
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)
    for (const [, name] of references) expect(document.components.schemas).toHaveProperty(name!)
  })

  it('has no schema of a name that generators of clients make from an operation', () => {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
    const colliding = operations.flatMap(({ operationId, requestBody }) =>
      ['Result', 'Body', 'Params', 'Response']
        .map((suffix) => `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}${suffix}`)
        .filter((name) => document.components.schemas[name] !== undefined)
        // Generators make no name for a body that refers to a schema.
        .filter((name) => !JSON.stringify(requestBody ?? {}).includes(`/schemas/${name}"`)),
    )
    expect(colliding).toEqual([])
  })

  it('marks each reply that is no JSON as bytes, which generators of clients would read as text', () => {
    const replies = Object.values(document.paths)
      .flatMap((path) => Object.values(path))
      .flatMap(({ operationId, responses }) =>
        Object.values(responses).flatMap(({ content = {} }) =>
          Object.entries(content).map(([type, { schema }]) => ({ operationId, type, schema })),
        ),
      )
      .filter(({ type }) => type !== 'application/json')
    expect(replies.map(({ operationId }) => operationId)).toContain('getRecording')
    for (const { operationId, schema } of replies)
      expect(schema, operationId).toMatchObject({ type: 'string', format: 'binary' })
  })

  it('describes what is answered', async () => {
    const { account_sid, service_provider_sid, accountKey } = api.own
    const hook = { url: 'https://a.example.com' }
    const application = {
      name: 'a',
      account_sid,
      call_hook: hook,
      call_status_hook: hook,
      env_vars: { a: 1 },
    }
    const made = await api.post('/Applications', accountKey, application)
    expect(faultsOf('POST', '/Applications', made)).toBeUndefined()
    const { sid } = made.body as { sid: string }
    const client = await api.post('/Clients', accountKey, { username: 'u', password: 'secret' })
    const clientSid = (client.body as { sid: string }).sid
    for (const [path, real] of [
      ['/Applications', '/Applications'],
      ['/Applications', '/Applications?page=1'],
      ['/Applications/{ApplicationSid}', `/Applications/${sid}`],
      ['/Applications/{ApplicationSid}', '/Applications/none'],
      ['/Accounts', '/Accounts'],
      ['/Accounts/{AccountSid}', `/Accounts/${account_sid}`],
      ['/Accounts/{AccountSid}', `/Accounts/${api.foreign.account_sid}`],
      ['/Accounts/{AccountSid}/ApiKeys', `/Accounts/${account_sid}/ApiKeys`],
      ['/Accounts/{AccountSid}/CallCount', `/Accounts/${account_sid}/CallCount`],
      ['/Accounts/{AccountSid}/RecentCalls', `/Accounts/${account_sid}/RecentCalls?page=1&count=1`],
      ['/Accounts/{AccountSid}/RecentCalls', `/Accounts/${account_sid}/RecentCalls`],
      ['/Accounts/{AccountSid}/RegisteredSipUsers', `/Accounts/${account_sid}/RegisteredSipUsers`],
      ['/Accounts/{AccountSid}/RegisteredSipUsers/{Client}', `/Accounts/${account_sid}/RegisteredSipUsers/u`],
      ['/Clients', '/Clients'],
      ['/Clients/{ClientSid}', `/Clients/${clientSid}`],
      ['/ServiceProviders/{ServiceProviderSid}', `/ServiceProviders/${service_provider_sid}`],
    ] as const)
      expect(faultsOf('GET', path, await api.get(real, accountKey)), real).toBeUndefined()
  })
})
