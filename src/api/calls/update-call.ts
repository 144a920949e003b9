// Commands to a live call: one with each request, and the response is sent when it has begun.
import type { CallCommand } from '../../calls/calls.ts'
import { AppError } from '../../lib/errors.ts'
import type { Values } from '../define/field.ts'
import { choice, json } from '../define/fields.ts'
import { defineRoute, everyone } from '../define/route.ts'
import type { ApiRoute } from '../define/route.ts'
import { hook, toHook } from './hook.ts'
import { toTag } from './tag.ts'
import { notServed } from './target.ts'

const unserved = 'Not served yet: refused.'
const unservedCommands = [
  'child_call_hook',
  'listen_status',
  'stream_status',
  'transcribe_status',
  'mute_status',
  'conf_mute_status',
  'conf_hold_status',
  'conferenceParticipantAction',
  'whisper',
  'record',
  'dub',
  'dtmf',
  'sip_request',
  'boostAudioSignal',
  'media_path',
  'llm_update',
  'llm_tool_output',
] as const

const fields = {
  call_hook: hook().describe('Asked at once; its verbs take the place of all others.'),
  call_status_hook: hook().describe(
    'Receives the changes of the call from now on; only together with `call_hook`.',
  ),
  call_status: choice(['completed', 'no-answer'])
    .optional()
    .describe('Ends the call: `completed` one that was answered, `no-answer` one that was not.'),
  tag: json().optional().describe('customerData of every later hook of the call.'),
  ...(Object.fromEntries(
    unservedCommands.map((name) => [name, json({}).optional().describe(unserved)]),
  ) as Readonly<Record<(typeof unservedCommands)[number], ReturnType<typeof anything>>>),
} as const

function anything() {
  return json({}).optional()
}

type Body = Values<typeof fields>

function updateRoute(method: 'PUT' | 'POST', operationId: string, summary: string): ApiRoute {
  return defineRoute({
    method,
    path: '/Accounts/{AccountSid}/Calls/{CallSid}',
    parameters: { CallSid: 'The `call_sid` of the call.' },
    access: everyone,
    operationId,
    tag: 'Calls',
    summary,
    description:
      'Exactly one of `call_hook` (alone or with `call_status_hook`), `call_status` and `tag` with each request. What becomes of ' +
      'it afterwards, such as a hook that does not answer, is in the journal of the call.',
    body: fields,
    reply: { status: 202, description: 'It has begun.' },
    errors: ['not_found', 'not_served', 'call_state'],
    async handle({ account: { account_sid }, params, body, services }) {
      const command = toCommand(body)
      if (!services.calls.command(account_sid, params.CallSid, command))
        throw new AppError('not_found', 'no such live call')
    },
  })
}

export const updateCallRoutes = [
  updateRoute('PUT', 'updateCall', 'Gives a live call another application or tag, or ends it.'),
  updateRoute('POST', 'updateCallByPost', 'The same as PUT, for older clients.'),
]

function toCommand(body: Body): CallCommand {
  for (const name of unservedCommands) if (isGiven(body[name])) throw notServed(name)
  const commands = [...redirects(body), ...ends(body), ...tags(body)]
  const [command] = commands
  if (command === undefined || commands.length > 1)
    throw new AppError('bad_request', 'exactly one of call_hook, call_status and tag is required')
  return command
}

function redirects({ call_hook, call_status_hook }: Body): CallCommand[] {
  const next = toHook(call_hook)
  const statusHook = toHook(call_status_hook)
  if (next !== null) return [{ kind: 'redirect', hook: next, ...(statusHook === null ? {} : { statusHook }) }]
  if (statusHook === null) return []
  throw new AppError('bad_request', 'call_status_hook may be sent only together with call_hook')
}

function ends({ call_status }: Body): CallCommand[] {
  return isGiven(call_status) ? [{ kind: 'end', call_status }] : []
}

function tags({ tag }: Body): CallCommand[] {
  const data = toTag(tag)
  return data === undefined ? [] : [{ kind: 'tag', data }]
}

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null
}
