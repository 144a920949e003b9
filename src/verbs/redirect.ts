// The verb redirect: goes on with the verbs of another hook.
import Type from 'typebox'
import { defineVerb } from './define/define-verb.ts'
import { hook } from './define/schemas.ts'

export const redirect = defineVerb({
  name: 'redirect',
  summary: 'Continues the call with the verbs of another hook.',
  example: [
    { verb: 'say', text: 'One moment.' },
    { verb: 'redirect', actionHook: '/next' },
  ],
  needs: 'nothing',
  uses: ['hooks'],
  schema: Type.Object({ actionHook: hook, statusHook: Type.Optional(hook) }),
  async execute({ actionHook, statusHook }, { hooks, signal }) {
    await hooks.redirect({ hook: actionHook, ...(statusHook === undefined ? {} : { statusHook }), signal })
  },
})
