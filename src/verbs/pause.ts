// The verb pause: waits in silence.
import { Type } from '../lib/type.ts'
import { defineVerb } from './define/define-verb.ts'

export const pause = defineVerb({
  name: 'pause',
  summary: 'Waits in silence before the next verb; does not answer the call.',
  example: [
    { verb: 'say', text: 'One moment.' },
    { verb: 'pause', length: 2 },
    { verb: 'say', text: 'Here we are.' },
  ],
  needs: 'nothing',
  uses: ['time'],
  schema: Type.Object({
    length: Type.Number({ minimum: 0, maximum: 86_400, description: 'Seconds to wait.' }),
  }),
  async execute({ length }, { time, signal }) {
    await time.wait(length * 1000, signal)
  },
})
