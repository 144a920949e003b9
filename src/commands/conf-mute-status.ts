// The command conf_mute_status: mutes or unmutes all members of a conference except its moderators.
import { defineCommand } from './define/define-command.ts'
import { oneOf } from './define/values.ts'

export const confMuteStatus = defineCommand({
  name: 'conf_mute_status',
  frame: 'conf:mute-status',
  description:
    'Mutes all members of the conference of the call that are not moderators (`endConferenceOnExit`), including those who enter later, or unmutes them.',
  example: 'mute',
  value: oneOf(['mute', 'unmute']),
  needs: 'conference',
  ready: (status, { member }) => ({
    outcome: `${status} all who are not moderators`,
    apply: () => member.muteOthers(status === 'mute'),
  }),
})
