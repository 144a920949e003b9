// The verb redirect: continues with the verbs of another hook.
import { Type } from '../lib/type.ts'
import { defineVerb } from './define/define-verb.ts'
import { hookFor } from './define/schemas.ts'

export const redirect = defineVerb({
  name: 'redirect',
  summary: 'Continues the call with the verbs of another hook.',
  example: [
    { verb: 'say', text: 'One moment.' },
    { verb: 'redirect', actionHook: '/next' },
  ],
  needs: 'nothing',
  uses: ['hooks'],
  schema: Type.Object({
    actionHook: hookFor('Sent immediately: the verbs of its answer replace the rest of the list.'),
    statusHook: Type.Optional(
      hookFor(
        'The hook for status changes of the call from now on; it replaces the one before. Its answer is not read.',
      ),
    ),
  }),
  async execute({ actionHook, statusHook }, { hooks, signal }) {
    await hooks.redirect({ hook: actionHook, statusHook, signal })
  },
})
