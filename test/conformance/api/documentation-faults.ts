// The gaps of an OpenAPI document: parts without a description or an example, and errors without their codes.
import { catalogue } from '../../../src/lib/errors.ts'
import type { OpenApiDocument, Operation, Schema } from '../../support/documented.ts'

/** Returns one line for each gap, with its place. */
export function documentationFaults(document: OpenApiDocument): string[] {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      operationFaults(operation).map((fault) => `${method.toUpperCase()} ${path}: ${fault}`),
    ),
  )
  const shapes = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
    memberFaults(schema).map((fault) => `${name}${fault}`),
  )
  return [...operations, ...shapes]
}

function operationFaults(operation: Operation): string[] {
  const { operationId, tags, summary, description, parameters = [], requestBody, responses } = operation
  const faults = []
  if (!/^[a-z][A-Za-z]+$/.test(operationId ?? '')) faults.push('operationId')
  if ((tags ?? []).length === 0) faults.push('tags')
  if (!isSentence(summary)) faults.push('summary')
  if (!isSentence(description)) faults.push('description')
  for (const parameter of parameters)
    if (!isSentence(parameter.description)) faults.push(`parameter ${parameter.name}`)
  for (const { schema, example } of Object.values(requestBody?.content ?? {})) {
    faults.push(...memberFaults(schema).map((fault) => `body${fault}`))
    if (example === undefined) faults.push('body has no example')
  }
  for (const [status, { description: meaning, content = {} }] of Object.entries(responses)) {
    if (!isSentence(meaning)) faults.push(`response ${status}`)
    const json = content['application/json']
    if (json !== undefined && Number(status) < 400 && json.example === undefined)
      faults.push(`response ${status} has no example`)
    for (const { schema } of Object.values(content))
      faults.push(
        ...(Number(status) >= 400 ? codeFaults(schema) : memberFaults(schema)).map(
          (fault) => `response ${status}${fault}`,
        ),
      )
  }
  return faults
}

function isSentence(text: string | undefined): boolean {
  return text !== undefined && /\S.*[.?]$/s.test(text)
}

/** Returns members without a description, at any depth; a referenced schema is checked at its own place. */
function memberFaults(schema: Schema): string[] {
  const {
    properties = {},
    items,
    anyOf = [],
    additionalProperties,
  } = schema as {
    readonly properties?: Readonly<Record<string, Schema>>
    readonly items?: Schema
    readonly anyOf?: readonly Schema[]
    readonly additionalProperties?: Schema | boolean
  }
  const members = Object.entries(properties).flatMap(([name, member]) => [
    ...(isSentence(member['description'] as string | undefined) ? [] : [`.${name}`]),
    ...memberFaults(member).map((fault) => `.${name}${fault}`),
  ])
  const others = typeof additionalProperties === 'object' ? [additionalProperties] : []
  return [
    ...members,
    ...(items === undefined ? [] : memberFaults(items).map((fault) => `[]${fault}`)),
    ...[...anyOf, ...others].flatMap(memberFaults),
  ]
}

function codeFaults({ allOf = [] }: { readonly allOf?: readonly Schema[] }): string[] {
  const codes = allOf.flatMap(({ properties }) => {
    const { code } = (properties ?? {}) as { readonly code?: { readonly enum?: readonly string[] } }
    return code?.enum ?? []
  })
  if (codes.length === 0) return [' has no codes']
  return codes
    .filter((code) => !Object.hasOwn(catalogue, code))
    .map((code) => ` has the unknown code ${code}`)
}
