// The verb leave: the caller leaves the queue in which it waits.
import { Type } from '../lib/type.ts'
import { defineVerb } from './define/define-verb.ts'

export const leave = defineVerb({
  name: 'leave',
  summary:
    'In an answer of a `waitHook` of `enqueue`: the caller leaves the queue. Elsewhere it does nothing.',
  example: [{ verb: 'say', text: 'We are closing. Please call again tomorrow.' }, { verb: 'leave' }],
  needs: 'nothing',
  uses: ['queues', 'notes'],
  schema: Type.Object({}),
  async execute(_options, { queues, notes }) {
    if (!queues.leave()) notes.note('leave: the call waits in no queue')
  },
})
