// The verb say: speaks text.
import { Type } from '../lib/type.ts'
import { defineVerb } from './define/define-verb.ts'
import { sayProperties, speak } from './define/prompt.ts'

export const say = defineVerb({
  name: 'say',
  summary: 'Speaks text to the caller.',
  example: [{ verb: 'say', text: ['Welcome.', 'Your call is number three.'], loop: 2 }],
  needs: 'audio',
  uses: ['voice', 'notes'],
  schema: Type.Object(sayProperties),
  isEarlyMedia: ({ earlyMedia }) => earlyMedia === true,
  async execute(options, { voice, notes, signal }) {
    if (options.stream === true)
      notes.note('say: "stream" is for WebSocket applications; the text is spoken whole')
    await speak({ voice, signal }, options)
  },
})
