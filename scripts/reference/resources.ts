// docs/reference/resources.md, from the OpenAPI document of src/api/.
import { apiRoutes } from '../../src/api/index.ts'
import { endpointsOf, type Endpoint, type OpenApi } from '../../src/api/docs/document.ts'
import { createOpenApi } from '../../src/api/openapi/create-openapi.ts'
import { readExamples } from '../../src/api/openapi/examples.ts'
import { heading, propertyTable, shapeAnchor, table } from '../../src/api/docs/schema-text.ts'
import { page } from './page.ts'

export function resourcesPage(): string {
  const document = createOpenApi(apiRoutes, readExamples()) as unknown as OpenApi
  const operations = endpointsOf(document)
  return page('Resources', '`src/api/`', [
    'The REST API, below `/v1`. Every request except the login carries `Authorization: Bearer <token>`. A running platform',
    'serves the same as an OpenAPI document for programs, at `/v1/openapi.json`. Error codes: [errors.md](errors.md).',
    'A body is JSON, with `Content-Type: application/json`. Members that are not in the tables below are ignored, as clients of this',
    'API expect: a misspelt one has no effect. `X-Unknown-Fields` of the response names it with the nearest',
    'that exists, `call_hook.ur (url?)`, and so does `unknown_fields` of the entry in the audit log; a query parameter is written',
    '`?pagesize (page_size?)`. `SWITCHHOOK_STRICT_FIELDS` refuses both. Objects whose members are yours, such as `tag` and `env_vars`,',
    'are free.',
    ...document.tags.flatMap(({ name }) => [
      '',
      `## ${name}`,
      '',
      ...endpoints(operations.filter(({ operation }) => operation.tags.includes(name))),
    ]),
    '',
    '# Shapes',
    ...Object.entries(document.components.schemas).flatMap(([name, schema]) => [
      '',
      heading('##', name, shapeAnchor(name)),
      '',
      ...propertyTable(schema),
    ]),
  ])
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
