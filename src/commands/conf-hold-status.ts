// The command conf_hold_status: puts a call in a conference on hold, so that it neither hears nor is heard.
import type { HookForm } from '../calls/command.ts'
import { defineCommand } from './define/define-command.ts'
import { hook, oneOf } from './define/values.ts'

export const confHoldStatus = defineCommand({
  name: 'conf_hold_status',
  frame: 'conf:hold-status',
  description:
    'Whether the call that the path names is on hold in its conference: neither heard nor hearing.',
  example: 'hold',
  value: oneOf(['hold', 'unhold']),
  needs: 'conference',
  additions: {
    wait_hook: {
      value: hook,
      description:
        'Sent for the verbs that the call hears meanwhile (`say`, `play` and `pause`), again and again.',
    },
  },
  ready: (status, { member }, { wait_hook }: { readonly wait_hook?: HookForm }) => ({
    outcome: `${status} in the conference`,
    apply: () => member.hold(status === 'hold', wait_hook),
  }),
})
