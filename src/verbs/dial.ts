// The verb dial: calls others and connects the first that answers with the caller.
import { Type } from '../lib/type.ts'
import type { Static } from 'typebox'
import {
  causeOf,
  toDecibels,
  type DialOutcome,
  type DialRequest,
  type TalkTranscription,
} from '../calls/verb.ts'
import { printable } from '../lib/printable.ts'
import { defineVerb, type Given } from './define/define-verb.ts'
import { audioServerTitle, streamProperties, streamUrl, toStreamOptions } from './define/stream.ts'
import { nestedTranscription, toTranscription } from './define/recognizer.ts'
import { target, toTarget, word } from './define/dial-target.ts'
import { dubProperties } from './dub.ts'
import { machineDetection, toDetection } from './define/machine-detection.ts'
import { decibels, hookFor, oneOf, optional, replacingTheRest } from './define/schemas.ts'

const sequencesOf = (side: string) =>
  Type.Array(Type.String(), { description: `Keys of ${side}, such as "*1".` })

const talkTranscription = Type.Object(
  {
    ...nestedTranscription,
    channel: Type.Optional(
      Type.Union([Type.Literal(1), Type.Literal(2)], {
        description: 'Only this side: 1 is the caller, 2 the called side. Default: both.',
      }),
    ),
  },
  {
    description:
      'What the two say is transcribed while they talk; `channel_tag` of `speech` is 1 for the caller and 2 for the called side. The answer of the hook is ignored.',
  },
)

const talkStream = Type.Object(
  {
    url: streamUrl,
    ...streamProperties,
    channel: Type.Optional(
      Type.Union([Type.Literal(1), Type.Literal(2)], {
        description:
          'The side whose voice is `mono`: 1 (default) the caller, 2 the called side. With 2 the called side alone hears the server; with 1 neither side does.',
      }),
    ),
  },
  {
    title: audioServerTitle,
    description:
      'An audio server hears both sides while they talk with each other. If the server closes its socket, the two continue to talk.',
  },
)

const schema = Type.Object({
  target: Type.Array(target, {
    minItems: 1,
    description:
      'The targets to call: the first ten of them, all at the same time. The first to answer is connected. The early media of a single target is heard; with several the caller hears ringing. A call may dial thirty legs immediately, and after that one a second; further ones wait.',
  }),
  actionHook: Type.Optional(
    hookFor(
      `Sent when the talk is over, or no target was connected: \`dial_call_status\` says which. ${replacingTheRest} If other verbs have replaced the dial (\`call_hook\`, a transfer), the hook is sent as well, and its answer is not read.`,
    ),
  ),
  answerOnBridge: optional.flag(
    'The caller hears ringing, and is answered when the other side answers. If none is connected and no verb follows, the caller is refused as the last called side was: with its status if that is about the called party (such as 404, 480, 486, 488 or 603), with 480 after 408 from a phone, a ring time-out or a status about the INVITE of the platform, with 504 after 408 from elsewhere, and with 500 after 503. Reason (RFC 3326) has the status that came. If the platform has no room for the two, nothing is called, and the caller is refused with 503 and Retry-After. Default false: the caller is answered immediately, and hears a ringing tone while a target rings.',
  ),
  callerId: word('The number or name that the called side sees. Default: the caller.'),
  callerName: Type.Optional(
    Type.String({
      maxLength: 255,
      ...printable,
      description: 'The display name that the called side sees. Default: that of the caller.',
    }),
  ),
  timeout: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 3600,
      description: 'How long it rings, in seconds. Default 60.',
    }),
  ),
  timeLimit: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 2_000_000,
      description:
        'How long the two parties may talk, in seconds. Every call ends after 180 minutes, whatever is set.',
    }),
  ),
  confirmHook: Type.Optional(
    hookFor(
      'Sent when a target has answered, before it is connected. The verbs of the answer (`gather`, `play`, `say`, `pause`, `tag`) run on the called side alone. It is connected if it is still up when they have ended. To refuse the connection, end the called leg by its `call_sid` meanwhile. A hook that fails refuses it too.',
    ),
  ),
  dialMusic: optional.text('An audio file that the caller hears while it rings, again and again.'),
  dtmfCapture: Type.Optional(
    Type.Union(
      [
        sequencesOf('both sides'),
        Type.Object({
          childCall: Type.Optional(sequencesOf('the called side')),
          parentCall: Type.Optional(sequencesOf('the caller')),
        }),
      ],
      { description: 'The sequences of keys that `dtmfHook` is sent. A list counts for both sides.' },
    ),
  ),
  dtmfHook: Type.Optional(
    hookFor(
      'Sent for each sequence of `dtmfCapture` that was pressed, as `dtmf`: at most five a second after the first twenty, and none while 16 wait to be sent or answered. Its answer has no effect.',
    ),
  ),
  headers: optional.headers('SIP headers of the INVITEs.'),
  anchorMedia: optional.flag(
    'The audio stays on the platform, even with `exitMediaPath` or the command `media_path`. Default false.',
  ),
  exitMediaPath: optional.flag(
    'Once the two talk, they send their audio directly to each other, if possible: the audio of both must come from the address in their SDP, they must have a codec in common, and neither may hold, be muted or encrypt its packets, as browsers do. Each side thus sees the media address of the other. Anything that needs the platform (a whisper, `mute_status`, `dub`, `dtmf`, a hold, the end of the dial) brings the audio back to the platform; with `dtmfCapture` it stays there. Default false.',
  ),
  listen: Type.Optional(talkStream),
  stream: Type.Optional(talkStream),
  transcribe: Type.Optional(talkTranscription),
  dub: Type.Optional(
    Type.Array(Type.Object(dubProperties), {
      maxItems: 16,
      description: 'The options of the verb dub: tracks that the called side hears once the two talk.',
    }),
  ),
  amd: Type.Optional(
    machineDetection(
      'It hears each target from its answer on, also while a `confirmHook` runs, and ends with the dial. Each request has `dial_call_sid`, the leg that is heard.',
    ),
  ),
  referHook: Type.Optional(
    hookFor(
      'Sent when the phone of either side transfers the other one (REFER), with refer_details. Its verbs run on the side that is transferred; a status of 400 to 699 refuses the transfer. An answer without verbs joins two calls as the phone asks (Replaces), and refuses any other transfer with 603. Without the hook a user may transfer to users of its SIP realm, and join its two calls.',
    ),
  ),
  onHoldHook: Type.Optional(
    hookFor(
      'Sent when either side puts the other one on hold, with `hold_detail`. The side on hold hears the verbs of the answer (`say`, `play`, `pause`), and the hook is sent again when they have run, until the two talk again. After an empty answer, other verbs or a failure, `onHoldMusic` of `config` plays.',
    ),
  ),
  boostAudioSignal: decibels(
    'The gain of everything that the called side hears, in dB: a number, or a text like "+6 dB".',
  ),
  forwardPAI: optional.flag(
    'Whether Privacy is passed on and, for a call from a carrier, P-Asserted-Identity, Diversion, History-Info and User-to-User; and whether the caller gets History-Info and User-to-User of the responses of a called carrier. Default true.',
  ),
  proxy: word('A SIP URI: where INVITEs to sip targets are sent first.'),
  tag: optional.anything('The customerData of the legs that are called.'),
  srtpEncryption: oneOf(
    ['sdes', 'dtls'],
    'Requires encrypted audio for sip targets; without it the call fails. `sdes` is SRTP with keys in SDP; `dtls` is SRTP with keys of a DTLS handshake, over ICE if the far end supports it.',
  ),
  method: optional.text('Accepted, and of no effect.'),
  confirmMethod: optional.text('Accepted, and of no effect.'),
})

type DialOptions = Static<typeof schema>
type GivenTarget = DialOptions['target'][number]

const maxTargets = 10
const defaultRingSeconds = 60

export const dial = defineVerb({
  name: 'dial',
  summary: 'Calls phones, users or SIP addresses, and connects the first that answers with the caller.',
  example: [
    {
      verb: 'dial',
      target: [
        { type: 'user', name: 'alice' },
        { type: 'phone', number: '+15550100' },
        { type: 'sip', sipUri: 'sip:desk@192.0.2.20' },
      ],
      answerOnBridge: true,
      timeout: 20,
      actionHook: '/dialled',
      onHoldHook: '/on-hold',
    },
    { verb: 'say', text: 'The call was not taken. Goodbye.' },
  ],
  needs: 'nothing',
  uses: ['legs', 'hooks', 'streams'],
  schema,
  async execute(options, { legs, hooks, streams, signal }) {
    const { listen, stream = listen } = options
    const targets = await Promise.all(
      distinct(options.target).map((given) => toTarget(given, options, () => legs.realm())),
    )
    const { dub: tracks = [], boostAudioSignal } = options
    const { callerId, callerName, timeLimit, confirmHook, dialMusic, dtmfHook, tag } = options
    const { actionHook, referHook, onHoldHook, transcribe, amd } = options
    const detection = amd && toDetection(amd, 'dial')
    const outcome = await legs.dial({
      targets,
      answersOnBridge: options.answerOnBridge ?? false,
      headers: options.headers ?? {},
      ringMs: (options.timeout ?? defaultRingSeconds) * 1000,
      capture: toCapture(options.dtmfCapture),
      mediaPath: { isAnchored: options.anchorMedia ?? false, exits: options.exitMediaPath ?? false },
      forwardsIdentity: options.forwardPAI ?? true,
      dubs: tracks.map((track) => ({ ...track, verb: 'dub' })),
      signal,
      ...(stream === undefined ? {} : { stream: toTalkStream(stream, streams) }),
      ...(transcribe === undefined || transcribe.enable === false
        ? {}
        : { transcription: toTalkTranscription(transcribe) }),
      ...(detection === undefined ? {} : { machineDetection: detection }),
      ...(boostAudioSignal === undefined ? {} : { boostDb: toDecibels(boostAudioSignal) }),
      callerId,
      callerName,
      ...(timeLimit === undefined ? {} : { maxTalkMs: timeLimit * 1000 }),
      confirmHook,
      music: dialMusic,
      captureHook: dtmfHook,
      tag,
      referHook,
      holdHook: onHoldHook,
    })
    // The journal has the outcome of each leg.
    const done = outcome?.call_status === 'completed' ? undefined : 'failed'
    if (actionHook === undefined) return done
    const result = toResult(outcome)
    // Verbs that have replaced the dial neither wait for its hook nor are replaced by the answer of the hook.
    if (causeOf(signal) === 'replaced') void hooks.tell(actionHook, result)
    else await hooks.ask(actionHook, result, signal)
    return done
  },
})

/** The called side of a dial hears the server only if the server listens to that side. */
function toTalkStream(
  given: Static<typeof talkStream>,
  streams: Given<'streams'>['streams'],
): NonNullable<DialRequest['stream']> {
  const isOfCalled = given.channel === 2
  const options = toStreamOptions(given, 'dial: listen')
  const plan = streams.plan({ ...options, isBidirectional: options.isBidirectional && isOfCalled })
  return { plan, isOfCalled }
}

function toTalkTranscription(given: Static<typeof talkTranscription>): TalkTranscription {
  const { channel, recognizer } = given
  const both = recognizer?.separateRecognitionPerChannel === false ? [1 as const] : ([1, 2] as const)
  return { ...toTranscription(given), channels: channel === undefined ? both : [channel] }
}

function toResult(outcome: DialOutcome | undefined): Record<string, unknown> {
  if (outcome === undefined) return { dial_call_status: 'no-answer', dial_sip_status: 487 }
  return {
    dial_call_sid: outcome.call_sid,
    dial_call_status: outcome.call_status,
    dial_sip_status: outcome.sip_status,
    dial_sbc_callid: outcome.sip_call_id,
  }
}

function distinct(targets: readonly GivenTarget[]): readonly GivenTarget[] {
  return [...new Map(targets.map((given) => [JSON.stringify(given), given])).values()].slice(0, maxTargets)
}

function toCapture(given: DialOptions['dtmfCapture']): {
  parent: readonly string[]
  child: readonly string[]
} {
  if (given === undefined) return { parent: [], child: [] }
  if (Array.isArray(given)) return { parent: given, child: given }
  return { parent: given.parentCall ?? [], child: given.childCall ?? [] }
}
