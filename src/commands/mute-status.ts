// The command mute_status: sets whether the other side of a bridge, or a conference, hears a leg.
import { defineCommand } from './define/define-command.ts'
import { oneOf } from './define/values.ts'

export const muteStatus = defineCommand({
  name: 'mute_status',
  frame: 'mute:status',
  description: 'Whether the other side, or the conference, hears the call that the path names.',
  example: 'mute',
  value: oneOf(['mute', 'unmute']),
  needs: 'company',
  ready: (status, { company }) => ({ outcome: status, apply: () => company.mute(status === 'mute') }),
})
