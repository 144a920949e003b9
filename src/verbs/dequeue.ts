// The verb dequeue: takes a caller out of a queue and talks with it.
import { Type } from '../lib/type.ts'
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
    beep: optional.flag('The call that takes a caller hears a tone when one comes. Default false.'),
    callSid: optional.text(
      'The `call_sid` of the only caller that this verb takes, at whatever position of the queue. Default: the caller whose turn it is.',
    ),
    actionHook: Type.Optional(
      hookFor(
        `Sent when the talk is over, or no caller has come: \`dequeue_result\` says which. ${replacingTheRest} If the call has ended, or other verbs have replaced this one, the hook is sent as well, and its answer is not read.`,
      ),
    ),
  }),
  async execute({ name, timeout = 0, beep = false, callSid, actionHook }, { queues, hooks, signal }) {
    const dequeue_result = await queues.dequeue({
      name,
      beeps: beep,
      signal,
      ...(timeout === 0 ? {} : { maxWaitMs: timeout * 1000 }),
      wants: callSid,
    })
    if (actionHook !== undefined) await askAbout(actionHook, { dequeue_result }, { hooks, signal })
  },
})
