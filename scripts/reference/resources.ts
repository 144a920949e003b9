// docs/reference/resources.md, from the OpenAPI document of src/api/.
import { apiRoutes } from '../../src/api/index.ts'
import { createOpenApi } from '../../src/api/openapi/create-openapi.ts'
import { readExamples } from '../../src/api/openapi/examples.ts'
import { heading, propertyTable, shapeAnchor, table, type Schema } from '../../src/api/docs/schema-text.ts'
import { page } from './page.ts'

interface Operation {
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly description?: string
    readonly schema: Schema
  }[]
  readonly responses: Readonly<Record<string, unknown>>
}

interface Document {
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export function resourcesPage(): string {
  const { tags, paths, components } = createOpenApi(apiRoutes, readExamples()) as unknown as Document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  return page('Resources', '`src/api/`', [
    'The REST API, below `/v1`. Every request except the login carries `Authorization: Bearer <token>`. A running platform',
    'serves the same as an OpenAPI document for programs, at `/v1/openapi.json`. Error codes: [errors.md](errors.md).',
    'A body is JSON, with `Content-Type: application/json`. Members that are not in the tables below are ignored, as clients of this',
    'API expect: a misspelt one has no effect. `X-Unknown-Fields` of the response names it with the nearest',
    'that exists, `call_hook.ur (url?)`, and so does `unknown_fields` of the entry in the audit log; a query parameter is written',
    '`?pagesize (page_size?)`. `SWITCHHOOK_STRICT_FIELDS` refuses both. Objects whose members are yours, such as `tag` and `env_vars`,',
    'are free.',
    ...tags.flatMap(({ name }) => [
      '',
      `## ${name}`,
      '',
      ...endpoints(operations.filter(({ operation }) => operation.tags.includes(name))),
    ]),
    '',
    '# Shapes',
    ...Object.entries(components.schemas).flatMap(([name, schema]) => [
      '',
      heading('##', name, shapeAnchor(name)),
      '',
      ...propertyTable(schema),
    ]),
  ])
}

interface Endpoint {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}

function endpoints(list: readonly Endpoint[]): string[] {
  const rows = list.map(({ path, method, operation }) => {
    const statuses = Object.keys(operation.responses)
    const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query')
    return [
      `\`${method} ${path}\``,
      [operation.summary, operation.description].filter((part) => part !== undefined).join(' '),
      query.map(({ name, required }) => `\`${name}\`${required ? ' (required)' : ''}`).join(', '),
      statuses.filter((status) => status < '300').join(', '),
      statuses.filter((status) => status >= '300').join(', '),
    ]
  })
  return table(['Endpoint', 'What it does', 'Query', 'Success', 'Errors'], rows)
}
