// The verb say: speaks text.
import Type from 'typebox'
import { defineVerb } from './define/define-verb.ts'
import { sayProperties, speak } from './define/prompt.ts'

export const say = defineVerb({
  name: 'say',
  summary: 'Speaks text to the caller.',
  needs: 'audio',
  schema: Type.Object(sayProperties),
  isEarlyMedia: ({ earlyMedia }) => earlyMedia === true,
  async execute(options, call, { signal }) {
    if (options.stream === true)
      call.note('say: "stream" is for WebSocket applications; the text is spoken whole')
    await speak(call, options, signal)
  },
})
