// The verb pause: waits in silence.
import Type from 'typebox'
import { defineVerb } from './define/define-verb.ts'

export const pause = defineVerb({
  name: 'pause',
  summary: 'Waits in silence before the next verb; does not answer the call.',
  needs: 'nothing',
  uses: ['time'],
  schema: Type.Object({
    length: Type.Number({ minimum: 0, maximum: 86_400, description: 'Seconds to wait.' }),
  }),
  async execute({ length }, { time, signal }) {
    await time.wait(length * 1000, signal)
  },
})
