// The description of a hook for people, and the fields that several hooks have.

export interface HookField {
  readonly name: string
  readonly type: 'text' | 'number' | 'object'
  readonly meaning: string
  /** The condition under which it is present; left out if it always is. */
  readonly when?: string
}

export interface HookDescription {
  readonly name: string
  /** The name of its example. */
  readonly key:
    | 'call'
    | 'action'
    | 'conference'
    | 'conference-enter'
    | 'conference-wait'
    | 'confirm'
    | 'dtmf'
    | 'hold'
    | 'machine'
    | 'partial'
    | 'queue'
    | 'refer'
    | 'refer-event'
    | 'registration'
    | 'request'
    | 'status'
    | 'transcription'
    | 'wait'
  readonly purpose: string
  /** The response that the application sends. */
  readonly answer: string
  /** True if it carries none of the common fields. */
  readonly isBare?: true
  /** Further examples by their names, each with what it shows. */
  readonly moreExamples?: Readonly<Record<string, string>>
  /** The fields beside the common ones. */
  readonly fields: readonly HookField[]
}

export const field = (name: string, type: HookField['type'], meaning: string, when?: string): HookField => ({
  name,
  type,
  meaning,
  ...(when === undefined ? {} : { when }),
})

export const commonFields: readonly HookField[] = [
  field('call_sid', 'text', 'The id of the call.'),
  field('account_sid', 'text', 'The account that the call belongs to.'),
  field('application_sid', 'text', 'The application that runs the call.', 'one is named'),
  field('direction', 'text', '`inbound` or `outbound`.'),
  field('from', 'text', 'Who calls: the user part of From.'),
  field('to', 'text', 'Who is called: the user part of the Request-URI.'),
  field('call_id', 'text', 'The Call-ID of the SIP dialog.'),
  field('sbc_callid', 'text', 'The same as `call_id`.'),
  field('trace_id', 'text', 'The id of the trace of the call.'),
  field(
    'call_status',
    'text',
    '`trying`, `ringing`, `early-media`, `in-progress`, `completed`, `busy`, `no-answer` or `failed`.',
  ),
  field('sip_status', 'number', 'The last SIP status of the call.'),
  field('sip_reason', 'text', 'The reason phrase of that status.'),
  field(
    'parent_call_sid',
    'text',
    'The `call_sid` of the call that dialled this one.',
    '`dial`, or a user who calls another, made it',
  ),
  field(
    'caller_id',
    'text',
    'The number or name that the called side sees: `callerId` of the `dial`, or the caller.',
    'it has a `parent_call_sid`',
  ),
  field(
    'originating_sip_ip',
    'text',
    'The address that the INVITE came from; behind a proxy of SWITCHHOOK_SIP_PROXIES, the one that it names.',
    'the call is inbound',
  ),
  field(
    'originating_sip_trunk_name',
    'text',
    'The name of the carrier, or `Microsoft Teams`.',
    'a carrier or Microsoft Teams calls',
  ),
  field(
    'customerData',
    'object',
    'The value that `tag` has set, or the `tag` of `POST /Calls`.',
    'it was set',
  ),
  field('fs_public_ip', 'text', 'The public address of the node.', '`SWITCHHOOK_PUBLIC_ADDRESS` is set'),
  field('api_base_url', 'text', 'The base of the REST API, for commands to this call.', 'the node is ready'),
]

export const sipAddress = field('fs_sip_address', 'text', 'The SIP address of the node that serves the call.')

const ofRecording = '`event` is `recording`'

/** Sent after the call, where `call_status` is `completed`. */
export const recordingFields: readonly HookField[] = [
  field('event', 'text', '`recording`.', 'the recording of the call is stored, or has failed'),
  field('recording_status', 'text', '`stored` or `failed`.', ofRecording),
  field('recording_url', 'text', 'Its path below the base of the API.', ofRecording),
  field('recording_format', 'text', '`mp3` or `wav`.', ofRecording),
  field('recording_duration', 'number', 'How long it is, in seconds.', ofRecording),
  field('recording_bytes', 'number', 'The size of its file, in bytes.', 'it is stored'),
  field('recording_reason', 'text', 'Why it failed, or ended before the call.', 'there is a reason'),
]
