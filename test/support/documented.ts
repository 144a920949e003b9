// The check of every API response against the OpenAPI document that the platform serves: the status must be documented,
// the body must match its schema and have no member that the schema does not name.
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ValidateFunction } from 'ajv'
import { apiRoutes } from '../../src/api/index.ts'
import { createOpenApi } from '../../src/api/openapi/create-openapi.ts'
import { readExamples } from '../../src/api/openapi/examples.ts'
import { isSid } from '../../src/lib/ids.ts'

export type Schema = Readonly<Record<string, unknown>>

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
}

export interface MediaType {
  readonly schema: Schema
  readonly example?: unknown
}

export interface Operation {
  readonly operationId: string
  readonly tags?: readonly string[]
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> }
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description?: string
        readonly content?: Readonly<Record<string, MediaType>>
      }
    >
  >
}

export interface OpenApiDocument {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export interface ObservedAnswer {
  readonly status: number
  /** The body; undefined if the response has none. */
  readonly body: unknown
  readonly contentType?: string | undefined
}

export interface Documented {
  readonly document: OpenApiDocument
  /** Returns how a response departs from the document, or undefined. `path` is below /v1. */
  faultOf(method: string, path: string, answer: ObservedAnswer): string | undefined
  /** Returns the same for the body of a request; `path` has the document's form. */
  bodyFaultOf(method: string, path: string, body: unknown): string | undefined
  operationOf(
    method: string,
    path: string,
  ): { readonly path: string; readonly operation: Operation } | undefined
}

interface Template {
  readonly path: string
  readonly pattern: RegExp
}

/** Returns the document and its checks, one per process: it is a pure function of the declarations. */
export function documented(): Documented {
  made ??= createDocumented(
    JSON.parse(JSON.stringify(createOpenApi(apiRoutes, readExamples()))) as OpenApiDocument,
  )
  return made
}

let made: Documented | undefined

function createDocumented(document: OpenApiDocument): Documented {
  const ajv = new Ajv2020({
    strict: false,
    // Optimizing the generated validators takes as long as writing them.
    code: { optimize: 0 },
    formats: { uuid: isSid, 'date-time': /^\d{4}-\d\d-\d\dT.*Z$/, email: true, uri: true, binary: true },
  })
  ajv.addSchema(document, 'document')
  const templates = Object.keys(document.paths).map(toTemplate).sort(byLiterals)

  function operationOf(method: string, path: string): ReturnType<Documented['operationOf']> {
    const plain = path
      .replace(/[?#].*$/, '')
      .replace(/\/{2,}/g, '/')
      .replace(/(.)\/$/, '$1')
    for (const { path: template, pattern } of templates) {
      if (!pattern.test(plain)) continue
      const operation = document.paths[template]?.[method.toLowerCase()]
      if (operation !== undefined) return { path: template, operation }
    }
    return undefined
  }

  return {
    document,
    operationOf,
    bodyFaultOf(method, path, body) {
      const pointer = [path, method.toLowerCase(), 'requestBody', 'content', 'application/json']
      const validate = ajv.getSchema(`document#/paths/${pointer.map(escapePointer).join('/')}/schema`)
      return validate === undefined ? 'there is no schema' : schemaFault(validate, body)
    },
    faultOf(method, path, answer) {
      const found = operationOf(method, path)
      // A path without a route also gets an error response.
      if (found === undefined) return unrouted(path, answer)
      const reply = found.operation.responses[answer.status]
      if (reply === undefined) return `status ${answer.status} is not documented`
      const { content } = reply
      if (content === undefined) return answer.body === undefined ? undefined : 'a body is not documented'
      // A range such as audio/* is documented if the type follows from the request (OpenAPI 3.1 §4.8.17).
      const type = Object.keys(content).find((name) =>
        (answer.contentType ?? name).startsWith(name.replace(/\*$/, '')),
      )
      if (type === undefined) return `content type ${answer.contentType} is not documented`
      if (type !== 'application/json') return undefined
      const pointer = [found.path, method.toLowerCase(), 'responses', String(answer.status), 'content', type]
      const validate = ajv.getSchema(`document#/paths/${pointer.map(escapePointer).join('/')}/schema`)
      if (validate === undefined) return 'there is no schema'
      return (
        schemaFault(validate, answer.body) ?? undeclared(answer.body, content[type]?.schema ?? {}, document)
      )
    },
  }
}

function schemaFault(validate: ValidateFunction, body: unknown): string | undefined {
  if (validate(body) === true) return undefined
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`).join('; ')
}

function unrouted(path: string, { status, body }: ObservedAnswer): string | undefined {
  if (status < 400)
    return path.startsWith('/openapi') || path.startsWith('/docs') ? undefined : 'no such operation'
  return hasMsg(body) ? undefined : 'an error without msg'
}

function hasMsg(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'msg' in body && typeof body.msg === 'string'
}

/** Returns a member that no form of the schema names. An open schema allows any member. */
function undeclared(value: unknown, schema: Schema, document: OpenApiDocument, at = ''): string | undefined {
  const forms = formsOf(schema, document)
  if (Array.isArray(value)) {
    const items = forms.map((form) => form['items']).filter((one) => one !== undefined) as Schema[]
    if (items.length === 0) return undefined
    for (const [index, member] of value.entries()) {
      const fault = undeclared(member, { anyOf: items }, document, `${at}/${index}`)
      if (fault !== undefined) return fault
    }
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const shapes = forms.filter((form) => form['properties'] !== undefined)
  if (shapes.length === 0 || forms.some(isOpen)) return undefined
  for (const [name, member] of Object.entries(value)) {
    const declared = shapes
      .map((form) => (form['properties'] as Readonly<Record<string, Schema>>)[name])
      .filter((one) => one !== undefined)
    if (declared.length === 0) return `${at}/${name} is not documented`
    const fault = undeclared(member, { anyOf: declared }, document, `${at}/${name}`)
    if (fault !== undefined) return fault
  }
  return undefined
}

function isOpen({ additionalProperties }: Schema): boolean {
  return additionalProperties !== undefined && additionalProperties !== false
}

const knownForms = new WeakMap<Schema, readonly Schema[]>()

/** Returns the schema and all schemas it includes by reference or choice. Cached, since every response is checked. */
export function formsOf(schema: Schema, document: OpenApiDocument): readonly Schema[] {
  const known = knownForms.get(schema) ?? findForms(schema, document)
  knownForms.set(schema, known)
  return known
}

function findForms(schema: Schema, document: OpenApiDocument): readonly Schema[] {
  const { $ref } = schema
  if (typeof $ref === 'string') {
    const target = document.components.schemas[$ref.split('/').at(-1) ?? '']
    return target === undefined ? [] : formsOf(target, document)
  }
  const inner = [schema['anyOf'], schema['oneOf'], schema['allOf']].flat() as (Schema | undefined)[]
  return [schema, ...inner.flatMap((one) => (one === undefined ? [] : formsOf(one, document)))]
}

function toTemplate(path: string): Template {
  const pattern = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')
  return { path, pattern: new RegExp(`^${pattern}$`, 'i') }
}

/** Orders templates as the router does: `/Users/me` before `/Users/{UserSid}`. */
function byLiterals(a: Template, b: Template): number {
  return (a.path.match(/\{/g)?.length ?? 0) - (b.path.match(/\{/g)?.length ?? 0)
}

function escapePointer(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
}
