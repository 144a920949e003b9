// Commands to a live call. The commands, and their combinations, are declared in commands/.
import { commandMembers, commandRules, readCommands } from '../../commands/index.ts'
import type { CommandMember } from '../../commands/define/describe-commands.ts'
import { AppError } from '../../lib/errors.ts'
import { createField, type AnyField, type Fields } from '../define/field.ts'
import { choice, type HookInput } from '../define/fields.ts'
import { defineRoute, everyone, type ApiRoute } from '../define/route.ts'
import { object, whole, word } from '../define/reply-fields.ts'
import { hookOfLiveCall, toHookForm } from './hook.ts'

function fieldOf({ value, description }: CommandMember): AnyField {
  switch (value.form) {
    case 'hook':
      return hookOfLiveCall().describe(description)
    case 'words':
      return choice(value.words).optional().describe(description)
    case 'json':
      return createField({ schema: value.schema }).optional().describe(description)
    default:
      return value satisfies never
  }
}

const fields: Fields = Object.fromEntries(commandMembers.map((member) => [member.name, fieldOf(member)]))

const responseField = object({
  status: whole('The status code; 408, 481 or 503 also if the far end has not responded.'),
  reason: word('Its reason phrase.'),
})

const examples = [
  { mute_status: 'mute' },
  { whisper: { verb: 'say', text: 'One minute left.' } },
  { call_hook: { url: 'https://example.com/transfer', method: 'POST' } },
  { call_status: 'completed' },
]
  .map((example) => `\`${JSON.stringify(example)}\``)
  .join(', ')

function updateRoute(method: 'PUT' | 'POST', operationId: string, summary: string): ApiRoute {
  return defineRoute({
    method,
    path: '/Accounts/{AccountSid}/Calls/{CallSid}',
    parameters: { CallSid: 'The `call_sid` of the call.' },
    access: everyone,
    operationId,
    tag: 'Calls',
    summary,
    description: `${commandRules} For example ${examples}. Its later outcome, such as a hook that does not answer, is in the journal of the call.`,
    body: fields,
    reply: {
      status: 200,
      description: 'The response of the far end to `sip_request`.',
      body: responseField,
      whenEmpty: 'It has begun.',
      emptyStatus: 202,
    },
    errors: ['not_found', 'not_served', 'call_state', 'overloaded'],
    async handle({ account: { account_sid }, params: { CallSid }, body, services: { calls } }) {
      const asked = askedIn(body)
      // Commands that make no sense are refused whether there is such a call or not.
      readCommands(asked)
      const reply = await calls.command(account_sid, CallSid, asked)
      if (reply === undefined) throw notLive(calls.find(account_sid, CallSid) !== undefined)
      return reply.response
    },
  })
}

/** Returns the refusal. Commands need a live call; GET still shows one that has ended. */
function notLive(hasEnded: boolean): AppError {
  const sentence = 'no such live call'
  if (!hasEnded) return new AppError('not_found', sentence)
  return new AppError('not_found', `${sentence}: it has ended`, {
    cure: 'Send commands to calls that have not ended. GET of the same path shows this one for an hour after its end.',
  })
}

export const updateCallRoutes = [
  updateRoute(
    'PUT',
    'updateCall',
    'Gives a live call a command: other verbs, its end, mute, whisper, keys and more.',
  ),
  updateRoute('POST', 'updateCallByPost', 'The same as PUT, for older clients.'),
]

/** Returns the given members: forms send those that were left empty as null. */
function askedIn(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const given = commandMembers.filter(({ name }) => body[name] !== undefined && body[name] !== null)
  return Object.fromEntries(
    given.map(({ name, value }) => [
      name,
      value.form === 'hook' ? toHookForm(body[name] as HookInput) : body[name],
    ]),
  )
}
