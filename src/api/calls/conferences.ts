// The running conferences of an account, from the call engine.
import type { LiveConference } from '../../calls/calls.ts'
import { createField } from '../define/field.ts'
import { boolean, choice } from '../define/fields.ts'
import { list, object, word } from '../define/reply-fields.ts'
import { shownSchema } from '../define/record.ts'
import { defineRoute, everyone } from '../define/route.ts'

const participantField = object({
  call_sid: word('The call that takes part, or waits.'),
  from: word('The calling number or user of the call.'),
  to: word('The called number or user of the call.'),
  is_moderator: boolean().describe('The conference ends when the last moderator leaves.'),
  is_muted: boolean().describe('The others do not hear it.'),
  is_on_hold: boolean().describe('It neither hears nor is heard.'),
  member_tag: word('Its memberTag, when it has one.').optional(),
  speak_only_to: word('The memberTag of those who hear it, when it coaches.').optional(),
})

const conferenceField = object({
  name: word('As the verb conference names it.'),
  conference_sid: word('The id of the conference in the events of statusHook.'),
  has_started: boolean().describe('false: all calls in it wait for one that starts it.'),
  participants: list(participantField).describe('The calls in it, including those that wait for its start.'),
})

const shown = createField<string | LiveConference>({
  schema: {
    anyOf: [
      { type: 'string', description: 'The name, when `expand` is left out.' },
      shownSchema(conferenceField.facts),
    ],
  },
})

export const listConferences = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/Conferences',
  access: everyone,
  operationId: 'listConferences',
  tag: 'Calls',
  summary: 'The running conferences of an account.',
  description:
    '`/Accounts/{AccountSid}/Conferences/{name}/listen`, by which an audio server would hear a conference, is not served yet: it is refused with 400 and `not_served`. A call in the conference may have `listen` in its `config`.',
  query: {
    expand: choice(['participants'])
      .optional()
      .describe('Lists an object for each conference, with its participants, instead of its name.'),
  },
  reply: {
    status: 200,
    description: 'Their names, oldest first.',
    body: list(shown),
    isVaried: true,
  },
  async handle({ account, query, services }) {
    const conferences = services.calls.conferences(account.account_sid)
    return query.expand === 'participants' ? conferences : conferences.map(({ name }) => name)
  },
})
