// The verb enqueue: the caller waits in a queue until another call takes it.
import { Type } from '../lib/type.ts'
import { defineVerb } from './define/define-verb.ts'
import { askAbout } from './define/queue-hooks.ts'
import { hookFor, queueName, replacingTheRest } from './define/schemas.ts'

/** The lowest priority, so that callers to whom an application gives one come first. */
const usualPriority = 999

export const enqueue = defineVerb({
  name: 'enqueue',
  summary: 'Lets the caller wait in a queue until another call takes it with `dequeue`.',
  example: [
    {
      verb: 'enqueue',
      name: 'support',
      priority: 5,
      waitHook: '/queue-wait',
      actionHook: '/queue-left',
    },
    { verb: 'say', text: 'Thank you for calling.' },
  ],
  needs: 'audio',
  uses: ['queues', 'hooks'],
  schema: Type.Object({
    name: queueName,
    priority: Type.Optional(
      Type.Number({
        minimum: 0,
        description:
          'The caller with the lowest value is taken first; callers of the same priority in the order in which they came. Default 999.',
      }),
    ),
    waitHook: Type.Optional(
      hookFor(
        'Sent while the caller waits, for the verbs that it hears: `say`, `play`, `pause`, `tag` and `leave`. It is sent again whenever these have run: the first ten times immediately, then at most once a second. After an empty answer it is not sent again. After a failure it is sent again after 5 s, and after up to a minute if it fails repeatedly.',
      ),
    ),
    actionHook: Type.Optional(
      hookFor(
        `Sent when the caller has left the queue, or, if it was taken, when the talk with the agent is over: \`queue_result\` says which. ${replacingTheRest} If the caller has hung up, or other verbs have replaced this one, the hook is sent as well, and its answer is not read.`,
      ),
    ),
  }),
  async execute({ name, priority = usualPriority, waitHook, actionHook }, { queues, hooks, signal }) {
    const { queue_sid, waitedMs, result } = await queues.enqueue({
      name,
      priority,
      signal,
      waitHook,
    })
    if (actionHook !== undefined) {
      const fields = { queue_sid, queue_time: Math.floor(waitedMs / 1000), queue_result: result }
      await askAbout(actionHook, fields, { hooks, signal })
    }
    // The journal has the reason already.
    return result === 'error' ? 'failed' : undefined
  },
})
