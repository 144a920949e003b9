// Commands to a live call: one with each request, besides a whisper, and the response is sent when it has begun.
import { maxContentLength } from '../../calls/application/app-requests.ts'
import type { AskedRequest } from '../../calls/application/app-requests.ts'
import { decibelPattern, maxGainDb, minGainDb, toDecibels } from '../../calls/application/decibels.ts'
import type { CallCommand, PlainCommand } from '../../calls/calls.ts'
import { ownMethods } from '../../calls/leg/leg-requests.ts'
import type { OwnMethod } from '../../calls/leg/leg-requests.ts'
import { AppError } from '../../lib/errors.ts'
import { createField } from '../define/field.ts'
import type { JsonSchema, Values } from '../define/field.ts'
import { choice, json } from '../define/fields.ts'
import { defineRoute, everyone } from '../define/route.ts'
import { object, whole, word } from '../define/reply-fields.ts'
import type { ApiRoute } from '../define/route.ts'
import { hook, toHook } from './hook.ts'
import { headersSchema } from './sip-headers.ts'
import { toTag } from './tag.ts'
import { notServed } from './target.ts'

const unserved = 'Not served yet: refused.'
const unservedCommands = [
  'listen_status',
  'stream_status',
  'transcribe_status',
  'conf_mute_status',
  'conf_hold_status',
  'conferenceParticipantAction',
  'record',
  'media_path',
  'llm_update',
  'llm_tool_output',
] as const

interface KeysInput {
  readonly digit: string
  readonly duration?: number
}

const keys: JsonSchema = {
  type: 'object',
  required: ['digit'],
  properties: {
    digit: {
      type: 'string',
      pattern: '^[0-9A-Da-d*#w]{1,64}$',
      'x-rule': 'must be keys: 0 to 9, A to D, * and #, and w for half a second of rest',
      description: 'The keys; `w` waits for half a second.',
    },
    duration: {
      type: 'integer',
      minimum: 40,
      maximum: 10_000,
      description: 'How long each is pressed, in ms; 250.',
    },
  },
}

const gain: JsonSchema = {
  type: ['number', 'string'],
  minimum: minGainDb,
  maximum: maxGainDb,
  pattern: decibelPattern,
  'x-rule': 'must be a number of dB, like "-10 dB"',
}

interface RequestInput {
  readonly method: OwnMethod
  readonly content_type: string
  readonly content: string
  readonly headers?: Readonly<Record<string, string | number>>
}

const request: JsonSchema = {
  type: 'object',
  required: ['method', 'content_type', 'content'],
  properties: {
    method: {
      type: 'string',
      enum: ownMethods,
      description: 'One that changes nothing about the call itself.',
    },
    content_type: { type: 'string', maxLength: 256, description: 'What the content is, like `text/plain`.' },
    content: { type: 'string', maxLength: maxContentLength, description: 'The body; may be empty.' },
    headers: { ...headersSchema, description: 'Headers of the request.' },
  },
}

// What is inside a verb is checked as an application's answer is.
const verb: JsonSchema = { type: 'object', maxProperties: 200, additionalProperties: true }
const whispered: JsonSchema = { anyOf: [verb, { type: 'array', items: verb, maxItems: 100 }] }

const fields = {
  call_hook: hook().describe('Asked at once; its verbs take the place of all others.'),
  call_status_hook: hook().describe(
    'Receives the changes of the call from now on; only together with `call_hook`.',
  ),
  call_status: choice(['completed', 'no-answer'])
    .optional()
    .describe('Ends the call: `completed` one that was answered, `no-answer` one that was not.'),
  tag: json().optional().describe('customerData of every later hook of the call.'),
  child_call_hook: hook().describe(
    'Of a call that talks with one it dialled: that one goes on as a call of its own, with the verbs of this hook. Alone, or with `call_hook`.',
  ),
  mute_status: choice(['mute', 'unmute'])
    .optional()
    .describe('Whether the other side hears the one that the path names; while two talk.'),
  whisper: json<object>(whispered)
    .optional()
    .describe(
      'A verb `say`, `play` or `pause`, or a list: heard by the one that the path names, while two talk. Alone, or with one other command.',
    ),
  dtmf: json<KeysInput>(keys).optional().describe('Presses keys at the far end of an answered call.'),
  dub: json<object>(verb)
    .optional()
    .describe('What the verb `dub` takes: a track that the far end of an answered call hears.'),
  boostAudioSignal: createField<number | string>({ schema: gain })
    .optional()
    .describe('How much louder the far end of an answered call hears everything, in dB: `6`, or `"-10 dB"`.'),
  sip_request: json<RequestInput>(request)
    .optional()
    .describe(
      'Sends a request to the far end of an answered call. The reply has the status and the reason of its response.',
    ),
  ...(Object.fromEntries(
    unservedCommands.map((name) => [name, json({}).optional().describe(unserved)]),
  ) as Readonly<Record<(typeof unservedCommands)[number], ReturnType<typeof anything>>>),
} as const

function anything() {
  return json({}).optional()
}

const responseField = object({
  status: whole('The status code; 408, 481 or 503 also where the far end has not responded.'),
  reason: word('Its reason phrase.'),
})

const defaultKeyMs = 250

/** At least one of the two. */
interface Asked {
  readonly command?: CallCommand
  readonly request?: AskedRequest
}

function noSuchCall(): AppError {
  return new AppError('not_found', 'no such live call')
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
      'Exactly one command with each request: `call_hook` (alone, with `call_status_hook` or with `child_call_hook`), ' +
      '`child_call_hook`, `call_status`, `tag`, `mute_status`, `whisper`, `dtmf`, `dub`, `boostAudioSignal` or `sip_request`. A `whisper` may come ' +
      'together with one of the others. What becomes of it afterwards, such as a hook that does not answer, is in the journal ' +
      'of the call.',
    body: fields,
    reply: {
      status: 200,
      description: 'What the far end has responded to `sip_request`.',
      body: responseField,
      whenEmpty: 'It has begun.',
      emptyStatus: 202,
    },
    errors: ['not_found', 'not_served', 'call_state', 'overloaded'],
    async handle({ account: { account_sid }, params: { CallSid }, body, services: { calls } }) {
      const { command, request: sent } = toCommand(body)
      if (command !== undefined && !calls.command(account_sid, CallSid, command)) throw noSuchCall()
      if (sent === undefined) return undefined
      const response = await calls.request(account_sid, CallSid, sent)
      if (response === undefined) throw noSuchCall()
      return response
    },
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

function toCommand(body: Body): Asked {
  for (const name of unservedCommands) if (isGiven(body[name])) throw notServed(name)
  const sent = toRequest(body)
  const [plain, ...others] = [...hooks(body), ...ends(body), ...tags(body), ...talks(body)]
  const { whisper: verbs } = body
  if (others.length > 0 || (plain !== undefined && sent !== undefined)) throw notOne()
  if (isGiven(verbs)) {
    // With both sides redirected there are two others already.
    if (plain?.kind === 'part' && plain.parent !== undefined) throw notOne()
    const whisper = { kind: 'whisper', verbs, ...(plain === undefined ? {} : { besides: plain }) } as const
    return sent === undefined ? { command: whisper } : { command: whisper, request: sent }
  }
  if (plain !== undefined) return { command: plain }
  if (sent !== undefined) return { request: sent }
  throw notOne()
}

function hooks({ call_hook, call_status_hook, child_call_hook }: Body): PlainCommand[] {
  const next = toHook(call_hook)
  const child = toHook(child_call_hook)
  if (child !== null) {
    if (isGiven(call_status_hook))
      throw new AppError('bad_request', 'call_status_hook may not be sent together with child_call_hook')
    return [{ kind: 'part', child, ...(next === null ? {} : { parent: next }) }]
  }
  const statusHook = toHook(call_status_hook)
  if (next !== null) return [{ kind: 'redirect', hook: next, ...(statusHook === null ? {} : { statusHook }) }]
  if (statusHook === null) return []
  throw new AppError('bad_request', 'call_status_hook may be sent only together with call_hook')
}

function ends({ call_status }: Body): PlainCommand[] {
  return isGiven(call_status) ? [{ kind: 'end', call_status }] : []
}

function tags({ tag }: Body): PlainCommand[] {
  const data = toTag(tag)
  return data === undefined ? [] : [{ kind: 'tag', data }]
}

function talks({ mute_status, dtmf, dub, boostAudioSignal }: Body): PlainCommand[] {
  return [
    ...(isGiven(mute_status) ? [{ kind: 'mute', isMuted: mute_status === 'mute' } as const] : []),
    ...(isGiven(dub) ? [{ kind: 'dub', options: dub } as const] : []),
    ...(isGiven(boostAudioSignal) ? [{ kind: 'boost', gainDb: toDecibels(boostAudioSignal) } as const] : []),
    ...(isGiven(dtmf)
      ? [{ kind: 'dtmf', digits: dtmf.digit, durationMs: dtmf.duration ?? defaultKeyMs } as const]
      : []),
  ]
}

function toRequest({ sip_request }: Body): AskedRequest | undefined {
  if (!isGiven(sip_request)) return undefined
  const { method, content_type: contentType, content, headers } = sip_request
  return { method, contentType, content, ...(headers === undefined ? {} : { headers }) }
}

function notOne(): AppError {
  return new AppError(
    'bad_request',
    'exactly one command is required, besides a whisper: call_hook, child_call_hook, call_status, tag, mute_status, whisper, dtmf, dub, boostAudioSignal or sip_request',
  )
}

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null
}
