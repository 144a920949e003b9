// Which variables an application publishes: asked on behalf of whoever fills in a form.
import { AppError } from '../lib/errors.ts'
import { hookUrl } from './define/fields.ts'
import { defineRoute, everyone } from './define/route.ts'

const word = { type: 'string' }

export const appEnv = defineRoute({
  method: 'GET',
  path: '/AppEnv',
  access: everyone,
  operationId: 'getAppEnv',
  tag: 'Applications',
  summary: 'The variables that an application publishes, asked of it with OPTIONS.',
  query: { url: hookUrl().describe('The call hook of the application.') },
  reply: {
    status: 200,
    description: 'The schema as the application sent it: one object per variable.',
    component: 'AppEnvSchema',
    schema: {
      type: 'object',
      minProperties: 1,
      additionalProperties: {
        type: 'object',
        properties: {
          type: { type: 'string', enum: ['string', 'number', 'boolean'] },
          description: word,
          required: { type: 'boolean' },
          default: { type: ['string', 'number', 'boolean'] },
          enum: { type: 'array', items: {} },
          obscure: { type: 'boolean', description: 'Shown like a password.' },
        },
        required: ['type', 'description'],
        additionalProperties: true,
      },
    },
    whenEmpty: 'The application publishes none, or cannot be asked.',
    isVaried: true,
  },
  async handle({ query: { url }, services, whenGone }) {
    const published = await services.appEnv.ask(url, whenGone())
    switch (published.outcome) {
      case 'schema':
        return published.schema
      case 'none':
        return undefined
      case 'invalid':
        throw new AppError('bad_request', published.fault, {
          cure: 'Correct what the application answers to OPTIONS.',
        })
    }
  },
})
