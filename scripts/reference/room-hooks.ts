// The hooks of queues and conferences.
import { field, sipAddress, type HookDescription, type HookField } from './hook-fields.ts'

const conferenceFields: readonly HookField[] = [
  field('conference_sid', 'text', 'The id of the conference: `conf:`, the account, and its name.'),
  field('friendly_name', 'text', 'The name of the conference, as the verb has it.'),
]

export const roomHooks: readonly HookDescription[] = [
  {
    name: 'Wait hook',
    key: 'wait',
    purpose:
      'Asked what a caller hears while it waits in a queue: `waitHook` of `enqueue`. It has only these fields.',
    answer:
      'A JSON array of `say`, `play`, `pause`, `tag` and `leave`; the hook is asked again when they have run, after the first ten times at most once a second. After an empty body, `[]` or `{}` it is not asked again, and the caller waits in silence.',
    isBare: true,
    fields: [
      field('queue_sid', 'text', 'The queue: `queue:`, the account and the name.'),
      field('queue_time', 'number', 'How long the caller has waited, in whole seconds.'),
      field('queue_size', 'number', 'The number of callers that wait.'),
      field('queue_position', 'number', 'The number of callers that are taken before this one.'),
      field('call_sid', 'text', 'The id of the call.'),
      field('call_id', 'text', 'The Call-ID of the SIP dialog.'),
      field(
        'customerData',
        'object',
        'The value that `tag` has set, or the `tag` of `POST /Calls`.',
        'it was set',
      ),
    ],
  },
  {
    name: 'Queue event hook',
    key: 'queue',
    purpose:
      'The `queue_event_hook` of the account is sent each caller that joins or leaves its queues. The fields describe the call that waits. The platform repeats a message until your server accepts it; a repetition has the `webhook-id` of the first. The messages of one call come in order, and do not wait for its other hooks.',
    answer: 'Any status 2xx; the body is not read.',
    fields: [
      sipAddress,
      field('event', 'text', '`join` or `leave`.'),
      field('queue', 'text', 'The name of the queue.'),
      field('length', 'number', 'How many wait after the change.'),
      field('join_time', 'number', 'When it joined, in epoch milliseconds.', '`join`'),
      field('leave_time', 'number', 'When it left, in epoch milliseconds.', '`leave`'),
      field(
        'leave_reason',
        'text',
        '`dequeued`: another call took it. `abandoned`: it left by itself.',
        '`leave`',
      ),
      field('dequeuer', 'object', 'The common fields of the call that took it.', '`dequeued`'),
    ],
  },
  {
    name: 'Wait hook of a conference',
    key: 'conference-wait',
    purpose:
      'Asked when a call has to wait for a conference to begin, and while it is on hold there: `waitHook` of the `conference`, `wait_hook` of a command.',
    answer:
      'A JSON array of `say`, `play` and `pause`, which the call hears; the hook is asked again when they have run. With an empty body, `[]` or `{}`, it waits in silence.',
    fields: [sipAddress, ...conferenceFields],
  },
  {
    name: 'Enter hook of a conference',
    key: 'conference-enter',
    purpose: 'Asked when a call comes into a conference: `enterHook` of the `conference`.',
    answer:
      'A JSON array of `say`, `play` and `pause`, which only this call hears, instead of the conference.',
    fields: [sipAddress, ...conferenceFields],
  },
  {
    name: 'Status hook of a conference',
    key: 'conference',
    purpose:
      'The `statusHook` of the first call in the `conference` is sent the events that `statusEvents` names, one after the other. The fields describe the call that the event is about.',
    answer: 'Its verbs do not run. To change a call, your program sends a command.',
    fields: [
      sipAddress,
      field(
        'event',
        'text',
        '`start` and `end` of the conference; `join` and `leave`; `start-talking` and `stop-talking`.',
      ),
      ...conferenceFields,
      field('duration', 'number', 'The duration of the conference so far, in seconds with a fraction.'),
      field('time', 'text', 'When it happened, in ISO 8601.'),
      field('members', 'number', 'The number of calls in the conference then, without those that wait.'),
    ],
  },
]
