// The interface spec, endpoint by endpoint: every status in its tables is reached, every success has the spec's shape
// and types, every error has {msg}.
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiRoutes } from '../../src/api/index.ts'
import { openTestApi, type TestApi } from '../support/api.ts'
import type { ApiAnswer } from '../support/api-request.ts'
import { covers } from '../support/covers.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { createValidInput, type ValidInput } from './api/valid-input.ts'
import { cases } from './spec/cases.ts'
import { neverAnsweredBy, sentencesOf } from './spec/endpoint-sentences.ts'
import { neverAnswered, specEndpoints, type SpecEndpoint } from './spec/endpoints.ts'
import { shapes } from './spec/shapes.ts'

const ajv = new Ajv2020({ strict: false })
const published = { greeting: { type: 'string', description: 'What callers hear first.' } } as const

let api: TestApi
let input: ValidInput

async function open(): Promise<void> {
  api = await openTestApi({
    clock: createFakeClock(),
    appEnv: {
      ask: async (url) =>
        url.includes('nonsense')
          ? { outcome: 'invalid', fault: 'greeting has no type' }
          : { outcome: 'schema', schema: published },
    },
  })
  input = createValidInput(api, (method, path, token, body) => api.request(method, path, token, { body }))
}

/** Returns the statuses that a case must reach: all in the spec's row except 500, which is the same for all. */
function statusesOf({ endpoint, success, errors }: SpecEndpoint): readonly number[] {
  return [
    success,
    ...errors.filter((status) => status !== 500 && neverAnswered[`${endpoint} ${status}`] === undefined),
  ]
}

function expectShape({ status, body, text }: ApiAnswer, { success, body: shape }: SpecEndpoint): void {
  if (status === 204) {
    expect(text).toBe('')
    return
  }
  const name = status === success ? shape : 'error'
  if (name === undefined) return
  const validate = ajv.compile(shapes[name])
  expect(validate(body), `${text.slice(0, 500)} ${JSON.stringify(validate.errors)}`).toBe(true)
}

describe.each(specEndpoints.map((row) => [row.endpoint, row] as const))('%s', (endpoint, row) => {
  beforeAll(open)
  afterAll(() => api.close())

  it('is declared', covers(...neverAnsweredBy(row)), () => {
    expect(apiRoutes.map(({ method, path }) => `${method} ${path}`)).toContain(endpoint)
  })

  for (const status of statusesOf(row))
    it(`answers ${status} as the specification says`, covers(...sentencesOf(row, status)), async () => {
      const reach = cases[endpoint]?.[status]
      expect(reach, 'no case in spec/cases.ts').toBeDefined()
      const answer = await reach!({ api, input })
      expect(answer.status, answer.text).toBe(status)
      expectShape(answer, row)
    })

  it('there is no case for a status that the specification does not list', () => {
    const reached = Object.keys(cases[endpoint] ?? {}).map(Number)
    expect(reached.filter((status) => !statusesOf(row).includes(status))).toEqual([])
  })

  if (!row.errors.includes(500)) return

  it(
    'answers 500 {msg} when the database is gone, without a word of the inside',
    covers(...sentencesOf(row, 500)),
    async () => {
      const route = apiRoutes.find(({ method, path }) => `${method} ${path}` === endpoint)!
      const path = (await input.path(route, api.own)) + (await input.query(route, api.own))
      const body = await input.body(route, api.own)
      // The key is cached from here on, so the endpoint fails and not the authentication.
      await api.get('/ApiKeys', api.adminKey)
      await api.storage.stop()
      const answer = await api.request(route.method, path, api.adminKey, { body })
      expect(answer.status, answer.text).toBe(500)
      expectShape(answer, row)
      expect(answer.body).toHaveProperty('msg', 'something went wrong on our side')
    },
  )
})

it('the specification has each endpoint that spec/cases.ts has cases for', () => {
  const listed = new Set(specEndpoints.map(({ endpoint }) => endpoint))
  expect(Object.keys(cases).filter((endpoint) => !listed.has(endpoint))).toEqual([])
})
