// The spec's tables of request fields, field by field: required or optional as the table says, and of its type.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiRoutes } from '../../src/api/index.ts'
import type { ApiRoute } from '../../src/api/define/route.ts'
import { openTestApi, type TestApi } from '../support/api.ts'
import { covers } from '../support/covers.ts'
import type { ApiAnswer } from '../support/api-request.ts'
import { createValidInput, type ValidInput } from './api/valid-input.ts'
import type { Values } from './api/known-values.ts'
import { requestFields, wrongValues } from './spec/request-fields.ts'

let api: TestApi
let input: ValidInput
beforeAll(async () => {
  api = await openTestApi()
  input = createValidInput(api, (method, path, token, body) => api.request(method, path, token, { body }))
})
afterAll(() => api.close())

function routeOf(endpoint: string): ApiRoute {
  const route = apiRoutes.find(({ method, path }) => `${method} ${path}` === endpoint)
  if (route === undefined) throw new Error(`${endpoint} is not declared`)
  return route
}

/** Sends a valid body with one field changed, as an administrator, from whom no owner can be derived. */
async function sendWith(endpoint: string, change: Values): Promise<ApiAnswer> {
  const route = routeOf(endpoint)
  const path = await input.path(route, api.own, true)
  const body = { ...((await input.body(route, api.own)) as Values), ...change }
  return api.request(route.method, path, api.adminKey, { body })
}

/** Returns the status of refusals: the spec has one for all refusals of users. */
const refusalOf = (endpoint: string): number => (endpoint.includes('/Users') ? 403 : 400)

describe.each(requestFields.map((row) => [`${row.endpoint}: ${row.field}`, row] as const))(
  '%s',
  (_title, { resource, endpoint, field, type, isRequired }) => {
    const covered = covers({
      section: `Fields: ${resource}`,
      says: `\`${endpoint}\`: \`${field}\` is a ${type}, ${isRequired ? 'required' : 'optional'}.`,
    })

    it(isRequired ? 'is refused when it is left out, and named' : 'may be left out', covered, async () => {
      const answer = await sendWith(endpoint, { [field]: undefined })
      if (!isRequired) return expect(answer.status, answer.text).toBe(routeOf(endpoint).reply.status)
      expect(answer.status, answer.text).toBe(refusalOf(endpoint))
      expect((answer.body as { msg: string }).msg).toContain(field)
    })

    it.each(wrongValues[type].map((value) => [JSON.stringify(value), value] as const))(
      'is refused when it is %s, and named',
      covered,
      async (_shown, value) => {
        const answer = await sendWith(endpoint, { [field]: value })
        expect(answer.status, answer.text).toBe(refusalOf(endpoint))
        expect((answer.body as { msg: string }).msg).toContain(field)
      },
    )
  },
)
