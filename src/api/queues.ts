// The queues of an account, from the call engine.
import { matchesGlob } from '../lib/glob.ts'
import { text } from './define/fields.ts'
import { list, object, word } from './define/reply-fields.ts'
import { defineRoute, everyone } from './define/route.ts'

const listQueues = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/Queues',
  access: everyone,
  operationId: 'listQueues',
  tag: 'Queues',
  summary: 'The queues of an account in which callers wait, on the node that responds.',
  query: {
    search: text({ max: 128 })
      .optional()
      .describe('Only queues of this name: `*` matches any characters, `?` one.'),
  },
  reply: {
    status: 200,
    description: 'The queues, by name.',
    component: 'Queue',
    body: list(
      object({
        name: word('As `enqueue` names it.'),
        length: word('The number of callers that wait in it, in digits.'),
      }),
    ),
  },
  async handle({ account, query, services }) {
    const { search = '*' } = query
    return services.calls
      .queues(account.account_sid)
      .filter(({ name }) => matchesGlob(name, search))
      .map(({ name, length }) => ({ name, length: String(length) }))
  },
})

export const queueRoutes = [listQueues]
