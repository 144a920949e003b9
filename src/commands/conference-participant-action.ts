// The command conferenceParticipantAction: changes the role of one call in a conference, or removes it.
import type { Static } from 'typebox'
import type { LegMember } from '../calls/command.ts'
import { AppError } from '../lib/errors.ts'
import { Type } from '../lib/type.ts'
import { defineCommand } from './define/define-command.ts'
import { json } from './define/values.ts'

const actions = ['tag', 'untag', 'coach', 'uncoach', 'mute', 'unmute', 'hold', 'unhold', 'kick'] as const

const open = { maxProperties: 10, additionalProperties: true }

const schema = Type.Object(
  {
    action: Type.Enum(actions, { description: 'What happens to the call in its conference.' }),
    tag: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'For `tag`: its memberTag. For `coach`: the memberTag of those who hear it.',
      }),
    ),
    wait_hook: Type.Optional(
      Type.Union(
        [
          Type.String({ maxLength: 4096 }),
          Type.Object(
            { url: Type.String({ maxLength: 4096, description: 'An absolute URL, or a path.' }) },
            open,
          ),
        ],
        {
          description:
            'For `hold`: the hook for the verbs that it hears meanwhile, like the waitHook of the verb conference.',
          'x-rule': 'must be a URL, or an object with one',
        },
      ),
    ),
  },
  open,
)

type Wish = Static<typeof schema>

function demandTag({ action, tag }: Wish): void {
  if ((action === 'tag' || action === 'coach') && tag === undefined)
    throw new AppError('bad_request', `conferenceParticipantAction: ${action} needs a tag`)
}

export const conferenceParticipantAction = defineCommand({
  name: 'conferenceParticipantAction',
  frame: 'conf:participant-action',
  description:
    'Changes the role of the call that the path names in its conference, by `action`: `tag` and `untag` its memberTag; `coach` lets only those with `tag` hear it, `uncoach` all; `mute` and `unmute`; `hold` and `unhold`, with `wait_hook` for what it hears meanwhile; `kick` removes it, and its next verb runs.',
  example: { action: 'coach', tag: 'agent' },
  value: json(schema, demandTag, ({ wait_hook }) => (wait_hook === undefined ? [] : [wait_hook])),
  needs: 'conference',
  ready: (wish, { member }) => ({
    outcome: `${wish.action} in the conference`,
    apply: () => act(member, wish),
  }),
})

function act(member: LegMember, { action, tag, wait_hook }: Wish): void {
  switch (action) {
    case 'tag':
      return member.tag(tag)
    case 'untag':
      return member.tag(undefined)
    case 'coach':
      return member.coach(tag)
    case 'uncoach':
      return member.coach(undefined)
    case 'mute':
    case 'unmute':
      return member.mute(action === 'mute')
    case 'hold':
    case 'unhold':
      return member.hold(action === 'hold', wait_hook)
    case 'kick':
      return member.kick()
    default:
      return action satisfies never
  }
}
