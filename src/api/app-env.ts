// The variables that an application publishes, for a form in which they are filled in.
import { AppError } from '../lib/errors.ts'
import type { Field } from './define/field.ts'
import { boolean, choice, hookUrl, json } from './define/fields.ts'
import { open, word } from './define/reply-fields.ts'
import { defineRoute, everyone } from './define/route.ts'

/** The schema as the application sent it, with every member that describes a variable. */
function published(): Field<Readonly<Record<string, unknown>>> {
  const variable = open({
    type: choice(['string', 'number', 'boolean']).describe('The JSON type that a value must have.'),
    description: word('What the variable is for, to be shown to people.'),
    required: boolean().describe('Whether an application must be given a value.').optional(),
    default: json({ type: ['string', 'number', 'boolean'] })
      .describe('The value that is used if none is given.')
      .optional(),
    enum: json({ type: 'array', items: {} }).describe('The values there are to choose from.').optional(),
    obscure: boolean().describe('Shown like a password.').optional(),
  })
  return json({ type: 'object', minProperties: 1, additionalProperties: variable.facts.schema })
}

export const appEnv = defineRoute({
  method: 'GET',
  path: '/AppEnv',
  access: everyone,
  operationId: 'getAppEnv',
  tag: 'Applications',
  summary: 'The variables that an application publishes, requested from it with OPTIONS.',
  query: { url: hookUrl().describe('The call hook of the application.') },
  reply: {
    status: 200,
    description: 'The schema as the application sent it: one object per variable.',
    component: 'AppEnvSchema',
    body: published(),
    whenEmpty: 'The application publishes none, or cannot be reached.',
    isVaried: true,
  },
  errors: ['account_share'],
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
