// docs/reference/hooks.md, from scripts/reference/hook-payloads.ts.
import { commonFields, type HookDescription, type HookField } from './hook-fields.ts'
import { hookDescriptions, hookExamples, ofJambonz } from './hook-payloads.ts'
import { heading, table } from '../../src/api/docs/schema-text.ts'
import { page } from './page.ts'

export function hooksPage(): string {
  return page('Hooks', '`scripts/reference/hook-payloads.ts`', [
    'A hook is an HTTP request to your server with a JSON body. With `"method": "GET"` the flat values of the body are sent as',
    'query parameters. Each carries `webhook-id`, `webhook-timestamp`, and two signatures with the secret of the account:',
    '`webhook-signature` (Standard Webhooks) and `Jambonz-Signature`. Those about a call carry `b3: <trace>-<span>-1`: its',
    '`trace_id`, and the request as a span of it. The examples were received by a test.',
    'An answer with verbs needs `Content-Type: application/json`: under another type, or none, it counts as an answer without a body.',
    ofJambonz,
    '',
    heading('##', 'What all hooks carry', 'common'),
    '',
    ...fieldTable(commonFields),
    ...hookDescriptions.flatMap(section),
  ])
}

function section(hook: HookDescription): string[] {
  const { name, key, purpose, answer, fields } = hook
  return [
    '',
    heading('##', name, `hook-${key}`),
    '',
    purpose,
    '',
    `Answer: ${answer}`,
    '',
    ...fieldTable(fields),
    ...hookExamples(hook).flatMap(({ shows, body }) => [
      '',
      ...(shows === undefined ? [] : [`${shows}:`, '']),
      '```json example',
      JSON.stringify(body, null, 2),
      '```',
    ]),
  ]
}

function fieldTable(fields: readonly HookField[]): string[] {
  const rows = fields.map(({ name, type, meaning, when }) => [
    `\`${name}\``,
    type,
    when === undefined ? meaning : `${meaning} _When ${when}._`,
  ])
  return table(['Field', 'Type', 'Meaning'], rows)
}
