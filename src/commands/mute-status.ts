// The command mute_status: whether the other side of a bridge hears a leg.
import { defineCommand } from './define/define-command.ts'
import { oneOf } from './define/values.ts'

export const muteStatus = defineCommand({
  name: 'mute_status',
  frame: 'mute:status',
  description: 'Whether the other side hears the one that the path names.',
  value: oneOf(['mute', 'unmute']),
  needs: 'bridge',
  ready: (status, { bridge }) => ({ outcome: status, apply: () => bridge.mute(status === 'mute') }),
})
