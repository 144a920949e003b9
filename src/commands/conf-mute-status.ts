// The command conf_mute_status: mutes or unmutes all members of a conference except its moderators.
import { defineCommand } from './define/define-command.ts'
import { oneOf } from './define/values.ts'

export const confMuteStatus = defineCommand({
  name: 'conf_mute_status',
  frame: 'conf:mute-status',
  description:
    'Mutes all in the conference of the call who are no moderators (`endConferenceOnExit`), those too who come later; or lets all be heard again.',
  example: 'mute',
  value: oneOf(['mute', 'unmute']),
  needs: 'conference',
  ready: (status, { member }) => ({
    outcome: `${status} all who are no moderators`,
    apply: () => member.muteOthers(status === 'mute'),
  }),
})
