// The payloads of hooks, for people: each field with its meaning, and examples that a test has received. The test in
// test/conformance/hook-payloads.test.ts compares every payload of a real call with this table.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { field, recordingFields, sipAddress, type HookDescription } from './hook-fields.ts'
import { machineHook } from './machine-hook.ts'
import { registrationHook } from './registration-hook.ts'
import { roomHooks } from './room-hooks.ts'

export const ofJambonz =
  'The names follow jambonz, an open-source voice platform, so that applications written for it can be moved: hence `Jambonz-Signature`, and `jambonz` in `call_termination_by` for the platform.'

const verbId = field('verb_id', 'text', 'The `id` of the verb.', 'the verb has one')

const speechField = (when?: string) =>
  field(
    'speech',
    'object',
    'What was said: `language_code`, `channel_tag` (1, or 2 for the called side of a `dial`), `is_final`, `alternatives` (each with `transcript` and `confidence` from 0 to 1), and `vendor` with its `name` and its own message `evt`.',
    when,
  )

const latencyField = field(
  'stt_latency_ms',
  'text',
  'The time between the last sound and the result, in milliseconds.',
  '`notifySttLatency` of `config` is on, and the words are final',
)

export const hookDescriptions: readonly HookDescription[] = [
  {
    name: 'Call hook',
    key: 'call',
    purpose:
      'Asked what to do when a call comes in, and when an outbound call is answered: `call_hook` of the application. So is the `call_hook` or `child_call_hook` of a command, which takes over a call that is up.',
    answer: 'A JSON array of verbs.',
    fields: [
      field('caller_name', 'text', 'The display name of the caller; may be empty.'),
      field('service_provider_sid', 'text', 'The service provider of the account.'),
      field(
        'stir_shaken',
        'object',
        'Whether the calling number is proven: `verstat` (`TN-Validation-Passed`, `TN-Validation-Failed`, `No-TN-Validation`), then `attest` (`A`, `B` or `C`) and `origid`, or else `code` and `reason`.',
        'the INVITE of a carrier has an Identity header',
      ),
      field('local_sip_address', 'text', 'The address and port that the INVITE reached.'),
      field(
        'sip',
        'object',
        'The INVITE: `raw`, `headers`, `body`, `method`, `version`, `uri`, and `payload` with the parts of the body. Headers whose names begin with `X-` and that name account, application, user or carrier are written by the platform alone.',
        'the call is inbound, and the hook is a POST or a WebSocket',
      ),
      field(
        'participants',
        'object',
        'A list of the participants who are heard, the caller first: `participant` (`caller` or `callee`), `uri_user` and `uri_host` of each.',
        'the call is a recording session (SIPREC)',
      ),
      field('defaults', 'object', 'The `synthesizer` and `recognizer` of the application.'),
      field('env_vars', 'object', 'The variables of the application.', 'it has any'),
    ],
  },
  {
    name: 'Action hook',
    key: 'action',
    purpose:
      'Asked when a verb with an `actionHook` has ended, and by `redirect`. For `conference` it has only the common fields.',
    answer:
      'A JSON array of verbs, which replace the rest of the list; an empty body, `[]` or `{}` continues with the rest.',
    fields: [
      sipAddress,
      field('verb_id', 'text', 'The `id` of the verb.', 'the verb has one'),
      field(
        'reason',
        'text',
        '`gather`: `dtmfDetected`, `speechDetected`, `stt-low-confidence`, `timeout`, or `error` without a recogniser. `play`: `playCompleted` or `playFailed`.',
        'gather, play',
      ),
      field(
        'digits',
        'text',
        'The keys that were pressed. For `listen`: the key that ended it, or an empty text.',
        'gather, with `dtmfDetected`; listen',
      ),
      speechField('gather, with `speechDetected` or `stt-low-confidence`'),
      latencyField,
      field('details', 'text', 'Why no recogniser hears the caller.', 'gather, with `error`'),
      field('dial_call_duration', 'number', 'How long it was, in whole seconds.', 'listen'),
      field(
        'playback_seconds',
        'number',
        'How much was played, in whole seconds.',
        'play, with `playCompleted`',
      ),
      field('playback_milliseconds', 'number', 'The same in milliseconds.', 'play, with `playCompleted`'),
      field(
        'playback_last_offset_pos',
        'text',
        'The point at which the playback ended, in samples: a `seekOffset` from which to continue.',
        'play, with `playCompleted`',
      ),
      field('status', 'text', '`fail`.', 'play, with `playFailed`'),
      field(
        'dial_call_status',
        'text',
        '`completed` if the two have talked; otherwise `busy`, `no-answer` or `failed`, the outcome of the target that failed last.',
        'dial',
      ),
      field(
        'dial_sip_status',
        'number',
        'The SIP status of that target: 200 when it answered, 487 when it rang too long.',
        'dial',
      ),
      field('dial_call_sid', 'text', 'The `call_sid` of that target.', 'dial has called a target'),
      field('dial_sbc_callid', 'text', 'The Call-ID of that target.', 'dial has called a target'),
      field(
        'result',
        'text',
        '`success` or `failed`; `sip_status` is then that of the response.',
        'sip:request',
      ),
      field('err', 'text', 'Why it failed.', 'sip:request, with `failed`'),
      field('refer_status', 'number', 'The status of the response to the REFER.', 'sip:refer'),
      field(
        'final_referred_call_status',
        'number',
        'The outcome of the call that the far end made, as a SIP status.',
        'sip:refer, if the far end has reported it',
      ),
      field('queue_sid', 'text', 'The queue: `queue:`, the account and the name.', 'enqueue'),
      field('queue_time', 'number', 'How long the caller waited, in whole seconds.', 'enqueue'),
      field(
        'queue_result',
        'text',
        '`bridged`: another call took it, and the two have parted. `hangup`: it hung up while it waited. `leave`: the verb `leave`, or other verbs in place of this one. `error`: the queue is full, or the two could not be connected.',
        'enqueue',
      ),
      field(
        'dequeue_result',
        'text',
        '`complete`: the two have parted. `timeout`: no caller came. `hangup`: the call was over, or other verbs took over, before one came, or the two could not be connected.',
        'dequeue',
      ),
    ],
  },
  {
    name: 'Confirm hook',
    key: 'confirm',
    purpose:
      'Asked when a target of `dial` has answered, before it is connected: `confirmHook` of the target or of the `dial`. The fields describe the call to the target; `parent_call_sid` names the call of the caller.',
    answer:
      'A JSON array of verbs, which run on the called side alone. The two are connected when they have ended and the called side is still there; end its call by its `call_sid` to turn the caller away.',
    fields: [sipAddress],
  },
  {
    name: 'Partial result hook',
    key: 'partial',
    purpose:
      'The `partialResultHook` of `gather` is sent words that may still change, as `speech` with `is_final` false. It is left out while another one has no answer, and while the verb is `sensitive`.',
    answer: 'It is ignored.',
    fields: [sipAddress, verbId, speechField()],
  },
  {
    name: 'Transcription hook',
    key: 'transcription',
    purpose:
      'The `transcriptionHook` of `transcribe`, in `config`, `dial` and `listen` too, is sent what was said. A `translationHook` beside it is not sent: no vendor that is served translates.',
    answer:
      'A JSON array of verbs, which run immediately in place of those that run. Of `dial` and `listen` it is ignored.',
    fields: [
      sipAddress,
      verbId,
      speechField('it is about words'),
      field(
        'speech_event',
        'object',
        'An event of the vendor, such as the end of an utterance: `type`, and what the vendor says of it.',
        'the `recognizer` has `interim`, and the vendor reports one',
      ),
      latencyField,
    ],
  },
  machineHook,
  {
    name: 'DTMF hook',
    key: 'dtmf',
    purpose:
      'The `dtmfHook` of the `dial` is sent each sequence of `dtmfCapture` that is pressed while two talk. The fields describe the call of the side that pressed.',
    answer: 'Its verbs do not run. To change the call, your program sends a command.',
    fields: [sipAddress, field('dtmf', 'text', 'The sequence.')],
  },
  {
    name: 'Hold hook',
    key: 'hold',
    purpose:
      'Asked when one of two who talk puts the other one on hold: `onHoldHook` of the `dial`. The fields describe the call of the side on hold.',
    answer:
      'A JSON array of `say`, `play` and `pause`, which that side hears; the hook is asked again when they have run. With an empty body, `[]` or `{}`, that side hears `onHoldMusic` of `config`, or what the other side sends.',
    fields: [
      sipAddress,
      field(
        'hold_detail',
        'object',
        '`from` and `to`: the headers of the request that puts the call on hold, or the numbers of the two when an answer did.',
      ),
    ],
  },
  ...roomHooks,
  {
    name: 'Refer hook',
    key: 'refer',
    purpose:
      'Asked when a phone transfers the other side (REFER): `referHook` of the `dial`, of `config`, or of `POST /Calls`. The fields describe the call of the phone that asks.',
    answer:
      'A JSON array of verbs: they run on the side that is transferred, or replace those of the call if it has no other side. A status of 400 to 699 refuses. An empty body, `[]` or `{}` joins two calls as the phone requests (Replaces).',
    fields: [
      sipAddress,
      field(
        'refer_details',
        'object',
        '`sip_refer_to` and `refer_to_user`: the Refer-To header and its user part. `sip_referred_by` and `referred_by_user`: the same of Referred-By, when it is sent. `sip_user_agent`: the User-Agent, when it is sent. `referring_call_sid`: the call of the phone that asks. `referred_call_sid`: the call of the side that is transferred, when there is one. Headers whose names begin with `X-` are in it with `_` for `-`: `x_department`.',
      ),
    ],
  },
  {
    name: 'Transfer event hook',
    key: 'refer-event',
    purpose:
      'Sent each status of the call that the far end makes for a `sip:refer`, as its NOTIFYs report it: the `eventHook` of that verb.',
    answer:
      'A JSON array of verbs, which immediately replace the verb and the rest; an empty body, `[]` or `{}` changes nothing.',
    fields: [
      sipAddress,
      field('verb_id', 'text', 'The `id` of the verb.', 'the verb has one'),
      field('event', 'text', '`transfer-status`.'),
      field(
        'call_status',
        'number',
        'The SIP status of the call that the far end makes, instead of the one above.',
      ),
    ],
  },
  {
    name: 'Hook of requests within the dialog',
    key: 'request',
    purpose:
      'Asked when the far end of a call sends INFO or MESSAGE: `sipRequestWithinDialogHook` of `config` or of `POST /Calls`. It is not asked about INFO that carries keys, about requests before the answer, or about legs that a call has dialled. By then the platform has answered the far end with 200, or with 202 to a MESSAGE.',
    answer:
      'A JSON array of verbs, which replace those that run; an empty body, `[]` or `{}` changes nothing.',
    fields: [
      sipAddress,
      field('verb_id', 'text', 'The `id` of the verb that runs.', 'the verb has one'),
      field('sip_method', 'text', '`INFO` or `MESSAGE`.'),
      field('sip_body', 'text', 'The body, 16,384 characters of it at most; may be empty.'),
      field(
        'sip_headers',
        'object',
        'The headers by their names in lower case: `content-type`, and those that do not belong to the SIP dialog itself.',
      ),
    ],
  },
  registrationHook,
  {
    name: 'Status hook',
    key: 'status',
    purpose:
      'The `call_status_hook` of the application is sent each change of a call. It is sent nothing of an inbound call that the platform refuses before its call hook has returned verbs, for example because the hook failed: such a call is in the call records, and a failed hook in the alerts. The platform repeats a message until your server accepts it; a repetition has the `webhook-id` of the first. The messages of one call come in order, and do not wait for its other hooks.',
    answer: 'Any status 2xx; the body is not read.',
    fields: [
      sipAddress,
      field('duration', 'number', 'Whole seconds since the answer.', '`completed`'),
      field(
        'call_termination_by',
        'text',
        '`caller` for the other side, `jambonz` for the platform.',
        'the call was ended by one of them',
      ),
      field('sip_reason_header', 'text', 'The Reason header that came with the end.', 'there was one'),
      field('headers', 'object', 'Headers of the BYE, names in snake_case.', 'there were any'),
      field(
        'failure',
        'object',
        'The reason, as in the journal and the call record: `code`, which the reference of errors lists, `sentence` and `cure`.',
        'the platform has refused the call, given it up or ended it for a failure',
      ),
      field(
        'error',
        'text',
        'The error code.',
        'an action hook returned something that is not a list of verbs',
      ),
      ...recordingFields,
    ],
    moreExamples: { recording: 'With `event: recording`' },
  },
]

let examples: Readonly<Record<string, unknown>> | undefined

/** The first is the hook's own and needs no text; the others say what they show. */
export interface HookExample {
  readonly shows?: string
  readonly body: unknown
}

/** Returns the payloads that a test has received, with normalised ids. */
export function hookExamples({ key, moreExamples = {} }: HookDescription): readonly HookExample[] {
  return [
    { body: exampleOf(key) },
    ...Object.entries(moreExamples).map(([name, shows]) => ({ shows, body: exampleOf(name) })),
  ]
}

function exampleOf(key: string): unknown {
  examples ??= JSON.parse(readFileSync(join(import.meta.dirname, 'hook-examples.json'), 'utf8')) as Record<
    string,
    unknown
  >
  return examples[key]
}
