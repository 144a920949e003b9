// The resource Webhook by itself. Webhooks inside accounts and applications are written with the record that contains
// them.
import { defineResource } from './define/resource.ts'
import { choice, hookTexts, hookUrl, recordSid, text } from './define/fields.ts'

export const webhooks = defineResource({
  name: 'Webhook',
  noun: 'webhook',
  path: '/Webhooks',
  summary: 'A URL of the customer, and how it is requested.',
  table: 'webhooks',
  owner: 'caller',
  operations: ['create', 'read'],
  fields: {
    webhook_sid: recordSid(),
    url: hookUrl(),
    method: choice(['GET', 'POST']).default('POST').describe(hookTexts.method),
    username: text({ max: 255 }).nullable().describe(hookTexts.username),
    password: text({ max: 255 }).nullable().hiddenFromViewers().describe(hookTexts.password),
  },
})
