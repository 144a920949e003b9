// Every field of every body, query and path with wrong values: the response is a 4xx that names the field, no row is
// written and no internals are shown. Values are a fixed list and a random part; SWITCHHOOK_FUZZ_SEED repeats one.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { covers } from '../support/covers.ts'
import type { ApiRoute } from '../../src/api/define/route.ts'
import { apiRoutes } from '../../src/api/index.ts'
import type { ApiAnswer } from '../support/api-request.ts'
import { attemptsOf, isLegal, isTried, toSend, type Attempt } from './api/attempts.ts'
import { createRandomSource, hostileBodies, hostileTexts } from './api/hostile-values.ts'
import { parametersOf } from './api/valid-input.ts'
import type { Values } from './api/known-values.ts'
import { marks, openWorld, type World } from './api/world.ts'

// CI checks every change against the same values; local runs look for new ones.
const usualSeed = process.env['CI'] === 'true' ? 1 : Date.now() % 1_000_000
const random = createRandomSource(Number(process.env['SWITCHHOOK_FUZZ_SEED'] ?? usualSeed))
const maxReplayed = 60
const longPerRoute = 1
/** Whether only values that reach SQL are tried, on the second store: refusals before it do not depend on the store. */
const isSqlAlone = inject('store') === 'PostgreSQL'
// Enough to find faults within weeks of runs, few enough to keep each run under a minute.
const [chosen, drawn] = isSqlAlone ? [2, 1] : [3, 2]
const title = ({ method, path }: ApiRoute): string => `${method} ${path}`

/** Operations whose body cannot have every field: one refuses API keys, the others want one command at a time. */
const takesNoWhole = new Set(['changePassword', 'updateCall', 'updateCallByPost'])
/** Fields for texts of people or for other documents: line breaks belong to them, and they reach no header. */
const takesLineBreaks = new Set(['app_json', 'file', 'options', 'service_key', 'text', 'voice_cloning_key'])
const isPassword = (name: string): boolean => /^(initial|old|new)_password$/.test(name)
// Refusals that concern the whole record.
const aboutNoField = /already has a routing table|nothing to change|one half of a surrogate pair/
// Internals that a response must not show to a stranger.
const inside =
  /SQLITE|\bSQL\b|constraint|SELECT |INSERT |node_modules|\.ts\b|\bat \w+ \(|\/tmp\/|\/home\/|\bundefined\b|\[object|prototype of|Cannot read|is not a function/

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

function send(route: ApiRoute, path: string, body?: unknown): Promise<ApiAnswer> {
  return world.api.request(route.method, path, world.api.adminKey, body === undefined ? {} : { body })
}

/** Returns the request and the response, short enough to read, with the seed. */
function story(sent: unknown, { status, text }: Pick<ApiAnswer, 'status' | 'text'>): string {
  return `${JSON.stringify(sent)?.slice(0, 300)} -> ${status} ${text.slice(0, 300)} (SWITCHHOOK_FUZZ_SEED=${random.seed})`
}

function expectHarmless(answer: ApiAnswer, sent: unknown): void {
  const { status, text, body } = answer
  if (status < 400) return
  const { msg } = (body ?? {}) as Values
  const isHarmless = status < 500 && typeof msg === 'string' && !inside.test(text) && text.length < 2_000
  if (!isHarmless) expect.fail(story(sent, answer))
}

const withBody = apiRoutes.filter(({ body }) => body !== undefined)
describe.each(withBody.map((route) => [title(route), route] as const))('%s', (_title, route) => {
  const { body: fields = {}, bodyIs } = route
  const mode = route.isPartial === true ? 'update' : 'create'

  // Random changes would make an account useless for the other routes.
  let made: Promise<string> | undefined
  const target = (): Promise<string> =>
    (made ??= world.input.path(route, world.api.own, route.method === 'PUT'))

  async function bodyWith({ name, value }: Attempt): Promise<unknown> {
    if (bodyIs !== undefined) return JSON.stringify(value)
    const valid = (await world.input.body(route, world.api.own)) as Values
    return { ...valid, [name]: value }
  }

  it(
    'the body that the declaration describes is accepted, with every field in it',
    covers({
      section: 'Not shown',
      says: 'The REST shape of LCR routes and carrier entries.',
      chosen: 'LcrRoutes and LcrCarrierSetEntries, and all of a table at once at /Lcrs/{LcrSid}/Routes.',
    }),
    async () => {
      if (route.access === 'public' || takesNoWhole.has(route.operationId)) return
      const path = await target()
      const answer = await send(route, path, await world.input.body(route, world.api.own, true))
      expect(answer.status, answer.text).toBe(route.reply.status)
    },
  )

  it('a wrong value of a field is refused in the 4xx with its name, and nothing is written', async () => {
    const path = await target()
    const attempts = attemptsOf(fields, random, { chosen, drawn })
    const [legal = [], wrong = []] = [true, false].map((wanted) =>
      attempts.filter(({ name, value }) => {
        const facts = fields[name]?.facts
        return (facts === undefined || isLegal(name, value, facts, mode)) === wanted
      }),
    )
    const known = Object.keys(fields).filter((name) => isTried(fields[name]?.facts, mode))
    if (!isSqlAlone) await expectRefused(path, toSend(wrong, known))
    const refused: unknown[] = []
    for (const attempt of toSend(legal, known)) {
      const body = await bodyWith(attempt)
      const answer = await send(route, path, body)
      expectHarmless(answer, { [attempt.name]: attempt.value })
      if (answer.status >= 400) refused.push(body)
      if (answer.status === 400) expectNamed(attempt, answer)
      if (answer.status < 400) expectOneLine(attempt)
    }
    await expectNothingWritten(path, refused)
  })

  async function expectRefused(path: string, attempts: readonly Attempt[]): Promise<void> {
    // The valid body makes records, so it is made before the count. All attempts are refused, so one body is enough.
    const valid = bodyIs === undefined ? ((await world.input.body(route, world.api.own)) as Values) : {}
    const before = await marks(world.api)
    for (const attempt of attempts) {
      const { name, value } = attempt
      const body = bodyIs === undefined ? { ...valid, [name]: value } : JSON.stringify(value)
      const answer = await send(route, path, body)
      expectHarmless(answer, { [name]: value })
      if (answer.status < 400) expect.fail(`taken, and not documented: ${story(attempt, answer)}`)
      if (answer.status === 400) expectNamed(attempt, answer)
    }
    expect(await marks(world.api), `SWITCHHOOK_FUZZ_SEED=${random.seed}`).toEqual(before)
  }

  /** Checks that refusals write nothing. A body that an earlier change has made valid is not a refusal any more. */
  async function expectNothingWritten(path: string, refused: readonly unknown[]): Promise<void> {
    let before = await marks(world.api)
    for (const body of random.some(refused, maxReplayed)) {
      const { status } = await send(route, path, body)
      if (status < 400) before = await marks(world.api)
    }
    expect(await marks(world.api), `SWITCHHOOK_FUZZ_SEED=${random.seed}`).toEqual(before)
  }

  /** Checks that the refusal names the field, or the other one if two fields exclude each other. */
  function expectNamed(attempt: Attempt, answer: ApiAnswer): void {
    const { msg } = answer.body as { msg: string }
    const isNamed = Object.keys(fields).some((name) => msg.includes(name.replace(/_sid$/, '')))
    if (!isNamed && !aboutNoField.test(msg)) expect.fail(story({ [attempt.name]: attempt.value }, answer))
  }

  /** Checks that no line break can reach a SIP header. */
  function expectOneLine({ name, value }: Attempt): void {
    if (typeof value !== 'string' || takesLineBreaks.has(name) || isPassword(name)) return
    const isIgnored = mode === 'update' && fields[name]?.facts.onUpdate !== 'change'
    expect(isIgnored || !/[\r\n\0]/.test(value), `${name} took a line break: ${JSON.stringify(value)}`).toBe(
      true,
    )
  }

  if (!isSqlAlone) {
    it('a text of a megabyte is refused in any field', async () => {
      const path = await target()
      for (const [name, { facts }] of random.some(Object.entries(fields), longPerRoute)) {
        if (facts.presence === 'read-only' || (mode === 'update' && facts.onUpdate !== 'change')) continue
        const answer = await send(route, path, await bodyWith({ name, value: 'x'.repeat(1_000_000) }))
        expectHarmless(answer, name)
        expect(answer.status, story(name, answer)).toBeGreaterThanOrEqual(400)
      }
    })

    it('a body that is not a single document of a permitted size is refused, and nothing is written', async () => {
      const path = await target()
      const before = await marks(world.api)
      for (const { name, text } of hostileBodies) {
        const answer = await send(route, path, text)
        expectHarmless(answer, name)
        // Some routes have one status for every refusal in the specification.
        const allowed = route.asRefusal === undefined ? [400, 413] : [400, 403, 413]
        expect(allowed, story(name, answer)).toContain(answer.status)
        expect(({} as Values)['isAdmin'], name).toBeUndefined()
      }
      expect(await marks(world.api)).toEqual(before)
    })

    it('a document that is not an object is refused with the status of all refusals of the route', async () => {
      if (bodyIs !== undefined) return
      const path = await target()
      for (const text of ['[]', '"text"', '5', 'true', '[{}]']) {
        const answer = await send(route, path, text)
        expectHarmless(answer, text)
        expect(answer.status, story(text, answer)).toBe(
          route.errors?.includes('user_refused') === true ? 403 : 400,
        )
      }
    })
  }

  it('a foreign record, or one of another kind, is not accepted for the one that a field names', async () => {
    const references = Object.entries(fields).filter(([, { facts }]) => facts.references !== undefined)
    const path = await target()
    const stranger = await world.input.id({ name: 'ClientSid', collection: '/Clients' }, world.api.foreign)
    for (const [name, { facts }] of references) {
      if (mode === 'update' && facts.onUpdate !== 'change') continue
      const answer = await send(route, path, await bodyWith({ name, value: stranger }))
      expectHarmless(answer, { [name]: stranger })
      expect([400, 403, 404], story({ [name]: stranger }, answer)).toContain(answer.status)
    }
  })
})

const withQuery = apiRoutes.filter(({ query }) => query !== undefined)
describe.each(withQuery.map((route) => [title(route), route] as const))(
  'the query of %s',
  (_title, route) => {
    it('a wrong value of a parameter is refused in the 4xx, and nothing is written', async () => {
      if (route.access === 'public') return
      const path = await world.input.path(route, world.api.own)
      const valid = new URLSearchParams(await world.input.query(route, world.api.own))
      const before = await marks(world.api)
      for (const [name, { facts }] of Object.entries(route.query ?? {})) {
        // A repeated parameter is a list, whatever its values.
        const isKnown = isTried(facts, 'query')
        const texts = [
          ...(isKnown ? random.some(hostileTexts, chosen) : hostileTexts),
          ...Array.from({ length: drawn }, () => encodeURIComponent(random.text().toWellFormed())),
        ]
        for (const [index, text] of texts.entries()) {
          const others = [...valid]
            .filter(([other]) => other !== name)
            .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
          const once = [`${name}=${text}`, ...others]
          const twice = [`${name}=a`, ...once]
          for (const query of index > 0 ? [once] : [once, twice])
            expectHarmless(await send(route, `${path}?${query.join('&')}`), query)
        }
      }
      if (route.query?.['regenerate'] === undefined) expect(await marks(world.api)).toEqual(before)
    })
  },
)

// All methods of a path parse its ids in the same way, so the second store gets them by one method.
const withParameters = apiRoutes.filter(
  ({ path }, index) =>
    parametersOf(path).length > 0 &&
    !(isSqlAlone && apiRoutes.findIndex((other) => other.path === path) < index),
)
describe.each(withParameters.map((route) => [title(route), route] as const))(
  'the path of %s',
  (_title, route) => {
    it('a text that is not an id is refused in the 4xx', async () => {
      const parameters = parametersOf(route.path)
      const query = await world.input.query(route, world.api.own)
      for (const { name } of parameters) {
        for (const text of hostileTexts.filter((one) => one !== '')) {
          let path = route.path.replace(`{${name}}`, text)
          for (const other of parameters)
            path = path.replace(
              `{${other.name}}`,
              encodeURIComponent(await world.input.id(other, world.api.own)),
            )
          // A text that is a name, such as a realm, may be accepted; it must not be that of an account in use.
          const body = route.body === undefined ? undefined : await world.input.body(route, world.api.own)
          expectHarmless(await send(route, path + query, body), path)
        }
      }
    })
  },
)
