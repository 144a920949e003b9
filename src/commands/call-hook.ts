// The command call_hook: replaces the application that runs the call.
import type { HookForm } from '../calls/command.ts'
import { defineCommand } from './define/define-command.ts'
import { hook } from './define/values.ts'

const because = 'a client of the REST API sent another application'

export const callHook = defineCommand({
  name: 'call_hook',
  frame: 'redirect',
  description: 'Sent immediately; its verbs replace all others.',
  example: 'https://example.com/transfer',
  value: hook,
  needs: 'application',
  joins: ['child_call_hook'],
  additions: {
    call_status_hook: { value: hook, description: 'Receives the changes of the call from now on.' },
  },
  ready: (next, { leg, script }, { call_status_hook }: { readonly call_status_hook?: HookForm }) => ({
    outcome: 'another application',
    async start() {
      if (call_status_hook !== undefined) leg.status.replaceHook(script.hookOf(call_status_hook))
      await script.takeOver(next, because).catch((error: unknown) => leg.refuse(error))
    },
  }),
})
