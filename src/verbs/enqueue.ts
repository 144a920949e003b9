// The verb enqueue: the caller waits in a queue until another call takes it.
import { Type } from './define/type.ts'
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
          'The lowest is taken first; those of one priority in the order in which they came. Default 999.',
      }),
    ),
    waitHook: Type.Optional(
      hookFor(
        'Asked what the caller hears while it waits: `say`, `play`, `pause`, `tag` and `leave`. It is asked again whenever these have run: ten times at once, then once a second at most. After an empty answer it is not asked again. When it fails, it is asked again after 5 s, and after up to a minute when it goes on failing.',
      ),
    ),
    actionHook: Type.Optional(
      hookFor(
        `Asked when the caller has left the queue, and when the two have parted if it was taken: \`queue_result\` says which. ${replacingTheRest} Where the caller has hung up, or other verbs have taken the place of this one, the hook is sent the same, and its answer is not read.`,
      ),
    ),
  }),
  async execute({ name, priority = usualPriority, waitHook, actionHook }, { queues, hooks, signal }) {
    const { queue_sid, waitedMs, result } = await queues.enqueue({
      name,
      priority,
      signal,
      ...(waitHook === undefined ? {} : { waitHook }),
    })
    if (actionHook !== undefined) {
      const fields = { queue_sid, queue_time: Math.floor(waitedMs / 1000), queue_result: result }
      await askAbout(actionHook, fields, { hooks, signal })
    }
    // The journal has the reason already.
    return result === 'error' ? 'failed' : undefined
  },
})
