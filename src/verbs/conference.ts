// The verb conference: all calls in a room of one name hear each other.
import { statusEventNames, maxMembersOfAny, type StatusEventName } from '../calls/verb.ts'
import { defineVerb } from './define/define-verb.ts'
import { askAbout } from './define/queue-hooks.ts'
import { audioServerTitle, streamProperties, streamUrl, toStreamOptions } from './define/stream.ts'
import { roomRecord, toWish } from './define/room-record.ts'
import { hookFor, optional, replacingTheRest } from './define/schemas.ts'
import { Type } from '../lib/type.ts'

const maxGraceSeconds = 86_400

/** Events of newer clients, accepted and never sent. */
const futureEvents = ['say-start', 'say-done', 'play-start', 'play-done'] as const

const tag = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 255, description }))

const memberStream = Type.Object(
  { url: streamUrl, ...streamProperties },
  {
    title: audioServerTitle,
    description:
      'An audio server hears the call while it is in the conference. `mono` is the voice of the call, `mixed` the whole conference. Only this call hears the server.',
  },
)

const schema = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'The name of the room, within the account. The first call that names it creates it.',
  }),
  beep: optional.flag('All in the room hear a tone when this call comes in. Default false.'),
  startConferenceOnEnter: optional.flag(
    'false: the call waits until another call starts the conference. Meanwhile it hears `waitHook`, and is not heard. Default true.',
  ),
  endConferenceOnExit: optional.flag(
    'The call is a moderator: the conference ends when the last moderator leaves, and all others go on with their next verb. Default false.',
  ),
  endConferenceDuration: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: maxGraceSeconds,
      description:
        'With `endConferenceOnExit`: how long the conference continues without a moderator, in seconds. A moderator who enters within this time keeps it running. Default 0.',
    }),
  ),
  maxParticipants: Type.Optional(
    Type.Integer({
      minimum: 2,
      description: `The most calls in the room, including those that wait. The first call that sets it decides for all; the maximum is ${maxMembersOfAny}. For a further call the verb fails, and its next verb runs.`,
    }),
  ),
  joinMuted: optional.flag('The call hears and is not heard, until a command changes it. Default false.'),
  memberTag: tag('A name by which coaches address the call.'),
  speakOnlyTo: tag('The call is a coach: it hears all, and only calls with this `memberTag` hear it.'),
  waitHook: Type.Optional(
    hookFor(
      'Sent when the call has to wait for the conference to start, and again whenever the verbs of the answer (`say`, `play`, `pause`) have run. After an empty answer, other verbs or a failure it is not sent again.',
    ),
  ),
  enterHook: Type.Optional(
    hookFor(
      'Sent when the call joins. The call alone hears the verbs of the answer (`say`, `play`, `pause`), and meanwhile does not hear the others.',
    ),
  ),
  actionHook: Type.Optional(
    hookFor(
      `Sent when the call has left the conference. ${replacingTheRest} If the call has ended, or other verbs have replaced the conference, the hook is sent as well, and its answer is not read.`,
    ),
  ),
  statusHook: Type.Optional(
    hookFor(
      'Sent for the events that `statusEvents` names, one after the other; its answer has no effect. An event is dropped when it is older than a minute, or when 256 wait. The first call in the room sets hook and events for all.',
    ),
  ),
  statusEvents: Type.Optional(
    Type.Array(Type.Union([...statusEventNames, ...futureEvents].map((name) => Type.Literal(name))), {
      maxItems: 32,
      description: `Which events \`statusHook\` is sent: ${statusEventNames.join(', ')}. ${futureEvents.join(', ')} are accepted, and never sent.`,
    }),
  ),
  distributeDtmf: optional.flag(
    'The keys that the call presses are also sent to all others, at most ten a second. Default false.',
  ),
  record: Type.Optional(roomRecord),
  listen: Type.Optional(memberStream),
  stream: Type.Optional(memberStream),
})

const isSent = (name: string): name is StatusEventName =>
  (statusEventNames as readonly string[]).includes(name)

export const conference = defineVerb({
  name: 'conference',
  alias: 'room',
  summary: 'Connects the call with all others in a room of the same name.',
  example: [
    {
      verb: 'conference',
      name: 'team',
      beep: true,
      endConferenceOnExit: true,
      endConferenceDuration: 30,
      statusHook: '/conference-status',
      statusEvents: ['start', 'end', 'join', 'leave'],
      record: { path: 'meetings/team' },
      actionHook: '/left',
    },
    { verb: 'say', text: 'You have left the conference.' },
  ],
  needs: 'audio',
  uses: ['rooms', 'hooks', 'recording', 'streams'],
  schema,
  async execute(options, { rooms, hooks, recording, streams, signal }) {
    const { waitHook, enterHook, statusHook, actionHook, record } = options
    const { listen, stream = listen } = options
    if (stream !== undefined)
      streams.begin('conference', streams.plan(toStreamOptions(stream, 'conference: listen')))
    const conferring = rooms.confer({
      name: options.name,
      startsIt: options.startConferenceOnEnter ?? true,
      isModerator: options.endConferenceOnExit ?? false,
      graceMs: (options.endConferenceDuration ?? 0) * 1000,
      isMuted: options.joinMuted ?? false,
      tag: options.memberTag,
      coaches: options.speakOnlyTo,
      maxMembers: options.maxParticipants,
      beeps: options.beep ?? false,
      distributesKeys: options.distributeDtmf ?? false,
      statusEvents: (options.statusEvents ?? []).filter(isSent),
      signal,
      ...(record === undefined ? {} : { recording: recording.span(toWish(record)) }),
      waitHook,
      enterHook,
      statusHook,
    })
    await conferring.finally(() => streams.end('conference'))
    if (actionHook !== undefined) await askAbout(actionHook, {}, { hooks, signal })
  },
})
