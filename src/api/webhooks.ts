// Webhook records by themselves. Those inside accounts and applications are written with the record that holds them.
import { defineResource } from './define/resource.ts'
import { choice, hookUrl, sid, text } from './define/fields.ts'

export const webhooks = defineResource({
  name: 'Webhook',
  noun: 'webhook',
  path: '/Webhooks',
  summary: 'A URL of the customer, and how it is asked.',
  table: 'webhooks',
  owner: 'caller',
  operations: ['create', 'read'],
  fields: {
    webhook_sid: sid().readOnly(),
    url: hookUrl(),
    method: choice(['GET', 'POST']).default('POST'),
    username: text({ max: 255 }).nullable().describe('For HTTP Basic authentication.'),
    password: text({ max: 255 }).nullable(),
  },
})
