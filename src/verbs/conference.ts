// The verb conference: all calls in a room of one name hear each other.
import { statusEventNames } from '../calls/rooms/conference-wishes.ts'
import type { StatusEventName } from '../calls/rooms/conference-wishes.ts'
import { maxMembersOfAny } from '../calls/rooms/conference-state.ts'
import { defineVerb } from './define/define-verb.ts'
import { askAbout } from './define/queue-hooks.ts'
import { audioServerTitle, streamProperties, streamUrl, toStreamOptions } from './define/stream.ts'
import { roomRecord, toWish } from './define/room-record.ts'
import { hookFor, optional, replacingTheRest } from './define/schemas.ts'
import { Type } from './define/type.ts'

const maxGraceSeconds = 86_400

/** The events that newer clients may request. They are accepted and never sent. */
const futureEvents = ['say-start', 'say-done', 'play-start', 'play-done'] as const

const tag = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 255, description }))

const memberStream = Type.Object(
  { url: streamUrl, ...streamProperties },
  {
    title: audioServerTitle,
    description:
      'An audio server hears the call as long as it is in the conference. `mono` is what the call says there, `mixed` the whole conference. This call alone hears what the server says.',
  },
)

const schema = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'The name of the room, within the account: the first call that names it makes it.',
  }),
  beep: optional.flag('All in the room hear a tone when this call comes in. Default false.'),
  startConferenceOnEnter: optional.flag(
    'false: the call waits until one comes that starts the conference; it hears `waitHook` meanwhile, and is not heard. Default true.',
  ),
  endConferenceOnExit: optional.flag(
    'The call is a moderator: the conference ends when the last moderator leaves, and all others go on with their next verb. Default false.',
  ),
  endConferenceDuration: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: maxGraceSeconds,
      description:
        'With `endConferenceOnExit`: how long the conference goes on without a moderator, in seconds. One who comes within this time keeps it. Default 0.',
    }),
  ),
  maxParticipants: Type.Optional(
    Type.Integer({
      minimum: 2,
      description: `How many calls the room takes, with those that wait. The first call that sets it decides for all; it is ${maxMembersOfAny} at most. One more is turned away: its verb fails, and its next verb runs.`,
    }),
  ),
  joinMuted: optional.flag('The call hears and is not heard, until a command changes it. Default false.'),
  memberTag: tag('Names the call for those who coach.'),
  speakOnlyTo: tag('The call is a coach: it hears all, and only calls with this `memberTag` hear it.'),
  waitHook: Type.Optional(
    hookFor(
      'Asked when the call has to wait for the conference to start, and again whenever the verbs that it has answered (`say`, `play`, `pause`) have run. An empty answer, other verbs or a failure end the asking.',
    ),
  ),
  enterHook: Type.Optional(
    hookFor(
      'Asked when the call comes in. It alone hears the verbs that are answered (`say`, `play`, `pause`), in place of the others.',
    ),
  ),
  actionHook: Type.Optional(
    hookFor(
      `Asked when the call has left the conference. ${replacingTheRest} Where the call has ended, or other verbs have taken the place of the conference, the hook is sent the same, and its answer is not read.`,
    ),
  ),
  statusHook: Type.Optional(
    hookFor(
      'It is sent the events that `statusEvents` names, one after the other; its answer changes nothing. An event is dropped when it is older than a minute, or when 256 wait. The first call in the room sets hook and events for all.',
    ),
  ),
  statusEvents: Type.Optional(
    Type.Array(Type.Union([...statusEventNames, ...futureEvents].map((name) => Type.Literal(name))), {
      maxItems: 32,
      description: `Which events \`statusHook\` is sent: ${statusEventNames.join(', ')}. ${futureEvents.join(', ')} are taken, and never sent.`,
    }),
  ),
  distributeDtmf: optional.flag(
    'The keys that the call presses are pressed at all others too, ten a second at most. Default false.',
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
  summary: 'Lets the call talk with all others that are in a room of the same name.',
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
      ...(waitHook === undefined ? {} : { waitHook }),
      ...(enterHook === undefined ? {} : { enterHook }),
      ...(statusHook === undefined ? {} : { statusHook }),
    })
    await conferring.finally(() => streams.end('conference'))
    if (actionHook !== undefined) await askAbout(actionHook, {}, { hooks, signal })
  },
})
