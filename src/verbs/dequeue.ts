// The verb dequeue: takes a caller out of a queue and talks with it.
import { Type } from './define/type.ts'
import { defineVerb } from './define/define-verb.ts'
import { askAbout } from './define/queue-hooks.ts'
import { hookFor, optional, queueName, replacingTheRest } from './define/schemas.ts'

export const dequeue = defineVerb({
  name: 'dequeue',
  summary: 'Takes the next caller out of a queue, and connects the two.',
  example: [
    { verb: 'dequeue', name: 'support', timeout: 60, beep: true, actionHook: '/next' },
    { verb: 'say', text: 'No one is waiting.' },
  ],
  needs: 'audio',
  uses: ['queues', 'hooks'],
  schema: Type.Object({
    name: queueName,
    timeout: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 86_400,
        description: 'How long it waits for a caller, in seconds. Default 0: until one comes.',
      }),
    ),
    beep: optional.flag('A tone is heard when a caller comes, by the one who takes it. Default false.'),
    callSid: optional.text(
      'The `call_sid` of the only caller that is taken, wherever it stands in the queue. Default: the one whose turn it is.',
    ),
    actionHook: Type.Optional(
      hookFor(
        `Asked when the two have parted, and when no caller has come: \`dequeue_result\` says which. ${replacingTheRest} Where the call has ended, or other verbs have taken the place of this one, the hook is sent the same, and its answer is not read.`,
      ),
    ),
  }),
  async execute({ name, timeout = 0, beep = false, callSid, actionHook }, { queues, hooks, signal }) {
    const dequeue_result = await queues.dequeue({
      name,
      beeps: beep,
      signal,
      ...(timeout === 0 ? {} : { maxWaitMs: timeout * 1000 }),
      ...(callSid === undefined ? {} : { wants: callSid }),
    })
    if (actionHook !== undefined) await askAbout(actionHook, { dequeue_result }, { hooks, signal })
  },
})
