// The verb answer: answers the call.
import { Type } from '../lib/type.ts'
import { defineVerb } from './define/define-verb.ts'

export const answer = defineVerb({
  name: 'answer',
  summary: 'Answers the call now.',
  example: [{ verb: 'answer' }, { verb: 'pause', length: 1 }, { verb: 'say', text: 'Hello.' }],
  needs: 'nothing',
  uses: ['signalling'],
  schema: Type.Object({}),
  async execute(_options, { signalling }) {
    await signalling.answer()
  },
})
