// The command child_call_hook: the leg that a call has dialled becomes a call of its own.
import { defineCommand } from './define/define-command.ts'
import { hook } from './define/values.ts'

export const childCallHook = defineCommand({
  name: 'child_call_hook',
  frame: 'redirect',
  description: 'The leg that was dialled becomes a call of its own, with the verbs of this hook.',
  example: 'https://example.com/on-its-own',
  value: hook,
  needs: 'bridge',
  ready: (next, { bridge }) => ({
    outcome: 'the called side becomes a call of its own',
    apply: bridge.part(next),
  }),
})
