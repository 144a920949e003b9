// The verb dial: calls others and connects the first that answers with the caller.
import { Type } from './define/type.ts'
import type { Static } from 'typebox'
import type { DialOutcome, DialRequest } from '../calls/bridge/dial-request.ts'
import { causeOf } from '../calls/session/stop.ts'
import { toDecibels } from '../calls/application/decibels.ts'
import { defineVerb } from './define/define-verb.ts'
import type { Given } from './define/define-verb.ts'
import { audioServerTitle, streamProperties, streamUrl, toStreamOptions } from './define/stream.ts'
import { target, toTarget, word } from './define/dial-target.ts'
import { dubProperties } from './dub.ts'
import {
  decibels,
  hookFor,
  oneOf,
  optional,
  replacingTheRest,
  speechRecognition,
  untilServed,
} from './define/schemas.ts'

const sequencesOf = (side: string) =>
  Type.Array(Type.String(), { description: `Keys of ${side}, such as "*1".` })

const talkStream = Type.Object(
  {
    url: streamUrl,
    ...streamProperties,
    channel: Type.Optional(
      Type.Union([Type.Literal(1), Type.Literal(2)], {
        description:
          'Whose party the server hears as the one that says: 1 (default) the caller, 2 the called side. What the server says is heard by the called side alone, with 2; with 1 it is not heard.',
      }),
    ),
  },
  {
    title: audioServerTitle,
    description:
      'An audio server hears the two from the moment they talk until they part. When the server ends it, the two talk on.',
  },
)

const schema = Type.Object({
  target: Type.Array(target, {
    minItems: 1,
    description:
      'Who is called: the first ten of them together. The first to answer is connected. A call may dial thirty legs at once, and one a second from then on: others wait.',
  }),
  actionHook: Type.Optional(
    hookFor(
      `Asked when the two have parted, and when no target was connected: \`dial_call_status\` says which. ${replacingTheRest} Where other verbs have taken the place of the dial (\`call_hook\`, a transfer), the hook is sent the same, and its answer is not read.`,
    ),
  ),
  answerOnBridge: optional.flag(
    'The caller hears ringing, and is answered when the other side answers. Default false: answered at once; it then hears a ringing tone while a target rings.',
  ),
  callerId: word('The number or name that the called side sees. Default: the caller.'),
  callerName: Type.Optional(
    Type.String({
      maxLength: 255,
      pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
      'x-rule': 'must not contain control characters',
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
      description: 'How long the two may talk, in seconds.',
    }),
  ),
  confirmHook: Type.Optional(
    hookFor(
      'Asked when a target has answered, before it is connected. The verbs that it answers (`gather`, `play`, `say`, `pause`, `tag`) run on the called side alone; it is connected if it is still there when they have ended. To turn the call away, end the called leg by its `call_sid` meanwhile. A hook that fails turns it away too.',
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
      'Sent each sequence of `dtmfCapture` that was pressed, as `dtmf`: five a second after the first twenty, and none while 16 wait for their turn or an answer. Its answer changes nothing.',
    ),
  ),
  headers: optional.headers('SIP headers of the INVITEs.'),
  anchorMedia: optional.flag(
    'The sound stays with the platform, whatever `exitMediaPath` and the command `media_path` say. Default false.',
  ),
  exitMediaPath: optional.flag(
    'Once the two talk, each gets the address of the other and they send their sound to each other, where they can: both are heard from the places that their SDP names, have a codec in common, and neither holds, is muted or encrypts its packets, as browsers do. Each thus learns the media address of the other. What needs the platform (a whisper, `mute_status`, `dub`, `dtmf`, a hold, the end of the dial) brings the sound back; with `dtmfCapture` it stays. Default false.',
  ),
  listen: Type.Optional(talkStream),
  stream: Type.Optional(talkStream),
  transcribe: optional.anything(untilServed(speechRecognition, 'What is said, as text.')),
  dub: Type.Optional(
    Type.Array(Type.Object(dubProperties), {
      maxItems: 16,
      description: 'What the verb dub takes: tracks that the called side hears once they talk.',
    }),
  ),
  amd: optional.anything(untilServed('answering machine detection', 'Tells machines from people.')),
  referHook: Type.Optional(
    hookFor(
      'Asked when the phone of either side transfers the other one (REFER), with refer_details. Its verbs run on the side that is transferred; a status of 400 to 699 refuses. An answer without verbs joins two calls as the phone asks (Replaces). Without the hook a user may transfer to users of its SIP realm, and join its two calls.',
    ),
  ),
  onHoldHook: Type.Optional(
    hookFor(
      'Asked when either side puts the other one on hold, with `hold_detail`. The verbs that it answers (`say`, `play`, `pause`) are heard by the side on hold, and the hook is asked again when they have run, until the two talk again. An empty answer, other verbs or a failure leave it to `onHoldMusic` of `config`.',
    ),
  ),
  boostAudioSignal: decibels(
    'How much louder the called side hears everything, in dB: a number, or a text like "+6 dB".',
  ),
  forwardPAI: optional.flag(
    'Whether Privacy, and of a carrier P-Asserted-Identity and Diversion, are passed on. Default true.',
  ),
  proxy: word('A SIP URI: where INVITEs to sip targets are sent first.'),
  tag: optional.anything('The customerData of the legs that are called.'),
  srtpEncryption: oneOf(
    ['sdes', 'dtls'],
    'The audio of sip targets is encrypted, or there is no call: `sdes` is SRTP with keys in SDP; `dtls` is SRTP with keys of a DTLS handshake, over a path of ICE where the far end has that.',
  ),
  method: optional.text('Taken, and of no effect.'),
  confirmMethod: optional.text('Taken, and of no effect.'),
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
    const { actionHook, referHook, onHoldHook } = options
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
      ...(boostAudioSignal === undefined ? {} : { boostDb: toDecibels(boostAudioSignal) }),
      ...(callerId === undefined ? {} : { callerId }),
      ...(callerName === undefined ? {} : { callerName }),
      ...(timeLimit === undefined ? {} : { maxTalkMs: timeLimit * 1000 }),
      ...(confirmHook === undefined ? {} : { confirmHook }),
      ...(dialMusic === undefined ? {} : { music: dialMusic }),
      ...(dtmfHook === undefined ? {} : { captureHook: dtmfHook }),
      ...(tag === undefined ? {} : { tag }),
      ...(referHook === undefined ? {} : { referHook }),
      ...(onHoldHook === undefined ? {} : { holdHook: onHoldHook }),
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
