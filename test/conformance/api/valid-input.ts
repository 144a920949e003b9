// A valid request for any declared route, made from the declaration: bodies, queries and the ids in paths. Values that
// cannot be derived from a field's facts are in known-values.ts, by name.
import type { AnyField, FieldFacts, Fields } from '../../../src/api/define/field.ts'
import type { ApiRoute } from '../../../src/api/define/route.ts'
import { apiRoutes } from '../../../src/api/index.ts'
import { createSid } from '../../../src/lib/ids.ts'
import type { TestApi } from '../../support/api.ts'
import type { ApiAnswer } from '../../support/api-request.ts'
import type { TestTenant } from '../../support/api-tenants.ts'
import { serveLocally } from '../../support/local-http.ts'
import {
  alsoNeeded,
  known,
  knownIds,
  leftOut,
  onePerOwner,
  type OnePerOwner,
  type Values,
} from './known-values.ts'

type Answer = Pick<ApiAnswer, 'status' | 'text'>
type Send = (method: string, path: string, token: string, body: unknown) => Promise<Answer>

export interface ValidInput {
  /** Returns a body that the route accepts; with `isFull` it has every optional field. */
  body(route: ApiRoute, tenant: TestTenant, isFull?: boolean): Promise<unknown>
  /** Returns `?page=1&count=1`, or an empty string if the route needs no query. */
  query(route: ApiRoute, tenant: TestTenant): Promise<string>
  /** Returns the id of a record of this tenant for a parameter. */
  id(parameter: Parameter, tenant: TestTenant, isFresh?: boolean, having?: Values): Promise<string>
  /** Returns the path with records of this tenant; with `isFresh` the last one is made for this call. */
  path(route: Pick<ApiRoute, 'path'>, tenant: TestTenant, isFresh?: boolean): Promise<string>
}

export interface Parameter {
  readonly name: string
  /** The path before the parameter: `/Clients` of `/Clients/{ClientSid}`. */
  readonly collection: string
}

/** Values that are ids of other records of the tenant. */
const knownFor: Readonly<Record<string, (input: ValidInput, tenant: TestTenant) => Promise<unknown>>> = {
  'createRoutesOfLcr.routes': routesOfLcr,
  'updateRoutesOfLcr.routes': routesOfLcr,
  'createGoogleCustomVoice.speech_credential_sid': googleCredential,
  'synthesizeForAccount.speech_credential_sid': speakingCredential,
}

async function speakingCredential(input: ValidInput, tenant: TestTenant): Promise<string> {
  const collection = '/Accounts/{AccountSid}/SpeechCredentials'
  return input.id({ name: 'SpeechCredentialSid', collection }, tenant, false, {
    vendor: 'custom:local',
    auth_token: 'a-token',
    custom_tts_url: await vendorThatSpeaks(),
  })
}

let speaking: Promise<string> | undefined

/** Returns the URL of a custom vendor that responds to any text with a tenth of a second of silence. */
function vendorThatSpeaks(): Promise<string> {
  speaking ??= serveLocally((request, response) => {
    request.resume()
    response.setHeader('content-type', 'audio/l16;rate=8000').end(Buffer.alloc(1600))
  }).then(({ url }) => url)
  return speaking
}

function googleCredential(input: ValidInput, tenant: TestTenant): Promise<string> {
  const collection = '/Accounts/{AccountSid}/SpeechCredentials'
  return input.id({ name: 'SpeechCredentialSid', collection }, tenant, false, {
    vendor: 'google',
    service_key: '{"client_email":"a@example.com","private_key":"none"}',
  })
}

async function routesOfLcr(input: ValidInput, tenant: TestTenant): Promise<unknown> {
  const voip_carrier_sid = await input.id({ name: 'VoipCarrierSid', collection: '/VoipCarriers' }, tenant)
  return [
    { regex: '^49', priority: 1, lcr_carrier_set_entries: [{ voip_carrier_sid, workload: 1, priority: 0 }] },
  ]
}

/** Query parameters that the declaration leaves optional, but without which the result is empty. */
const alsoAsked: Readonly<Record<string, (input: ValidInput, tenant: TestTenant) => Promise<Values>>> = {
  'GET /Accounts/{AccountSid}/SpeechCredentials/speech/supportedLanguagesAndVoices': fromOurOwnList,
  'GET /ServiceProviders/{ServiceProviderSid}/SpeechCredentials/speech/supportedLanguagesAndVoices':
    fromOurOwnList,
  'GET /GoogleCustomVoices': async (input, tenant) => ({
    speech_credential_sid: await googleCredential(input, tenant),
  }),
}

/** Returns a query that contacts no vendor. */
async function fromOurOwnList(): Promise<Values> {
  return { create_new: true }
}

export function createValidInput(api: TestApi, send: Send): ValidInput {
  let made = 0
  const records = new Map<string, string>()

  async function valueOf(
    name: string,
    { facts }: AnyField,
    route: ApiRoute,
    tenant: TestTenant,
  ): Promise<unknown> {
    const count = ++made
    const given = known[`${route.operationId}.${name}`] ?? known[name]
    if (given !== undefined) return given(count)
    const forTenant = knownFor[`${route.operationId}.${name}`]
    if (forTenant !== undefined) return forTenant(input, tenant)
    if (name === 'account_sid') return tenant.account_sid
    if (name === 'service_provider_sid') return tenant.service_provider_sid
    if (facts.references !== undefined) return input.id(parameterOf(facts.references), tenant)
    return plainValue(name, facts, count)
  }

  async function valuesOf(
    fields: Fields,
    route: ApiRoute,
    tenant: TestTenant,
    isTaken: (facts: FieldFacts) => boolean,
  ): Promise<Record<string, unknown>> {
    const values: Record<string, unknown> = {}
    const without = leftOut[route.operationId] ?? []
    for (const [name, field] of Object.entries(fields))
      if (isTaken(field.facts) && !without.includes(name))
        values[name] = await valueOf(name, field, route, tenant)
    return values
  }

  async function makeRoom({ path, key, below }: OnePerOwner, { account_sid }: TestTenant): Promise<void> {
    const { body } = await api.get(`${path}?account_sid=${account_sid}`, api.adminKey)
    for (const record of body as Record<string, string>[])
      if (record['account_sid'] === account_sid) await api.delete(`${path}/${record[key]}`, api.adminKey)
    for (const collection of below) records.delete(`${collection} ${account_sid}`)
  }

  async function create(
    { name, collection }: Parameter,
    tenant: TestTenant,
    having: Values,
  ): Promise<string> {
    const route = apiRoutes.find(({ method, path }) => method === 'POST' && path === collection)
    if (route === undefined)
      throw new Error(`{${name}}: no POST ${collection} makes one; add it to knownIds in known-values.ts`)
    const path = await input.path(route, tenant)
    const body = { ...((await input.body(route, tenant)) as Values), ...having }
    const { status, text } = await send('POST', path, makerOf(route, tenant, api.adminKey), body)
    const id = status < 300 ? idOf(JSON.parse(text) as Values) : undefined
    if (id !== undefined) return id
    throw new Error(`POST ${path} answered ${status} ${text}: teach known-values.ts what it needs`)
  }

  /** Returns the number and hash of the oldest entry of the audit log. */
  async function oldestEntry(): Promise<Values> {
    const { text } = await send('GET', '/AuditLog/export?after=0&count=1', api.adminKey, undefined)
    const { data } = JSON.parse(text) as { readonly data: readonly Values[] }
    return { seq: data[0]?.['seq'], hash: data[0]?.['hash'] }
  }

  const input: ValidInput = {
    async body(route, tenant, isFull = false) {
      const { body: fields, bodyIs, isPartial = false } = route
      if (fields === undefined) return undefined
      if (route.operationId === 'makeAuditCheckpoint') return oldestEntry()
      const single = onePerOwner[route.operationId]
      if (single !== undefined) await makeRoom(single, tenant)
      const isTaken = ({ presence, onUpdate }: FieldFacts): boolean => {
        if (presence === 'read-only') return false
        if (isPartial) return isFull && onUpdate === 'change'
        return isFull || presence === 'required'
      }
      const values = await valuesOf(fields, route, tenant, isTaken)
      if (bodyIs !== undefined) return values[bodyIs] ?? []
      const owner = isPartial ? {} : ownerOf(fields, tenant)
      return { ...owner, ...values, ...alsoNeeded[route.operationId]?.(tenant) }
    },
    async query(route, tenant) {
      const isTaken = ({ presence }: FieldFacts): boolean => presence === 'required'
      const values = await valuesOf(route.query ?? {}, route, tenant, isTaken)
      Object.assign(values, await alsoAsked[`${route.method} ${route.path}`]?.(input, tenant))
      const pairs = Object.entries(values).map(
        ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
      )
      return pairs.length === 0 ? '' : `?${pairs.join('&')}`
    },
    async id(parameter, tenant, isFresh = false, having = {}) {
      const fixed = knownIds[parameter.name]
      const isTenant = parameter.name === 'AccountSid' || parameter.name === 'ServiceProviderSid'
      if (fixed !== undefined && !(isTenant && isFresh)) return fixed(api, tenant, () => ++made)
      const key = `${parameter.collection} ${tenant.account_sid} ${Object.values(having).join()}`.trimEnd()
      const present = records.get(key)
      if (present !== undefined && !isFresh) return present
      const id = await create(parameter, tenant, having)
      if (!isFresh) records.set(key, id)
      return id
    },
    async path({ path }, tenant, isFresh = false) {
      const parameters = parametersOf(path)
      let filled = path
      for (const [index, parameter] of parameters.entries()) {
        const id = await input.id(parameter, tenant, isFresh && index === parameters.length - 1)
        filled = filled.replace(`{${parameter.name}}`, encodeURIComponent(id))
      }
      return filled
    },
  }
  return input
}

/** Returns the key of the lowest permitted level: some records belong to their maker, and so to the account. */
function makerOf({ access }: ApiRoute, { accountKey, providerKey }: TestTenant, adminKey: string): string {
  if (access.includes('account')) return accountKey
  return access.includes('service_provider') ? providerKey : adminKey
}

/** Returns the owner fields, which a client of the owner's level might leave out. */
function ownerOf(fields: Fields, { account_sid, service_provider_sid }: TestTenant): Values {
  const isTaken = (name: string): boolean => (fields[name]?.facts.presence ?? 'read-only') !== 'read-only'
  return {
    ...(isTaken('account_sid') ? { account_sid } : {}),
    ...(isTaken('service_provider_sid') ? { service_provider_sid } : {}),
  }
}

function idOf(body: Values): string | undefined {
  const { sid } = body
  if (typeof sid === 'string') return sid
  const [first] = Object.entries(body).flatMap(([name, value]) =>
    name.endsWith('_sid') && typeof value === 'string' ? [value] : [],
  )
  return first
}

export function parametersOf(path: string): readonly Parameter[] {
  return [...path.matchAll(/\/\{(\w+)\}/g)].map(({ 1: name = '', index }) => ({
    name,
    collection: path.slice(0, index),
  }))
}

/** Returns the parameter of a table, which has the name of its collection: `voip_carriers` is at `/VoipCarriers`. */
function parameterOf(table: string): Parameter {
  const words = table.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  const collection = `/${words.join('')}`
  const route = apiRoutes.find(({ path }) => path.startsWith(`${collection}/{`))
  const name = route === undefined ? undefined : parametersOf(route.path)[0]?.name
  return { name: name ?? `${words.join('').replace(/s$/, '')}Sid`, collection }
}

interface PlainSchema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
}

/** Returns a value derived from the schema alone. */
export function plainValue(name: string, { schema, isHook, example }: FieldFacts, count: number): unknown {
  const { type, enum: choices, minimum, format, pattern, minLength, maxLength } = schema as PlainSchema
  if (isHook === true) return { url: `https://app.example.com/${name}` }
  if (choices !== undefined) return choices[0]
  if (schema['x-hook-url'] !== undefined) return `https://app.example.com/${count}`
  const [first] = [type].flat()
  if (first === 'integer' || first === 'number') return minimum ?? 1
  if (first === 'boolean') return true
  if (first === 'array') return example ?? []
  if (first === 'object') return example ?? {}
  if (format === 'uuid') return createSid()
  if (format === 'date-time') return '2026-11-21T08:30:00.000Z'
  const text = `${name.replace(/[^a-z]/g, '')}${count}`.slice(-(maxLength ?? 64)).padEnd(minLength ?? 0, 'a')
  return pattern === undefined || new RegExp(pattern, 'u').test(text) ? text : (example ?? text)
}
