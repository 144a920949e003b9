// The endpoint that makes a call: the request, and the order that the call engine gets.
import type { CallRequest } from '../../calls/calls.ts'
import { AppError } from '../../lib/errors.ts'
import { notServed } from '../../lib/not-served.ts'
import type { Row } from '../../storage/storage.ts'
import { demandVerbs } from '../define/app-json.ts'
import type { Services } from '../services.ts'
import { createField, type Values } from '../define/field.ts'
import { boolean, integer, json, sid, text } from '../define/fields.ts'
import { ofCaller } from '../define/idempotency.ts'
import { object, word } from '../define/reply-fields.ts'
import { defineRoute, everyone } from '../define/route.ts'
import { areRequired } from '../define/shape.ts'
import { host } from '../define/sip-fields.ts'
import { hook, toHook } from './hook.ts'
import { machineDetection, toDetection } from './machine-detection.ts'
import { headersSchema } from './sip-headers.ts'
import { toTag } from './tag.ts'
import { headersOf, target, toTarget } from './target.ts'

// A phone that has rung for an hour will not be answered, and no call may last longer than a day.
const maxRingSeconds = 3600
const maxCallSeconds = 86_400

const ofApplication = ' The value of the application is used if one is named.'
const speech = (max: number) =>
  text({ max }).optional().describe(`Required without an application.${ofApplication}`)

/** Returns a label field. Forms send an empty label as "". */
const label = (use: string) =>
  createField<string>({
    ...text({ max: 64 }).facts,
    normalize: (value) => (value === '' ? undefined : value),
  })
    .optional()
    .describe(`The label of the credential for ${use}, if the vendor has several.${ofApplication}`)

/** Columns of an application; a call without one sets values of its own. */
const scriptFields = {
  app_json: text({ max: 262_144, anyCharacters: true })
    .optional()
    .describe(`JSON text: verbs to run instead of asking \`call_hook\`.${ofApplication}`)
    .example('[{"verb":"say","text":"Hello."}]'),
  speech_synthesis_vendor: speech(64),
  speech_synthesis_language: speech(64),
  speech_synthesis_voice: speech(256),
  speech_synthesis_label: label('synthesis'),
  speech_recognizer_vendor: speech(64),
  speech_recognizer_language: speech(64),
  speech_recognizer_label: label('recognition'),
}

export const callFields = {
  from: text({ min: 1, max: 256 }).describe('The calling number.').example('+15550100'),
  to: target().describe('Whom to call.'),
  application_sid: sid().optional().describe('The application that runs the call once it is answered.'),
  call_hook: hook().describe(`Asked for verbs when the call is answered.${ofApplication}`),
  call_status_hook: hook().describe(`Receives every change of the call.${ofApplication}`),
  ...scriptFields,
  callerName: text({ max: 128 }).optional().describe('The display name of the caller.'),
  fromHost: host({ max: 255 }).optional().describe('The host of the From header.'),
  headers: json<Record<string, string | number>>(headersSchema)
    .optional()
    .describe('Added to the INVITE; a header of the same name in the target replaces it.'),
  tag: json().optional().describe('customerData of every hook of the call.'),
  timeout: integer({ min: 1, max: maxRingSeconds })
    .default(60)
    .describe('Seconds it may ring before it is given up.'),
  timeLimit: integer({ min: 1, max: maxCallSeconds })
    .optional()
    .describe(
      'Seconds that the call may last after its answer. Every call ends after 180 minutes, whatever is set.',
    ),
  trunk: text({ max: 64 }).optional().describe('As `to.trunk`.'),
  answerOnBridge: boolean()
    .optional()
    .describe('Whether the other leg is answered when this one is.')
    .notServed('a call that is made on behalf of another one'),
  amd: machineDetection()
    .optional()
    .describe(
      'Answering machine detection: whether a person or a machine has answered. It begins with the answer, while `call_hook` is asked; its events are sent once that has answered. The words of a recogniser decide. If none is chosen, or with the vendor `none`, the voice and its pauses decide, and beeps. No accuracy is promised.',
    ),
  dual_streams: boolean().optional().describe('Not served yet: refused when true.'),
  sipRequestWithinDialogHook: hook().describe(
    'Asked about INFO and MESSAGE that the other side sends within the dialog, as that of `config`.',
  ),
  referHook: hook().describe('Asked where a REFER of the other side may lead, as that of `config`.'),
} as const

export type Body = Values<typeof callFields>

export const createCall = defineRoute({
  method: 'POST',
  path: '/Accounts/{AccountSid}/Calls',
  access: everyone,
  operationId: 'createCall',
  tag: 'Calls',
  summary: 'Makes a call.',
  description:
    'Responds when the INVITE is sent. The outcome (answered, busy, or failed, also for lack of a carrier or a phone) ' +
    'goes to the status hook and into the record of the call. A call that the fraud defence (CallDefence) refuses gets that refusal as ' +
    'the response, and no record. An Idempotency-Key is stored before the INVITE is sent: ' +
    'a request that is sent again never calls again.',
  body: callFields,
  reply: {
    status: 201,
    description: 'The call is made.',
    component: 'CreatedCall',
    body: object({ sid: word('The call_sid.'), callId: word('The Call-ID of the INVITE.') }),
  },
  errors: [
    'not_served',
    'no_application',
    'account_inactive',
    'stopping',
    'overloaded',
    'account_share',
    'unreadable_number',
    'destination_closed',
    'outbound_stopped',
    'call_rate_limit',
    'outbound_call_limit',
    'call_minutes_limit',
  ],
  keepsKey: true,
  handle: ({ account, body, caller, rows, services, once }) =>
    once(ofCaller(caller.principal), async () => {
      const { application_sid } = body
      if (typeof application_sid === 'string') {
        const application = await rows.applications.find(application_sid)
        if (application?.account_sid !== account.account_sid)
          throw new AppError('bad_request', 'application_sid names no application of the account')
      }
      const { call_sid, call_id, begin } = await services.calls.prepare(
        await toRequest(body, account, services),
      )
      return { answer: { sid: call_sid, callId: call_id }, afterwards: begin }
    }),
})

export async function toRequest(
  body: Body,
  { account_sid, sip_realm: realm }: Pick<Row<'accounts'>, 'account_sid' | 'sip_realm'>,
  services: Pick<Services, 'verbsFault'>,
): Promise<CallRequest> {
  const { from, to, trunk, callerName, timeout = 60, timeLimit } = body
  refuseUnserved(body)
  const tag = toTag(body.tag)
  const fromHost = to.from?.host ?? body.fromHost
  return {
    account_sid,
    runs: await runsOf(body, account_sid, services),
    to: toTarget(to, { realm, trunk }),
    from,
    fromUser: to.from?.user,
    ...(isGiven(fromHost) ? { fromHost } : {}),
    ...(isGiven(callerName) ? { callerName } : {}),
    headers: headersOf(body.headers, to),
    tag,
    ringMs: timeout * 1000,
    ...(isGiven(timeLimit) ? { maxCallMs: timeLimit * 1000 } : {}),
    ...(isGiven(body.referHook) ? { referHook: body.referHook } : {}),
    ...(isGiven(body.sipRequestWithinDialogHook) ? { requestHook: body.sipRequestWithinDialogHook } : {}),
    ...(isGiven(body.amd) ? { machineDetection: toDetection(body.amd) } : {}),
    notes: [],
  }
}

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null
}

/** Refuses, rather than ignores, members that would change the call. */
function refuseUnserved({ dual_streams }: Body): void {
  if (dual_streams === true)
    throw notServed('dual_streams', 'Leave it out: `listen` with the `mixType` `stereo` sends both sides.')
}

const required = [
  'speech_synthesis_vendor',
  'speech_synthesis_language',
  'speech_synthesis_voice',
  'speech_recognizer_vendor',
  'speech_recognizer_language',
] as const

async function runsOf(
  body: Body,
  account_sid: string,
  { verbsFault }: Pick<Services, 'verbsFault'>,
): Promise<CallRequest['runs']> {
  const { application_sid, app_json = null } = body
  if (isGiven(application_sid)) return { application_sid }
  const call_hook = toHook(body.call_hook)
  if (call_hook === null && app_json === null)
    throw new AppError('bad_request', 'application_sid, call_hook or app_json is required')
  const missing = required.filter((name) => !isGiven(body[name]))
  if (missing.length > 0) throw new AppError('bad_request', `${areRequired(missing)} without application_sid`)
  if (app_json !== null) await demandVerbs(app_json, verbsFault)
  const call_status_hook = toHook(body.call_status_hook)
  return { script: { account_sid, call_hook, call_status_hook, ...columnsOf(body), env_vars: null } }
}

type ScriptColumn = keyof typeof scriptFields

function columnsOf(body: Body): { readonly [C in ScriptColumn]: string | null } {
  const names = Object.keys(scriptFields) as ScriptColumn[]
  return Object.fromEntries(names.map((name) => [name, body[name] ?? null])) as Record<
    ScriptColumn,
    string | null
  >
}
